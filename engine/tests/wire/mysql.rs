//! The mysql wire against a real server.
//!
//! Left out unless `DBVERSUS_TEST_MYSQL_SOCKET` names its socket; `DBVERSUS_TEST_MYSQL_USER` (dbversus) and
//! `DBVERSUS_TEST_MYSQL_DATABASE` (dbversus) say the rest. The user has to have all privileges; each test works in a
//! database of its own. Where the server listens on a port too, `DBVERSUS_TEST_MYSQL_PORT` has logins over TCP tested.

use crate::skip::variable;
use crate::support::{
    ROWS, check, load, program, read_write, run, spec, table, types_survive, values_are_kept, with_mode,
};
use dbversus_engine::drive::lane::Lane;
use dbversus_engine::wire::{Connection, ErrorClass, Tally, Wire, WireResult, from_address};
use dbversus_engine::workload::{Mode, Part, Scratch, Stream};
use serde_json::{Value as Json, json};

/// A connection whose tables are in a fresh database; `None` when there is no server.
fn connect(database: &str) -> Option<Box<dyn Connection>> {
    connect_over(&*wire(&[])?, database)
}

fn connect_over(wire: &dyn Wire, database: &str) -> Option<Box<dyn Connection>> {
    let mut connection = wire.connect().unwrap();
    let sql = format!("DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database}; USE {database}");
    connection.query(&sql).unwrap();
    Some(connection)
}

fn wire(session_sql: &[&str]) -> Option<Box<dyn Wire>> {
    let session_sql = session_sql.iter().map(|sql| (*sql).to_owned()).collect();
    Some(from_address("mysql", &address()?, session_sql).unwrap())
}

fn address() -> Option<Json> {
    let socket = variable("DBVERSUS_TEST_MYSQL_SOCKET")?;
    Some(json!({"socket": socket, "user": setting("USER"), "database": setting("DATABASE")}))
}

fn setting(name: &str) -> String {
    std::env::var(format!("DBVERSUS_TEST_MYSQL_{name}")).unwrap_or_else(|_| "dbversus".to_owned())
}

fn value(connection: &mut dyn Connection, sql: &str) -> Option<String> {
    connection.query(sql).unwrap().rows[0][0].clone()
}

#[test]
fn loads_and_runs_the_read_write_test_in_every_mode() {
    let Some(mut connection) = connect("dbv_modes") else {
        return;
    };
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
        .query("SELECT COUNT(*) AS n, MIN(LENGTH(c)) AS shortest FROM sbtest1")
        .unwrap();
    assert_eq!(table.columns, ["n", "shortest"]);
    assert_eq!(table.rows, [[Some(ROWS.to_string()), Some("119".to_owned())]]);
}

#[test]
fn every_mode_gives_the_same_answers() {
    if let Some(connection) = connect("dbv_answers") {
        give_the_same_answers(connection);
    }
}

#[test]
fn every_mode_gives_the_same_answers_where_columns_are_told_only_when_they_change() {
    let Some(mut address) = address() else { return };
    address["cache_metadata"] = true.into();
    let wire = from_address("mysql", &address, Vec::new()).unwrap();
    if let Some(connection) = connect_over(&*wire, "dbv_cached") {
        give_the_same_answers(connection);
    }
}

