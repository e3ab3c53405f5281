//! The sqlite wire against the bundled library, and against the host's own where there is one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::skip::skip;
use crate::support::{ROWS, check, load, program, read_write, run, table, types_survive, values_are_kept};
use dbversus_engine::wire::sqlite::{SqliteWire, bundled_version};
use dbversus_engine::wire::{Connection, ErrorClass, Tally, Wire, from_address};
use dbversus_engine::workload::Mode;
use serde_json::json;

/// A database file of its own for each test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("dbversus-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    fn connect(&self) -> Box<dyn Connection> {
        self.wire("bundled").connect().unwrap()
    }

    fn wire(&self, library: &str) -> Box<dyn Wire> {
        let address = json!({"path": self.0.join("test.db"), "library": library});
        let session = vec!["PRAGMA journal_mode = WAL".into(), "PRAGMA synchronous = OFF".into()];
        from_address("sqlite", &address, session).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn host_library() -> Option<&'static str> {
    let candidates = [
        "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
        "/usr/lib/aarch64-linux-gnu/libsqlite3.so.0",
        "/usr/lib64/libsqlite3.so.0",
    ];
    candidates.into_iter().find(|path| Path::new(path).exists())
}

#[test]
fn loads_and_runs_the_read_write_test_in_every_mode() {
    let scratch = Scratch::new("sqlite-modes");
    let mut connection = scratch.connect();
    for number in 1..=2 {
        assert_eq!(load(connection.as_mut(), &table(number), 5), ROWS);
    }
    let program = program(read_write(), 2);
    for mode in [Mode::Prepared, Mode::Unprepared] {
        let tally = run(connection.as_mut(), &program, mode, 10).unwrap();
        assert_eq!(tally.statements, 200);
        assert_eq!(tally.affected, 40);
        // 10 points, three ranges of 10 rows (fewer at the table's end) and a sum.
        assert!((380..=410).contains(&tally.rows), "{tally:?}");
    }
    assert_eq!(
        connection.query("SELECT count(*) FROM sbtest1").unwrap().rows,
        [[Some(ROWS.to_string())]]
    );
}

#[test]
fn what_a_statement_has_read_is_used_by_others() {
    let scratch = Scratch::new("sqlite-kept");
    values_are_kept(scratch.connect().as_mut());
}

#[test]
fn values_of_all_types_are_sent_and_loaded() {
    let scratch = Scratch::new("sqlite-types");
    types_survive(
        scratch.connect().as_mut(),
        [
            "INTEGER",
            "REAL",
            "REAL",
            "DECIMAL(10,2)",
            "INTEGER",
            "TEXT",
            "INTEGER",
            "INTEGER",
            "BLOB",
            "TEXT",
        ],
    );
}

#[test]
fn every_mode_and_library_gives_the_same_answers() {
    let scratch = Scratch::new("sqlite-answers");
    load(scratch.connect().as_mut(), &table(1), 5);
    let reads = json!({"name": "reads", "statements": [
        {"name": "list", "sql": "SELECT id, k, c FROM sbtest{table} WHERE id IN (:ids) OR c = :c ORDER BY id",
         "params": {"ids": {"gen": "zipfian", "low": 1, "high": ROWS, "count": 20}, "c": {"gen": "constant", "value": "it's"}}},
        {"name": "types", "sql": "SELECT NULL, 1.5, 'a' || :x", "params": {"x": {"gen": "sequence"}}},
    ]});
    let as_text = json!({"name": "reads", "statements": reads["statements"].as_array().unwrap().iter().map(|statement| {
        let mut statement = statement.clone();
        statement["mode"] = json!("text");
        statement
    }).collect::<Vec<_>>()});
    let answers = |library: &str, test, mode| {
        check(
            scratch.wire(library).connect().unwrap().as_mut(),
            &program(test, 1),
            mode,
            5,
        )
    };
    let reference = answers("bundled", reads.clone(), Mode::Prepared);
    assert!(reference.contains(&"NULL|1.5|a3".to_owned()), "{reference:?}");
    assert_eq!(reference, answers("bundled", reads.clone(), Mode::Unprepared));
    assert_eq!(reference, answers("bundled", as_text, Mode::Prepared));
    if let Some(library) = host_library() {
        assert_eq!(reference, answers(library, reads, Mode::Prepared));
    }
}

