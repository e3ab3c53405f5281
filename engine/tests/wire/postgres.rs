//! The postgres wire against a real server.
//!
//! Left out unless `DBVERSUS_TEST_PG_SOCKET_DIR` names the directory of its socket; `DBVERSUS_TEST_PG_PORT` (5432),
//! `DBVERSUS_TEST_PG_USER` (dbversus) and `DBVERSUS_TEST_PG_DATABASE` (dbversus) say the rest. The user has to be a
//! superuser; each test works in a schema of its own.

use crate::skip::{skip, variable};
use crate::support::{
    ROWS, check, load, program, read_write, run, spec, table, types_survive, values_are_kept, with_mode,
};
use dbversus_engine::wire::{Connection, ErrorClass, Tally, Wire, from_address};
use dbversus_engine::workload::Mode;
use serde_json::{Value as Json, json};

/// A connection whose tables are in a fresh schema; `None` when there is no server.
fn connect(schema: &str) -> Option<Box<dyn Connection>> {
    connect_with(schema, json!({}))
}

/// As `connect`, with further fields of the address.
fn connect_with(schema: &str, more: Json) -> Option<Box<dyn Connection>> {
    let mut connection = wire_with(&[], more)?.connect().unwrap();
    connection
        .query(&format!(
            "SET client_min_messages = error; DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"
        ))
        .unwrap();
    connection.query(&format!("SET search_path = {schema}")).unwrap();
    Some(connection)
}

fn wire(session_sql: &[&str]) -> Option<Box<dyn Wire>> {
    wire_with(session_sql, json!({}))
}

fn wire_with(session_sql: &[&str], more: Json) -> Option<Box<dyn Wire>> {
    let socket_dir = variable("DBVERSUS_TEST_PG_SOCKET_DIR")?;
    let mut address = json!({"socket_dir": socket_dir, "port": port(), "user": setting("USER", "dbversus"),
                             "database": setting("DATABASE", "dbversus")});
    let Json::Object(more) = more else { unreachable!() };
    address.as_object_mut().unwrap().extend(more);
    let session_sql = session_sql.iter().map(|sql| (*sql).to_owned()).collect();
    Some(from_address("postgres", &address, session_sql).unwrap())
}

fn port() -> u16 {
    setting("PORT", "5432").parse().unwrap()
}

fn setting(name: &str, default: &str) -> String {
    std::env::var(format!("DBVERSUS_TEST_PG_{name}")).unwrap_or_else(|_| default.to_owned())
}

#[test]
fn loads_and_runs_the_read_write_test_in_every_mode() {
    let Some(mut connection) = connect("modes") else { return };
    for number in 1..=2 {
        assert_eq!(load(connection.as_mut(), &table(number), 5), ROWS);
    }
    let prepared = program(read_write(), 2);
    let text = program(with_mode(&read_write(), "text"), 2);
    for (program, mode) in [
        (&prepared, Mode::Prepared),
        (&prepared, Mode::Unprepared),
        (&text, Mode::Prepared),
    ] {
        let tally = run(connection.as_mut(), program, mode, 10).unwrap();
        assert_eq!((tally.statements, tally.affected), (200, 40));
        assert!((380..=410).contains(&tally.rows), "{tally:?}");
    }
    let table = connection
        .query("SELECT count(*) AS n, min(length(c)) FROM sbtest1")
        .unwrap();
    assert_eq!(table.columns, ["n", "min"]);
    assert_eq!(table.rows, [[Some(ROWS.to_string()), Some("119".to_owned())]]);
}