fn give_the_same_answers(mut connection: Box<dyn Connection>) {
    load(connection.as_mut(), &table(1), 5);
    connection
        .query(
            "CREATE TABLE types (tiny TINYINT, small SMALLINT, medium MEDIUMINT, i INT, big BIGINT PRIMARY KEY, \
             large BIGINT UNSIGNED, f FLOAT, d DOUBLE, num DECIMAL(10, 2), text TEXT, bits VARBINARY(20), day DATE, \
             moment DATETIME, clock TIME, y YEAR)",
        )
        .unwrap();
    let same = json!({"gen": "ref", "of": "n"});
    let reads = json!({"name": "reads", "statements": [
        {"name": "list", "sql": "SELECT id, k, c FROM sbtest{table} WHERE id IN (:ids) OR c = :c ORDER BY id",
         "params": {"ids": {"gen": "zipfian", "low": 1, "high": ROWS, "count": 20}, "c": {"gen": "constant", "value": "it's \\"}}},
        {"name": "insert", "sql": "INSERT INTO types VALUES (:n, :a, :b, :c, :d, :large, :f, :g / 8, :num, :text, :bits, :day, :moment, :clock, :y)",
         "params": {"n": {"gen": "sequence", "step": -3}, "a": same, "b": same, "c": same, "d": same, "f": same, "g": same,
                    "large": {"gen": "constant", "value": i64::MAX}, "num": {"gen": "sequence", "start": 95},
                    "text": {"gen": "text", "template": "ü@@@@'\\"}, "bits": {"gen": "text", "template": "@@@\\'\"%"},
                    "day": {"gen": "constant", "value": "2024-02-29"}, "moment": {"gen": "constant", "value": "2024-02-29 23:05:06"},
                    "clock": {"gen": "constant", "value": "-51:04:05"}, "y": {"gen": "constant", "value": 2024}}},
        {"name": "types", "sql": "SELECT *, large + 10, NULL, :x, :x + 1, ':x ?' FROM types ORDER BY big LIMIT :limit",
         "params": {"x": same, "limit": {"gen": "sequence"}}},
        {"name": "sum", "sql": "SELECT SUM(k), COUNT(*), MAX(c) FROM sbtest{table} WHERE id < :n",
         "params": {"n": {"gen": "uniform", "low": 0, "high": 100}}},
    ]});
    let mut answers = |test: &Json, mode| {
        connection.query("TRUNCATE TABLE types").unwrap();
        check(connection.as_mut(), &program(test.clone(), 1), mode, 10)
    };
    let reference = answers(&reads, Mode::Prepared);
    assert!(
        reference.contains(&"statement 1: 0 rows, 1 affected".to_owned()),
        "{reference:?}"
    );
    let is_expected = |row: &String| {
        row.starts_with("-26|-26|-26|-26|-26|9223372036854775807|-26|-3.25|104.00|ü")
            && row.ends_with("|2024-02-29|2024-02-29 23:05:06|-51:04:05|2024|9223372036854775817|NULL|-26|-25|:x ?")
    };
    assert!(reference.iter().any(is_expected), "{reference:?}");
    assert_eq!(reference, answers(&reads, Mode::Unprepared));
    assert_eq!(reference, answers(&with_mode(&reads, "text"), Mode::Prepared));
}

#[test]
fn what_a_statement_has_read_is_used_by_others() {
    for cache_metadata in [false, true] {
        let Some(mut address) = address() else { return };
        address["cache_metadata"] = json!(cache_metadata);
        let wire = from_address("mysql", &address, Vec::new()).unwrap();
        values_are_kept(connect_over(&*wire, "dbv_kept").unwrap().as_mut());
    }
}

#[test]
fn values_of_all_types_are_sent_and_loaded() {
    let Some(mut connection) = connect("dbv_types") else {
        return;
    };
    types_survive(
        connection.as_mut(),
        [
            "integer",
            "float",
            "double",
            "decimal(10,2)",
            "boolean",
            "date",
            "datetime",
            "datetime(6)",
            "varbinary(16)",
            "varchar(20)",
        ],
    );
}