#[test]
fn a_loaded_library_is_its_own() {
    let Some(library) = host_library() else {
        return skip("this host has no libsqlite3.so.0");
    };
    let loaded = SqliteWire::new(":memory:", library, Vec::new()).unwrap();
    let bundled = SqliteWire::new(":memory:", "bundled", Vec::new()).unwrap();
    let table = |wire: &dyn Wire, sql: &str| wire.connect().unwrap().query(sql).unwrap().rows;
    // Nobody compiles it with the very same options.
    let options = "PRAGMA compile_options";
    assert_ne!(table(&loaded, options), table(&bundled, options));
    assert_eq!(table(&bundled, "SELECT sqlite_version()"), [[Some(bundled_version())]]);
    assert!(loaded.embedded());
}

#[test]
fn a_file_that_is_no_sqlite_library_is_refused_with_its_name() {
    let error = SqliteWire::new("x", "/proc/self/exe", Vec::new()).err().unwrap();
    assert!(error.contains("/proc/self/exe"), "{error}");
}

#[test]
fn errors_have_a_class_and_leave_the_connection_usable() {
    let scratch = Scratch::new("sqlite-errors");
    let mut connection = scratch.connect();
    load(connection.as_mut(), &table(1), 5);
    let insert = json!({"name": "insert", "transaction": true, "statements": [{"name": "insert", "sql": "INSERT INTO sbtest1 VALUES (:id, 1, 'c', 'p')",
                        "params": {"id": {"gen": "constant", "value": 7}}}]});
    let error = run(connection.as_mut(), &program(insert, 1), Mode::Prepared, 1).unwrap_err();
    assert_eq!(error.class, ErrorClass::DuplicateKey, "{error}");
    assert!(
        error.message.contains("UNIQUE constraint failed: sbtest1.id"),
        "{error}"
    );
    connection.rollback().unwrap();
    assert!(connection.query("SELECT 1; SELECT 2").unwrap().rows == [[Some("2".to_owned())]]);

    let missing = json!({"name": "m", "statements": [{"name": "s", "sql": "SELECT 1 FROM missing{table}"}]});
    let error = run(connection.as_mut(), &program(missing, 1), Mode::Prepared, 1).unwrap_err();
    assert_eq!(error.class, ErrorClass::Other);
    assert!(
        error
            .message
            .starts_with("test \"m\", statement \"s\": no such table: missing1"),
        "{error}"
    );
    let two = json!({"name": "m", "statements": [{"name": "s", "sql": "SELECT 1; SELECT 2"}]});
    let error = run(connection.as_mut(), &program(two, 1), Mode::Prepared, 1).unwrap_err();
    assert!(error.message.contains("is not exactly one statement"), "{error}");
}

#[test]
fn what_changes_no_rows_counts_none_of_the_statement_before() {
    let scratch = Scratch::new("sqlite-affected");
    let mut connection = scratch.connect();
    load(connection.as_mut(), &table(1), 5);
    let mut affected = |sql| connection.query(sql).unwrap().affected;
    assert_eq!(affected("UPDATE sbtest1 SET k = k + 1"), 1000);
    assert_eq!(affected("CREATE INDEX more ON sbtest1 (k, id)"), 0);
}

#[test]
fn a_lock_held_by_another_connection_is_a_lock_timeout() {
    let scratch = Scratch::new("sqlite-locks");
    let (mut holder, mut waiter) = (scratch.connect(), scratch.connect());
    load(holder.as_mut(), &table(1), 5);
    waiter.query("PRAGMA busy_timeout = 20").unwrap();
    let program = program(read_write(), 1);
    holder.prepare(&program, Mode::Prepared).unwrap();
    holder.begin(&mut Tally::default()).unwrap();
    let error = run(waiter.as_mut(), &program, Mode::Prepared, 1).unwrap_err();
    assert_eq!(error.class, ErrorClass::LockTimeout, "{error}");
    waiter.rollback().unwrap();
    holder.commit(&mut Tally::default()).unwrap();
    run(waiter.as_mut(), &program, Mode::Prepared, 1).unwrap();
}