#[test]
fn every_mode_gives_the_same_answers() {
    let Some(mut connection) = connect("answers") else {
        return;
    };
    load(connection.as_mut(), &table(1), 5);
    connection
        .query("CREATE TABLE types (small smallint, int integer, big bigint, text text, num numeric)")
        .unwrap();
    let reads = json!({"name": "reads", "statements": [
        {"name": "list", "sql": "SELECT id, k, c FROM sbtest{table} WHERE id IN (:ids) OR c = :c ORDER BY id",
         "params": {"ids": {"gen": "zipfian", "low": 1, "high": ROWS, "count": 20}, "c": {"gen": "constant", "value": "it's \\"}}},
        {"name": "insert", "sql": "INSERT INTO types VALUES (:n, :i, :b, :text, :num)",
         "params": {"n": {"gen": "sequence", "step": -3}, "i": {"gen": "ref", "of": "n"}, "b": {"gen": "ref", "of": "n"}, "text": {"gen": "text", "template": "ü@@@@'\\"}, "num": {"gen": "sequence", "start": 95}}},
        {"name": "types", "sql": "SELECT *, NULL, :x::int FROM types ORDER BY big LIMIT :limit",
         "params": {"x": {"gen": "ref", "of": "n"}, "limit": {"gen": "sequence"}}},
    ]});
    let mut answers = |test: &Json, mode| {
        connection.query("TRUNCATE types").unwrap();
        check(connection.as_mut(), &program(test.clone(), 1), mode, 10)
    };
    let reference = answers(&reads, Mode::Prepared);
    assert!(
        reference.contains(&"statement 1: 0 rows, 1 affected".to_owned()),
        "{reference:?}"
    );
    assert!(
        reference
            .iter()
            .any(|row| row.starts_with("-26|-26|-26|ü") && row.ends_with("'\\|104|NULL|-26")),
        "{reference:?}"
    );
    assert_eq!(reference, answers(&reads, Mode::Unprepared));
    assert_eq!(reference, answers(&with_mode(&reads, "text"), Mode::Prepared));
}

#[test]
fn executions_as_those_of_libpq_give_the_same_answers() {
    let Some(mut plain) = connect("plain") else { return };
    let mut like_libpq = connect_with("like_libpq", json!({"like_libpq": true})).unwrap();
    let program = program(read_write(), 1);
    for mode in [Mode::Prepared, Mode::Unprepared] {
        let answers = [&mut plain, &mut like_libpq].map(|connection| {
            load(connection.as_mut(), &table(1), 5);
            let found = check(connection.as_mut(), &program, mode, 10);
            connection.query("DROP TABLE sbtest1").unwrap();
            found
        });
        assert!(answers[0].len() > 100, "{answers:?}");
        assert_eq!(answers[0], answers[1]);
    }
}

#[test]
fn what_a_statement_has_read_is_used_by_others() {
    for more in [json!({}), json!({"like_libpq": true})] {
        let Some(mut connection) = connect_with("kept", more) else {
            return;
        };
        values_are_kept(connection.as_mut());
    }
}

#[test]
fn values_of_all_types_are_sent_and_loaded() {
    for like_libpq in [false, true] {
        let more = json!({"like_libpq": like_libpq});
        let Some(mut connection) = connect_with(&format!("dbv_types_{like_libpq}"), more) else {
            return;
        };
        types_survive(
            connection.as_mut(),
            [
                "integer",
                "real",
                "double precision",
                "numeric(10,2)",
                "boolean",
                "date",
                "timestamp(0)",
                "timestamptz",
                "bytea",
                "text",
            ],
        );
    }
}

#[test]
fn answers_larger_than_any_buffer_are_read_to_their_end() {
    let Some(mut connection) = connect("large") else { return };
    let test = json!({"name": "large", "statements": [
        {"name": "rows", "sql": "SELECT repeat('x', 1000) FROM generate_series(1, 5000)"},
        {"name": "value", "sql": "SELECT repeat('x', :length)", "params": {"length": {"gen": "constant", "value": 3_000_000}}},
    ]});
    let program = program(test, 1);
    assert_eq!(
        run(connection.as_mut(), &program, Mode::Prepared, 3).unwrap().rows,
        3 * 5001
    );
    let values = check(connection.as_mut(), &program, Mode::Prepared, 1);
    assert_eq!(values.iter().map(String::len).max(), Some(3_000_000));
}