#[test]
fn answers_and_statements_larger_than_any_buffer_are_moved_to_their_end() {
    let Some(mut connection) = connect("dbv_large") else {
        return;
    };
    connection.query("SET GLOBAL max_allowed_packet = 67108864").unwrap();
    // It holds for new connections.
    let mut connection = wire(&["USE dbv_large"]).unwrap().connect().unwrap();
    load(connection.as_mut(), &table(1), 5);
    let test = json!({"name": "large", "statements": [
        {"name": "rows", "sql": "SELECT REPEAT('x', 1000) FROM sbtest1 a, (SELECT 1 UNION SELECT 2 UNION SELECT 3) b"},
        {"name": "packets", "sql": "SELECT REPEAT('x', 40000000), 1 UNION ALL SELECT 'y', 2"},
    ]});
    for (mode, test) in [("prepared", &test), ("text", &with_mode(&test, "text"))] {
        let program = program(test.clone(), 1);
        let tally = run(connection.as_mut(), &program, Mode::Prepared, 2).unwrap();
        assert_eq!((tally.statements, tally.rows), (4, 2 * (3 * ROWS + 2)), "{mode}");
        let answers = check(connection.as_mut(), &program, Mode::Prepared, 1);
        let longest = answers.iter().map(String::len).max();
        assert_eq!(
            (answers.len() as u64, longest),
            (3 * ROWS + 4, Some(40_000_002)),
            "{mode}"
        );
    }
    for length in [0xff_ffff - 20, 0xff_ffff, 40_000_000] {
        let sql = format!("SELECT LENGTH('{}')", "x".repeat(length));
        assert_eq!(value(connection.as_mut(), &sql), Some(length.to_string()));
    }
    let filler = "x".repeat(70_000_000);
    let error = connection.query(&format!("SELECT LENGTH('{filler}')")).unwrap_err();
    assert!(error.message.len() < 1000, "{error}");
}

#[test]
fn errors_are_told_apart_and_the_connection_goes_on() {
    let Some(mut connection) = connect("dbv_errors") else {
        return;
    };
    load(connection.as_mut(), &table(1), 5);
    let insert = json!({"name": "t", "transaction": true, "statements": [
        {"name": "s", "sql": "INSERT INTO sbtest1 (id, k, c, pad) VALUES (:id, 1, '', '')", "params": {"id": {"gen": "constant", "value": 7}}}]});
    let broken = json!({"name": "t", "statements": [{"name": "s", "sql": "SELEC 1"}]});
    let cast = json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT (SELECT id FROM sbtest1)"}]});
    for mode in ["prepared", "text"] {
        let attempt = |connection: &mut dyn Connection, test: &Json| {
            let program = program(with_mode(test, mode), 1);
            run(connection, &program, Mode::Prepared, 1).unwrap_err()
        };
        let error = attempt(connection.as_mut(), &insert);
        assert_eq!(error.class, ErrorClass::DuplicateKey, "{error}");
        assert!(error.message.contains("ERROR 1062 (23000): Duplicate entry"), "{error}");
        connection.rollback().unwrap();
        let error = attempt(connection.as_mut(), &broken);
        assert_eq!(error.class, ErrorClass::Other, "{error}");
        assert!(error.message.contains("1064"), "{error}");
        let error = attempt(connection.as_mut(), &cast);
        assert!(error.message.contains("1242"), "{error}");
        let good = program(
            json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT 1"}]}),
            1,
        );
        assert_eq!(run(connection.as_mut(), &good, Mode::Prepared, 3).unwrap().rows, 3);
    }
}

/// A statement goes on after an error in between, with the types of its parameters told again.
#[test]
fn a_statement_that_failed_can_be_executed_again() {
    let Some(mut connection) = connect("dbv_again") else {
        return;
    };
    connection
        .query("CREATE TABLE t (id BIGINT PRIMARY KEY, c VARCHAR(20))")
        .unwrap();
    connection.query("INSERT INTO t VALUES (2, 'there')").unwrap();
    let test = json!({"name": "t", "statements": [{"name": "s", "sql": "INSERT INTO t VALUES (:id, :c)",
        "params": {"id": {"gen": "sequence"}, "c": {"gen": "text", "template": "@@@"}}}]});
    let program = program(test, 1);
    connection.prepare(&program, Mode::Prepared).unwrap();
    let mut scratch = Scratch::new(&program);
    let stream = Stream::new(1, 0, 0, Part::Slot);
    let mut lane = Lane::new(&program, connection.as_mut(), &mut scratch, stream);
    let went_well: Vec<_> = (0..5).map(|_| lane.run_event().is_ok()).collect();
    assert_eq!(went_well, [true, false, true, true, true]);
    assert_eq!((lane.tally.statements, lane.tally.affected), (4, 4));
    assert_eq!(
        value(connection.as_mut(), "SELECT COUNT(*) FROM t"),
        Some("5".to_owned())
    );
}