#[test]
fn what_cannot_be_opened_or_set_is_named() {
    let missing = SqliteWire::new("/nonexistent/x.db", "bundled", Vec::new()).unwrap();
    let error = missing.connect().err().unwrap();
    assert!(
        error
            .message
            .contains("cannot open /nonexistent/x.db: unable to open database file"),
        "{error}"
    );
    let session = SqliteWire::new(":memory:", "bundled", vec!["PRAGMATIC".into()]).unwrap();
    let error = session.connect().err().unwrap();
    assert!(error.message.starts_with("session_sql \"PRAGMATIC\": near"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_table() {
    let scratch = Scratch::new("sqlite-seed");
    let mut connection = scratch.connect();
    load(connection.as_mut(), &table(1), 5);
    load(connection.as_mut(), &table(2), 5);
    load(connection.as_mut(), &table(3), 6);
    let mut differing = |one: u32, other: u32| {
        let sql = format!("SELECT count(*) FROM (SELECT * FROM sbtest{one} EXCEPT SELECT * FROM sbtest{other})");
        connection.query(&sql).unwrap().rows[0][0].clone().unwrap()
    };
    assert_eq!(differing(1, 2), "0");
    assert_eq!(differing(1, 3), ROWS.to_string());
}

#[test]
fn sql_reaches_no_file_but_its_own() {
    for library in std::iter::once("bundled").chain(host_library()) {
        let scratch = Scratch::new("sqlite-authorizer");
        let mut connection = scratch.wire(library).connect().unwrap();
        let out = scratch.0.join("out.db");
        let out = out.display();
        for sql in [
            format!("VACUUM INTO '{out}'"),
            format!("vacuum main INTO ('{}' || '/out.db')", scratch.0.display()),
            format!("ATTACH '{out}' AS other"),
            format!("ATTACH DATABASE 'file:{out}?mode=rwc' AS other"),
            format!("ATTACH ('{}' || '/out.db') AS other", scratch.0.display()),
            "SELECT load_extension('libm.so.6')".into(),
            format!("PRAGMA temp_store_directory = '{}'", scratch.0.display()),
        ] {
            let error = connection.query(&sql).unwrap_err();
            assert!(
                error.message.contains("stays within its own database"),
                "{sql}: {}",
                error.message
            );
        }
        assert!(!scratch.0.join("out.db").exists());
        for sql in [
            "VACUUM",
            "ATTACH '' AS other; DETACH other",
            "ATTACH ':memory:' AS other; DETACH other",
            "CREATE TABLE t (x); CREATE TRIGGER e AFTER INSERT ON t BEGIN UPDATE t SET x = abs(x); END; INSERT INTO t VALUES (-1)",
            "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO f VALUES ('word'); SELECT * FROM f WHERE f MATCH 'word'",
            "PRAGMA temp_store = memory",
        ] {
            let done = connection.query(sql);
            assert!(
                done.is_ok() || sql.contains("fts5"),
                "{library}: {sql}: {:?}",
                done.err()
            );
        }
    }
}

#[test]
fn what_statements_do_is_counted_and_undone() {
    let scratch = Scratch::new("sqlite-counted");
    for library in ["bundled"].into_iter().chain(host_library()) {
        let mut connection = scratch.wire(library).connect().unwrap();
        connection
            .query("DROP TABLE IF EXISTS t; CREATE TABLE t (a INTEGER PRIMARY KEY, b INT); INSERT INTO t VALUES (1, 3), (2, 2), (3, 1)")
            .unwrap();
        let sql = "SELECT * FROM t WHERE a = 1; SELECT * FROM t ORDER BY b; DELETE FROM t; SELECT * FROM t; SELECT gone FROM t; SELECT 1";
        let counted = connection.run_counted(sql, Duration::from_secs(5)).unwrap();
        let count = |place: usize, name: &str| {
            let found = counted[place].counters.iter().find(|(own, _)| *own == name);
            found.expect("the library counts it").1
        };
        assert_eq!(
            counted.iter().map(|one| one.rows).collect::<Vec<_>>(),
            [1, 3, 0, 0, 0],
            "{library}"
        );
        assert_eq!(
            [count(0, "fullscan_steps"), count(1, "fullscan_steps")],
            [0, 2],
            "{library}"
        );
        assert_eq!(
            [count(0, "sorts"), count(1, "sorts"), count(1, "runs")],
            [0, 1, 1],
            "{library}"
        );
        assert!(count(1, "vm_steps") > count(0, "vm_steps"), "{library}");
        assert!(
            counted[4].error.as_ref().unwrap().contains("no such column"),
            "{library}"
        );
        let left = connection.query("SELECT count(*) FROM t").unwrap().rows;
        assert_eq!(left, [[Some("3".to_owned())]], "{library}");
    }
}

#[test]
fn a_counted_statement_ends_at_its_limit() {
    let mut connection = Scratch::new("sqlite-limit").connect();
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let counted = connection.run_counted(endless, Duration::from_millis(20)).unwrap();
    assert_eq!(counted[0].error.as_deref(), Some("it was ended after 0.02 s"));
    assert_eq!(connection.query("SELECT 1").unwrap().rows, [[Some("1".to_owned())]]);
}
