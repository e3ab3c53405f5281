//! Single statements with what the library counts of each: how it is executed, asked outside of all slots.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::api::{Api, Database};
use super::error::other;
use super::statement::{Done, Prepared};
use crate::wire::{Counted, Scan, WireResult};
use crate::workload::Params;

/// Instructions of the virtual machine between two looks at the clock.
const LOOK_EVERY: c_int = 10_000;
/// Name, number, and the first version that counts it: earlier ones would read what is behind their counters.
const COUNTERS: [(&str, c_int, c_int); 9] = [
    ("fullscan_steps", 1, 3_006_004),
    ("sorts", 2, 3_006_004),
    ("autoindex_rows", 3, 3_007_000),
    ("vm_steps", 4, 3_008_000),
    ("reprepares", 5, 3_020_000),
    ("runs", 6, 3_020_000),
    ("filter_misses", 7, 3_038_000),
    ("filter_hits", 8, 3_038_000),
    ("memory_bytes", 99, 3_020_000),
];
/// What takes this part of the limit, or more, is executed once.
const AGAIN_BELOW: u32 = 10;
const LOOPS: c_int = 0;
const VISITS: c_int = 1;
const EXPLAINED: c_int = 4;

/// Executes the statements of `sql`, each within `limit`, up to the first that fails.
pub fn run_each(api: &Arc<Api>, database: *mut Database, sql: &[u8], limit: Duration) -> Vec<Counted> {
    let mut counted = Vec::new();
    let mut rest = sql;
    while !rest.is_empty() {
        match run_first(api, database, rest, limit) {
            Ok((one, after)) => {
                counted.extend(one);
                rest = after;
            }
            Err(error) => {
                let error = Some(error.message);
                counted.push(Counted {
                    error,
                    ..Counted::default()
                });
                break;
            }
        }
    }
    counted
}

/// The first statement of `sql`, where there is one, and what follows it.
fn run_first<'a>(
    api: &Arc<Api>,
    database: *mut Database,
    sql: &'a [u8],
    limit: Duration,
) -> WireResult<(Option<Counted>, &'a [u8])> {
    let (mut counted, after) = run_once(api, database, sql, limit)?;
    // the second time it finds its pages in the connection's cache, as in a slot
    if let Some((first, false)) = &counted
        && Duration::from_nanos(first.ns) < limit / AGAIN_BELOW
    {
        counted = run_once(api, database, sql, limit)?.0;
    }
    Ok((counted.map(|(counted, _)| counted), after))
}

/// What was counted and whether the statement may change the database, if there was one; and what stands after it.
type Ran<'a> = (Option<(Counted, bool)>, &'a [u8]);

fn run_once<'a>(api: &Arc<Api>, database: *mut Database, sql: &'a [u8], limit: Duration) -> WireResult<Ran<'a>> {
    let (Some(mut prepared), after) = Prepared::new(api, database, sql)? else {
        return Ok((None, &[]));
    };
    let start = Instant::now();
    let done = within(api, database, limit, || prepared.run(&Params::new()))?;
    let ns = start.elapsed().as_nanos() as u64;
    let counted = Counted {
        ns,
        rows: done.rows,
        counters: counters(api, &prepared),
        scans: scans(api, &prepared),
        error: None,
    };
    Ok((Some((counted, prepared.writes())), after))
}

/// Interrupts what takes longer than `limit`, where the library can be told to.
fn within(
    api: &Api,
    database: *mut Database,
    limit: Duration,
    run: impl FnOnce() -> WireResult<Done>,
) -> WireResult<Done> {
    let Some(set_handler) = api.progress_handler else {
        return run();
    };
    let mut until = Instant::now() + limit;
    // SAFETY: the database is open; `until` outlives the handler, which is taken away below.
    unsafe { set_handler(database, LOOK_EVERY, Some(is_over), (&raw mut until).cast()) };
    let done = run();
    // SAFETY: as above
    unsafe { set_handler(database, 0, None, null_mut()) };
    done.map_err(|error| match Instant::now() < until {
        true => error,
        false => other(format!("it was ended after {} s", limit.as_secs_f64())),
    })
}

unsafe extern "C" fn is_over(until: *mut c_void) -> c_int {
    // SAFETY: `within` gives the address of an `Instant`.
    c_int::from(Instant::now() >= unsafe { *until.cast::<Instant>() })
}

fn counters(api: &Api, prepared: &Prepared) -> Vec<(&'static str, i64)> {
    // SAFETY: takes no arguments.
    let version = unsafe { (api.version_number)() };
    let known = COUNTERS.iter().filter(|(_, _, since)| version >= *since);
    // SAFETY: the statement is prepared, and this version has the counter.
    known
        .map(|&(name, number, _)| {
            (
                name,
                unsafe { (api.statement_status)(prepared.raw(), number, 0) }.into(),
            )
        })
        .collect()
}

/// Rows of each loop of its plan, where the library was compiled to count them.
fn scans(api: &Api, prepared: &Prepared) -> Vec<Scan> {
    let Some(status) = api.scan_status else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for number in 0.. {
        let (mut loops, mut rows, mut what) = (0_i64, 0_i64, null_mut::<c_char>());
        // SAFETY: the statement is prepared; each value has the type of what is asked for.
        let is_over = unsafe {
            status(prepared.raw(), number, LOOPS, (&raw mut loops).cast()) != 0
                || status(prepared.raw(), number, VISITS, (&raw mut rows).cast()) != 0
                || status(prepared.raw(), number, EXPLAINED, (&raw mut what).cast()) != 0
        };
        if is_over {
            break;
        }
        if !what.is_null() {
            // SAFETY: a C string of the statement, which is copied at once.
            let operator = unsafe { CStr::from_ptr(what) }.to_string_lossy().into_owned();
            found.push(Scan { operator, loops, rows });
        }
    }
    found
}