#[test]
fn deadlocks_and_lock_timeouts_are_told_apart() {
    let Some(mut first) = connect("dbv_locks") else { return };
    load(first.as_mut(), &table(1), 5);
    let mut second = wire(&["USE dbv_locks"]).unwrap().connect().unwrap();
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
    // MyRocks finds deadlocks only when it is told to.
    let accepted = [ErrorClass::Deadlock, ErrorClass::LockTimeout];
    let is_rocksdb = value(second.as_mut(), "SELECT @@default_storage_engine").unwrap() == "ROCKSDB";
    assert!(
        accepted[..1 + usize::from(is_rocksdb)].contains(&error.class),
        "{error}"
    );

    first.query("BEGIN; UPDATE sbtest1 SET k = 1 WHERE id = 3").unwrap();
    let timeout = if is_rocksdb {
        "rocksdb_lock_wait_timeout"
    } else {
        "innodb_lock_wait_timeout"
    };
    second.query(&format!("SET {timeout} = 1")).unwrap();
    let error = second.query("UPDATE sbtest1 SET k = 2 WHERE id = 3").unwrap_err();
    assert_eq!(error.class, ErrorClass::LockTimeout, "{error}");
    first.rollback().unwrap();
    assert_eq!(
        value(first.as_mut(), "SELECT COUNT(*) FROM sbtest1"),
        Some(ROWS.to_string())
    );
}

#[test]
fn a_killed_connection_is_lost() {
    let Some(mut connection) = connect("dbv_killed") else {
        return;
    };
    let program = program(
        json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT 1"}]}),
        1,
    );
    run(connection.as_mut(), &program, Mode::Prepared, 1).unwrap();
    let id = value(connection.as_mut(), "SELECT CONNECTION_ID()").unwrap();
    let mut killer = wire(&[]).unwrap().connect().unwrap();
    killer.query(&format!("KILL {id}")).unwrap();
    let params = dbversus_engine::workload::Params::new();
    for _ in 0..2 {
        let error = connection.execute(0, 1, &params, &mut Tally::default()).unwrap_err();
        assert_eq!(error.class, ErrorClass::LostConnection, "{error}");
    }
}

#[test]
fn loading_keeps_every_character_and_tells_the_servers_errors() {
    let Some(mut connection) = connect("dbv_loading") else {
        return;
    };
    let odd = "tab\there \\ 'quoted' \"twice\" back\nline %_ ü";
    let columns = json!({"id": {"gen": "sequence"}, "t": {"gen": "constant", "value": odd}});
    let create = ["CREATE TABLE odd (id BIGINT, t VARCHAR(100))"];
    let with_create = json!({"name": "odd", "rows": 3, "create": create, "columns": columns});
    load(connection.as_mut(), &spec(with_create), 1);
    connection.query("SET sql_mode = 'NO_BACKSLASH_ESCAPES'").unwrap();
    load(
        connection.as_mut(),
        &spec(json!({"name": "odd", "rows": 2, "columns": columns})),
        1,
    );
    for id in [2, 3] {
        let sql = format!("SELECT MIN(t) FROM odd WHERE id = {id} UNION ALL SELECT MAX(t) FROM odd WHERE id = {id}");
        let rows = connection.query(&sql).unwrap().rows;
        assert_eq!(rows, [[Some(odd.to_owned())], [Some(odd.to_owned())]]);
    }

    let missing =
        json!({"name": "odd", "rows": 200_000, "columns": {"id": {"gen": "sequence"}, "missing": {"gen": "sequence"}}});
    let error = connection.load_rows(&spec(missing), 1, &mut |_| ()).unwrap_err();
    assert!(
        error.message.contains("1054") && error.message.contains("missing"),
        "{error}"
    );
    connection.query("ALTER TABLE odd ADD COLUMN u INT").unwrap();
    connection.query("CREATE UNIQUE INDEX u ON odd (u)").unwrap();
    let repeated = json!({"id": {"gen": "sequence"}, "u": {"gen": "uniform", "low": 1, "high": 200_000}});
    let many = spec(json!({"name": "odd", "rows": 2_000_000, "columns": repeated}));
    let mut most = 0;
    let error = connection.load_rows(&many, 1, &mut |rows| most = rows).unwrap_err();
    assert_eq!(error.class, ErrorClass::DuplicateKey, "{error}");
    assert!(most < 1_000_000, "the load should end early");
    connection
        .load_rows(
            &spec(json!({"name": "odd", "rows": 0, "columns": columns})),
            1,
            &mut |_| (),
        )
        .unwrap();
    assert_eq!(
        value(connection.as_mut(), "SELECT COUNT(*) FROM odd"),
        Some("5".to_owned())
    );
}