#[test]
fn errors_have_a_class_and_leave_the_connection_usable() {
    let Some(mut connection) = connect("errors") else {
        return;
    };
    load(connection.as_mut(), &table(1), 5);
    let one = |sql: &str, params| json!({"name": "m", "transaction": true, "statements": [{"name": "s", "sql": sql, "params": params}]});
    let seven = json!({"id": {"gen": "constant", "value": 7}});
    let cases = [
        (
            one("INSERT INTO sbtest1 VALUES (:id, 1, 'c', 'p')", seven.clone()),
            ErrorClass::DuplicateKey,
            "23505",
        ),
        (
            one("SELECT 1 / (:id - 7)", seven.clone()),
            ErrorClass::Other,
            "division by zero",
        ),
        (
            one("SELECT 1 FROM missing{table}", json!({})),
            ErrorClass::Other,
            "test \"m\", statement \"s\": ERROR 42P01: relation \"missing1\"",
        ),
        (
            one(
                "SELECT 1 FROM sbtest1 WHERE id = :id",
                json!({"id": {"gen": "constant", "value": 1u64 << 40}}),
            ),
            ErrorClass::Other,
            "parameter $1 is 1099511627776, which the server's type integer cannot hold",
        ),
    ];
    for (test, class, message) in cases {
        let error = run(connection.as_mut(), &program(test, 1), Mode::Prepared, 1).unwrap_err();
        assert_eq!(error.class, class, "{error}");
        assert!(error.message.contains(message), "{error}");
        connection.rollback().unwrap();
        run(connection.as_mut(), &program(read_write(), 1), Mode::Prepared, 1).unwrap();
    }
}

#[test]
fn deadlocks_and_lock_timeouts_are_told_apart() {
    let Some(mut first) = connect("locks") else { return };
    load(first.as_mut(), &table(1), 5);
    let settings = ["SET search_path = locks", "SET deadlock_timeout = '10ms'"];
    let mut second = wire(&settings).unwrap().connect().unwrap();
    first.query("SET lock_timeout = '4min'").unwrap();
    for connection in [&mut first, &mut second] {
        connection.query("BEGIN").unwrap();
    }
    first.query("UPDATE sbtest1 SET k = 1 WHERE id = 1").unwrap();
    second.query("UPDATE sbtest1 SET k = 1 WHERE id = 2").unwrap();
    let other = std::thread::spawn(move || {
        let result = first.query("UPDATE sbtest1 SET k = 1 WHERE id = 2");
        (first, result)
    });
    let second_result = second.query("UPDATE sbtest1 SET k = 1 WHERE id = 1");
    second.rollback().unwrap();
    let (mut first, first_result) = other.join().unwrap();
    first.rollback().unwrap();
    let error = second_result.err().or(first_result.err()).unwrap();
    assert_eq!(error.class, ErrorClass::Deadlock, "{error}");

    first.query("BEGIN; LOCK TABLE sbtest1").unwrap();
    second.query("SET lock_timeout = '10ms'").unwrap();
    let error = second.query("SELECT 1 FROM sbtest1").unwrap_err();
    assert_eq!(error.class, ErrorClass::LockTimeout, "{error}");
}

#[test]
fn a_terminated_backend_is_a_lost_connection_with_the_servers_words() {
    let Some(mut connection) = connect("killed") else {
        return;
    };
    let program = program(
        json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT 1"}]}),
        1,
    );
    run(connection.as_mut(), &program, Mode::Prepared, 1).unwrap();
    let pid = connection.backend().unwrap();
    let mut killer = wire(&[]).unwrap().connect().unwrap();
    killer.query(&format!("SELECT pg_terminate_backend({pid})")).unwrap();
    let params = dbversus_engine::workload::Params::new();
    let mut execute = || connection.execute(0, 1, &params, &mut Tally::default()).unwrap_err();
    let error = execute();
    assert_eq!(error.class, ErrorClass::LostConnection);
    assert!(
        error.message.contains("57P01") || error.message.contains("closed") || error.message.contains("lost"),
        "{error}"
    );
    assert_eq!(execute().class, ErrorClass::LostConnection);
}

