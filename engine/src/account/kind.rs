//! What a server's process or thread is for, by the name that it gave itself.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use super::gauge::if_there;

/// CPU time in ns by kind of work.
pub type Kinds = BTreeMap<String, u64>;

/// What a process title says of one that serves somebody else's connection.
const OTHER_CONNECTIONS: &str = "other connections";

/// The kind of work of a thread: `ib_io_rd-1` and `ib_io_rd-2` are both `ib_io_rd`, the process `postgres: checkpointer` is
/// `checkpointer`. A thread that was given no name has that of its program, if the server has not `told` another. None when
/// it is gone.
pub fn of_thread(pid: i32, tid: i32, told: Option<&str>) -> io::Result<Option<String>> {
    if pid == tid
        && let Some(title) = title(pid)?
    {
        return Ok(Some(title));
    }
    let Some(name) = name(pid, tid)? else {
        return Ok(None);
    };
    let told = match told {
        Some(told) if Some(&name) == self::name(pid, pid)?.as_ref() => Some(told),
        _ => None,
    };
    Ok(Some(without_number(told.unwrap_or(&name))))
}

fn name(pid: i32, tid: i32) -> io::Result<Option<String>> {
    let name = if_there(fs::read(format!("/proc/{pid}/task/{tid}/comm")))?;
    Ok(name.map(|name| String::from_utf8_lossy(&name).trim().to_owned()))
}

/// What came on top between two readings; kinds that did nothing are left out.
pub fn grown(now: &Kinds, before: &Kinds) -> Kinds {
    let grown = now.iter().map(|(kind, cpu_ns)| {
        let earlier = before.get(kind).copied().unwrap_or(0);
        (kind.clone(), cpu_ns.saturating_sub(earlier))
    });
    grown.filter(|(_, cpu_ns)| *cpu_ns > 0).collect()
}

/// The kind of a process that has written what it does over its command line.
fn title(pid: i32) -> io::Result<Option<String>> {
    let line = if_there(fs::read(format!("/proc/{pid}/cmdline")))?.unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(kind_of_title(&String::from_utf8_lossy(first)))
}

/// `postgres: autovacuum worker app` → `autovacuum worker`; None for a plain command line.
fn kind_of_title(title: &str) -> Option<String> {
    let (program, work) = title.split_once(": ")?;
    if program.contains(['/', ' ']) {
        return None;
    }
    // The name of a cluster stands in between.
    let work = work.rsplit(": ").next().unwrap_or(work).trim();
    if work.contains("[local]") || work.contains('(') {
        return Some(OTHER_CONNECTIONS.to_owned());
    }
    // The name of its database follows.
    if work.starts_with("autovacuum worker") {
        return Some("autovacuum worker".to_owned());
    }
    // PostgreSQL up to 10 says `checkpointer process`.
    Some(without_number(work.strip_suffix(" process").unwrap_or(work)))
}

/// The name without the number at its end that tells it from its like.
fn without_number(name: &str) -> String {
    let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let bare = bare.trim_end_matches(['-', '_', ':', '/', '#', ' ']);
    if bare.is_empty() { name } else { bare }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_end_make_no_kind_of_their_own() {
        for (name, kind) in [
            ("ib_io_rd-1", "ib_io_rd"),
            ("ib_pg_flush_co", "ib_pg_flush_co"),
            ("rocksdb:low12", "rocksdb:low"),
            ("lz4 packer", "lz4 packer"),
            ("mariadbd", "mariadbd"),
            ("42", "42"),
        ] {
            assert_eq!(without_number(name), kind);
        }
    }

    #[test]
    fn titles_tell_what_a_process_does() {
        for (title, kind) in [
            ("postgres: checkpointer ", Some("checkpointer")),
            ("postgres: checkpointer process   ", Some("checkpointer")),
            ("postgres: 16/main: walwriter ", Some("walwriter")),
            ("postgres: autovacuum worker app", Some("autovacuum worker")),
            (
                "postgres: parallel worker for PID 4711 ",
                Some("parallel worker for PID"),
            ),
            ("postgres: io worker 2", Some("io worker")),
            ("postgres: app app [local] idle", Some(OTHER_CONNECTIONS)),
            ("postgres: app app 10.0.0.7(5123) SELECT", Some(OTHER_CONNECTIONS)),
            ("/usr/lib/postgresql/16/bin/postgres", None),
            ("/opt/odd: name/mysqld", None),
            ("mysqld", None),
        ] {
            assert_eq!(kind_of_title(title).as_deref(), kind, "{title}");
        }
    }

    #[test]
    fn only_what_grew_is_told() {
        let kinds = |of: &[(&str, u64)]| Kinds::from_iter(of.iter().map(|(kind, ns)| ((*kind).to_owned(), *ns)));
        let before = kinds(&[("log", 5), ("purge", 7), ("gone", 3)]);
        let now = kinds(&[("log", 9), ("purge", 7), ("new", 2)]);
        assert_eq!(grown(&now, &before), kinds(&[("log", 4), ("new", 2)]));
    }

    /// The kind of a thread of this name.
    fn kind_of_named(name: &str, told: Option<&'static str>) -> Option<String> {
        let body = move || {
            // SAFETY: has no preconditions.
            let tid = unsafe { libc::gettid() };
            of_thread(std::process::id() as i32, tid, told).unwrap()
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(body);
        thread.unwrap().join().unwrap()
    }

    #[test]
    fn a_thread_is_known_by_its_own_name_and_without_one_by_what_the_server_tells() {
        let own = kind_of_named("flusher-7", Some("innodb/purge_thread"));
        assert_eq!(own.as_deref(), Some("flusher"));
        let program = fs::read_to_string("/proc/self/comm").unwrap();
        let nameless = |told| kind_of_named(program.trim(), told);
        assert_eq!(
            nameless(Some("innodb/io_read_thread-3")).as_deref(),
            Some("innodb/io_read_thread")
        );
        assert_eq!(nameless(None), Some(without_number(program.trim())));
        assert_eq!(of_thread(999_999_999, 999_999_999, None).unwrap(), None);
    }
}