#[test]
fn the_last_of_several_results_is_given() {
    let Some(mut connection) = connect("dbv_several") else {
        return;
    };
    let table = connection.query("SELECT 1 AS a; SELECT 2 AS b, NULL AS c").unwrap();
    assert_eq!(
        (table.columns, table.rows),
        (vec!["b".into(), "c".into()], vec![vec![Some("2".into()), None]])
    );
    let table = connection
        .query("SELECT 1; CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)")
        .unwrap();
    assert_eq!((table.columns.len(), table.affected), (0, 2));
    let error = connection
        .query("INSERT INTO t VALUES (3); SELEC 1; INSERT INTO t VALUES (4)")
        .unwrap_err();
    assert!(error.message.contains("1064"), "{error}");
    assert_eq!(
        value(connection.as_mut(), "SELECT COUNT(*) FROM t"),
        Some("3".to_owned())
    );
    // Rows that were found count, also those that have the value already.
    assert_eq!(connection.query("UPDATE t SET a = 3").unwrap().affected, 3);
    assert_eq!(connection.query("UPDATE t SET a = 3").unwrap().affected, 3);
}

#[test]
fn a_test_that_loads_files_is_refused() {
    let Some(mut connection) = connect("dbv_files") else {
        return;
    };
    connection.query("CREATE TABLE t (a INT)").unwrap();
    let error = connection
        .query("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t")
        .unwrap_err();
    assert!(error.message.contains("ERROR "), "{error}");
    assert_eq!(
        value(connection.as_mut(), "SELECT COUNT(*) FROM t"),
        Some("0".to_owned())
    );
}

#[test]
fn statements_that_are_prepared_again_do_not_pile_up() {
    let Some(mut connection) = connect("dbv_prepared") else {
        return;
    };
    // The server keeps 16382 of them at most.
    let test = json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT {table}"}]});
    let program = program(test, 300);
    for _ in 0..60 {
        connection.prepare(&program, Mode::Prepared).unwrap();
    }
}

#[test]
fn question_marks_of_the_text_are_no_placeholders() {
    let Some(mut connection) = connect("dbv_marks") else {
        return;
    };
    let test = json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT ?"}]});
    let error = connection.prepare(&program(test, 1), Mode::Prepared).unwrap_err();
    assert!(error.message.contains("a `?` in the text"), "{error}");
}

#[test]
fn the_thread_that_serves_a_connection_is_one_of_the_server() {
    let Some(connection) = connect("dbv_thread") else {
        return;
    };
    // MySQL before 5.7 does not tell.
    if let Some(thread) = connection.backend() {
        let name = std::fs::read_to_string(format!("/proc/{thread}/cmdline")).unwrap();
        assert!(
            name.contains("mysqld") || name.contains("mariadbd"),
            "{thread} is {name:?}"
        );
        assert_ne!(connect("dbv_thread_2").unwrap().backend(), Some(thread));
    }
}