#[test]
fn copy_keeps_every_character_and_tells_the_servers_errors() {
    let Some(mut connection) = connect("copying") else {
        return;
    };
    let odd = "tab\there \\ back\nline ü";
    let columns = json!({"id": {"gen": "sequence"}, "t": {"gen": "constant", "value": odd}});
    let create = ["CREATE TABLE odd (id bigint, t text)"];
    load(
        connection.as_mut(),
        &spec(json!({"name": "odd", "rows": 3, "create": create, "columns": columns})),
        1,
    );
    assert_eq!(
        connection.query("SELECT t FROM odd WHERE id = 3").unwrap().rows,
        [[Some(odd.to_owned())]]
    );

    let full = spec(
        json!({"name": "odd", "rows": 200_000, "columns": {"id": {"gen": "sequence"}, "missing": {"gen": "sequence"}}}),
    );
    let error = connection.load_rows(&full, 1, &mut |_| ()).unwrap_err();
    assert!(error.message.contains("column \"missing\""), "{error}");
    connection.query("CREATE UNIQUE INDEX ON odd (t)").unwrap_err();
    connection.query("ALTER TABLE odd ADD CHECK (id < 10)").unwrap();
    let many = spec(json!({"name": "odd", "rows": 500_000, "columns": columns}));
    let mut most = 0;
    let error = connection.load_rows(&many, 1, &mut |rows| most = rows).unwrap_err();
    assert!(error.message.contains("violates check constraint"), "{error}");
    assert!(most < 500_000, "the load should end early");
    let empty = spec(json!({"name": "odd", "rows": 0, "columns": columns}));
    connection.load_rows(&empty, 1, &mut |_| ()).unwrap();
    assert_eq!(
        connection.query("SELECT count(*) FROM odd").unwrap().rows,
        [[Some("3".to_owned())]]
    );
}

#[test]
fn notices_do_not_end_a_load_and_rows_that_are_not_taken_are_told() {
    let Some(mut connection) = connect("noticing") else {
        return;
    };
    connection
        .query(
            "CREATE TABLE noisy (id bigint, c text); CREATE TABLE choosy (LIKE noisy); \
             CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF NEW.id % 1000 = 0 THEN RAISE NOTICE 'row %', NEW.id; END IF; \
             IF TG_TABLE_NAME = 'choosy' AND NEW.id = 7 THEN RETURN NULL; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER tell BEFORE INSERT ON noisy FOR EACH ROW EXECUTE PROCEDURE tell(); \
             CREATE TRIGGER tell BEFORE INSERT ON choosy FOR EACH ROW EXECUTE PROCEDURE tell(); \
             SET client_min_messages = notice",
        )
        .unwrap();
    let table = |name: &str, rows: u64| {
        let columns = json!({"id": {"gen": "sequence"}, "c": {"gen": "constant", "value": "x".repeat(100)}});
        spec(json!({"name": name, "rows": rows, "columns": columns}))
    };
    // Several times what is sent at once.
    load(connection.as_mut(), &table("noisy", 30_000), 1);
    assert_eq!(
        connection.query("SELECT count(*) FROM noisy").unwrap().rows,
        [[Some("30000".to_owned())]]
    );
    let error = connection.load_rows(&table("choosy", 10), 1, &mut |_| ()).unwrap_err();
    assert_eq!(error.message, "table \"choosy\": the server took 9 of 10 rows");
}

#[test]
fn the_last_of_several_results_is_given() {
    let Some(mut connection) = connect("several") else {
        return;
    };
    let table = connection.query("SELECT 1 AS a; SELECT 2 AS b, NULL AS c").unwrap();
    assert_eq!(
        (table.columns, table.rows),
        (vec!["b".into(), "c".into()], vec![vec![Some("2".into()), None]])
    );
    let table = connection
        .query("SELECT 1; CREATE TABLE t AS SELECT 1; INSERT INTO t VALUES (1), (2)")
        .unwrap();
    assert_eq!((table.columns.len(), table.affected), (0, 2));
    assert!(connection.query("").unwrap().rows.is_empty());
    assert!(
        connection
            .query("COPY t FROM STDIN")
            .unwrap_err()
            .message
            .contains("nothing to copy from")
    );
    assert_eq!(
        connection.query("SELECT count(*) FROM t").unwrap().rows[0][0].as_deref(),
        Some("3")
    );
}

