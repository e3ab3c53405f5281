//! Filling one table, with what it cost.

use serde::{Deserialize, Serialize};

use crate::account::ThreadMeter;
use crate::drive::clock::now_ns;
use crate::drive::contender::Target;
use crate::drive::contender::backends;
use crate::drive::trouble::Failure;
use crate::record::{ClientFigures, ServerFigures};
use crate::wire::Connection;
use crate::workload::TableSpec;

/// What to load (docs/engine-protocol.md, `load`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSpec {
    pub target: String,
    pub seed: u64,
    pub table: TableSpec,
}

#[derive(Debug, Serialize)]
pub struct Loaded {
    pub rows: u64,
    pub elapsed_ns: u64,
    pub insert_ns: u64,
    pub after_ns: u64,
    #[serde(flatten)]
    pub server: ServerFigures,
    #[serde(flatten)]
    pub client: ClientFigures,
}

const PROGRESS_NS: u64 = 1_000_000_000;

/// Loads; `progress` is told the number of rows about once a second.
pub fn load(target: &mut Target, spec: &LoadSpec, progress: &mut dyn FnMut(u64)) -> Result<Loaded, Failure> {
    let mut connection = target.wire.connect().map_err(Failure::connect)?;
    let thread = ThreadMeter::of_this_thread();
    if let Some(meter) = &mut target.meter {
        backends::name_one(connection.as_mut(), meter);
        meter.look_around();
    }
    let disk_before = target.disk.read();
    let begun = target.meter.as_mut().map(|meter| meter.begin());
    let client_before = (thread.as_client(), thread.as_server());
    let times = run(connection.as_mut(), spec, progress)?;
    let client = thread.as_client().since(&client_before.0);
    let as_server = thread.as_server().since(&client_before.1);
    let server = target.meter.as_mut().zip(begun).map(|(meter, begun)| meter.end(&begun));
    let disk = target.disk.read().since(&disk_before);
    let (server, client) = if target.wire.embedded() {
        (as_server, ClientFigures::default())
    } else {
        (server.unwrap_or_default(), client)
    };
    let [elapsed_ns, insert_ns, after_ns] = times;
    Ok(Loaded {
        rows: spec.table.rows,
        elapsed_ns,
        insert_ns,
        after_ns,
        server: server.with_disk(disk),
        client,
    })
}

/// Gives the time of all, of the rows and of the `after` statements, in ns.
fn run(connection: &mut dyn Connection, spec: &LoadSpec, progress: &mut dyn FnMut(u64)) -> Result<[u64; 3], Failure> {
    let query = |connection: &mut dyn Connection, sql: &String| {
        let done = connection.query(sql);
        done.map_err(|error| Failure::statement(error).of(sql))
    };
    let began = now_ns();
    for sql in &spec.table.create {
        query(connection, sql)?;
    }
    let created = now_ns();
    let mut told = created;
    let loaded = connection.load_rows(&spec.table, spec.seed, &mut |rows| {
        let now = now_ns();
        if now - told >= PROGRESS_NS {
            told = now;
            progress(rows);
        }
    });
    loaded.map_err(Failure::statement)?;
    let inserted = now_ns();
    for sql in &spec.table.after {
        query(connection, sql)?;
    }
    let ended = now_ns();
    Ok([ended - began, inserted - created, ended - inserted])
}