#[test]
fn passwords_are_checked_by_every_method() {
    let Some(mut connection) = connect("dbv_passwords") else {
        return;
    };
    // Else some servers take the password for latin1 and keep it as utf8.
    connection.query("SET NAMES utf8").unwrap();
    for (user, plugin) in [
        ("dbv_native", "mysql_native_password"),
        ("dbv_sha2", "caching_sha2_password"),
    ] {
        if !can_create_user(connection.as_mut(), user, plugin) {
            continue;
        }
        for way in ways() {
            // Once with the password in the server's cache, once without.
            for _ in 0..2 {
                let mut session = match log_in(&way, user, Some("pä'ss\n")) {
                    Err(error) if error.message.contains("and the server has none") => break,
                    session => session.unwrap(),
                };
                let who = value(session.as_mut(), "SELECT CURRENT_USER()").unwrap();
                assert!(who.starts_with(user), "{user} by {way}: {who}");
                // A build without TLS knows no such status.
                let status = session.query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap();
                let cipher = status.rows.first().and_then(|row| row[1].clone()).unwrap_or_default();
                let is_right = match way["tls"].as_str() {
                    Some("required") => !cipher.is_empty(),
                    Some("off") => cipher.is_empty(),
                    _ => true,
                };
                assert!(is_right, "{user} by {way}: cipher {cipher:?}");
                let error = log_in(&way, user, Some("wrong")).err().unwrap();
                assert!(error.message.contains("1045"), "{user} by {way}: {error}");
                assert!(!error.message.contains("wrong"), "{error}");
                let error = log_in(&way, user, None).err().unwrap();
                let hint = "a password is given by";
                assert!(error.message.contains(hint), "{user} by {way}: {error}");
            }
            if plugin == "caching_sha2_password" {
                connection.query("FLUSH PRIVILEGES").unwrap();
            }
        }
        connection
            .query(&format!("DROP USER {user}@'%', {user}@localhost"))
            .unwrap();
    }
}

/// Ways to the server, as addresses.
fn ways() -> Vec<Json> {
    let mut ways = vec![
        json!({"socket": setting("SOCKET")}),
        json!({"socket": setting("SOCKET"), "tls": "required"}),
    ];
    if let Ok(port) = std::env::var("DBVERSUS_TEST_MYSQL_PORT") {
        let port: u16 = port.parse().unwrap();
        ways.push(json!({"host": "127.0.0.1", "port": port, "tls": "off"}));
        ways.push(json!({"host": "127.0.0.1", "port": port, "tls": "required"}));
        ways.push(json!({"host": "localhost", "port": port}));
    }
    ways
}

fn log_in(way: &Json, user: &str, password: Option<&str>) -> WireResult<Box<dyn Connection>> {
    let mut address = way.clone();
    address["user"] = json!(user);
    address["database"] = json!("dbv_passwords");
    let file = std::env::temp_dir().join(format!("dbversus-password-{}-{user}", std::process::id()));
    if let Some(password) = password {
        std::fs::write(&file, password).unwrap();
        address["password_file"] = json!(file);
    }
    let wire = from_address("mysql", &address, Vec::new()).unwrap();
    let _ = std::fs::remove_file(&file);
    wire.connect()
}

fn can_create_user(connection: &mut dyn Connection, user: &str, plugin: &str) -> bool {
    // Before 5.7 and in MariaDB the password is hashed by hand; a plugin that is missing is an error.
    ["%", "localhost"].iter().all(|host| {
        let name = format!("'{user}'@'{host}'");
        let _ = connection.query(&format!("DROP USER {name}"));
        let create = [
            format!("CREATE USER {name} IDENTIFIED WITH {plugin} BY 'pä''ss'"),
            format!("CREATE USER {name} IDENTIFIED BY 'pä''ss'"),
        ];
        let tries = if plugin == "mysql_native_password" { 2 } else { 1 };
        create[..tries].iter().any(|sql| connection.query(sql).is_ok())
            && connection
                .query(&format!("GRANT ALL ON dbv_passwords.* TO {name}"))
                .is_ok()
    })
}