#[test]
fn a_test_that_copies_is_refused() {
    let Some(mut connection) = connect("copies") else {
        return;
    };
    let test = json!({"name": "t", "statements": [{"name": "s", "sql": "COPY (SELECT 1) TO STDOUT", "mode": "text"}]});
    let error = run(connection.as_mut(), &program(test, 1), Mode::Prepared, 1).unwrap_err();
    assert!(error.message.contains("COPY"), "{error}");
}

#[test]
fn passwords_are_checked_by_every_method() {
    let Some(mut connection) = connect("passwords") else {
        return;
    };
    // Without these lines in pg_hba.conf there is nothing to test: `host all scram_user 127.0.0.1/32 scram-sha-256`, …
    let lines = connection.query("SELECT user_name[1] FROM pg_hba_file_rules WHERE 'scram_user' = ANY (user_name)");
    if lines.map_or(true, |table| table.rows.is_empty()) {
        return skip("pg_hba.conf has no lines for passwords");
    }
    let file = std::env::temp_dir().join(format!("dbversus-password-{}", std::process::id()));
    for (user, encryption) in [
        ("scram_user", "scram-sha-256"),
        ("md5_user", "md5"),
        ("plain_user", "scram-sha-256"),
    ] {
        let _ = connection.query(&format!("CREATE ROLE {user} LOGIN"));
        connection
            .query(&format!("SET password_encryption = '{encryption}'"))
            .unwrap();
        connection
            .query(&format!("ALTER ROLE {user} PASSWORD 'pä''ss'"))
            .unwrap();
        let log_in = |password_file: Option<&str>| {
            let mut address =
                json!({"host": "127.0.0.1", "port": port(), "user": user, "database": setting("DATABASE", "dbversus")});
            if let Some(password) = password_file {
                std::fs::write(&file, password).unwrap();
                address["password_file"] = json!(file);
            }
            from_address("postgres", &address, Vec::new()).unwrap().connect()
        };
        assert_eq!(
            log_in(Some("pä'ss\n"))
                .unwrap()
                .query("SELECT current_user")
                .unwrap()
                .rows[0][0]
                .as_deref(),
            Some(user)
        );
        let error = log_in(Some("wrong")).err().unwrap();
        assert!(
            error.message.contains("password authentication failed"),
            "{user}: {error}"
        );
        assert!(!error.message.contains("wrong"), "{error}");
        let error = log_in(None).err().unwrap();
        assert!(
            error.message.contains("give `password_env` or `password_file`"),
            "{user}: {error}"
        );
    }
    let _ = std::fs::remove_file(&file);
}

#[test]
fn data_of_a_copy_goes_to_the_server_as_it_is() {
    let Some(mut connection) = connect("wire_copy_in") else {
        return;
    };
    connection.run_raw(b"CREATE TABLE t (a int, b text)").unwrap();
    // more than one message
    let data: String = (0..100_000).map(|row| format!("{row}\tit's \\\\ {row}\n")).collect();
    connection.copy_in(b"COPY t FROM stdin", &mut data.as_bytes()).unwrap();
    connection.copy_in(b"COPY t FROM stdin", &mut b"".as_slice()).unwrap();
    let told = connection.query("SELECT count(*), max(b) FROM t").unwrap();
    assert_eq!(
        told.rows[0],
        [Some("100000".to_owned()), Some("it's \\ 99999".to_owned())]
    );
    let refused = connection.copy_in(b"COPY t FROM stdin", &mut format!("x\ty\n{data}").as_bytes());
    let error = refused.unwrap_err();
    assert!(error.message.contains("invalid input syntax"), "{error}");
    let missing = connection.copy_in(b"COPY nowhere FROM stdin", &mut b"1\n".as_slice());
    assert!(missing.unwrap_err().message.contains("does not exist"));
    assert_eq!(
        connection.query("SELECT count(*) FROM t").unwrap().rows[0],
        [Some("100000".to_owned())]
    );
}
