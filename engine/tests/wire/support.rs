//! What the tests of all wires share: the reference method's table, and tests that touch it in every way.

#![allow(dead_code, reason = "every test file uses a part of it")]

use dbversus_engine::drive::lane::{EventSink, Lane};
use dbversus_engine::wire::{Connection, ErrorClass, RowSink, Tally, WireResult};
use dbversus_engine::workload::{Mode, Part, Program, Scratch, Stream, TableSpec, TestDefinition};
use serde_json::{Value as Json, json};

pub const ROWS: u64 = 1000;

/// `sbtest<number>` with `ROWS` rows.
pub fn table(number: u32) -> TableSpec {
    let group = |count| vec!["###########"; count].join("-");
    let name = format!("sbtest{number}");
    spec(json!({
        "name": name, "rows": ROWS,
        "create": [format!("CREATE TABLE {name} (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL)")],
        "columns": {"id": {"gen": "sequence", "start": 1}, "k": {"gen": "uniform", "low": 1, "high": ROWS},
                    "c": {"gen": "text", "template": group(10)}, "pad": {"gen": "text", "template": group(5)}},
        "after": [format!("CREATE INDEX k_{number} ON {name} (k)")],
    }))
}

pub fn spec(json: Json) -> TableSpec {
    serde_json::from_value(json).unwrap()
}

pub fn load(connection: &mut dyn Connection, table: &TableSpec, seed: u64) -> u64 {
    for sql in &table.create {
        connection.query(sql).unwrap();
    }
    let mut rows = 0;
    connection.load_rows(table, seed, &mut |done| rows = done).unwrap();
    for sql in &table.after {
        connection.query(sql).unwrap();
    }
    rows
}

pub fn program(json: Json, tables: u32) -> Program {
    let test: TestDefinition = serde_json::from_value(json).unwrap();
    Program::compile(&test, tables, 1).unwrap()
}

/// The reference method's read-write transaction.
pub fn read_write() -> Json {
    let id = json!({"gen": "uniform", "low": 1, "high": ROWS});
    let range = json!({"low": id, "high": {"gen": "ref", "of": "low", "add": 9}});
    let between = "FROM sbtest{table} WHERE id BETWEEN :low AND :high";
    let text = |count| json!({"gen": "text", "template": vec!["###########"; count].join("-")});
    json!({"name": "read-write-10", "transaction": true, "statements": [
        {"name": "point", "sql": "SELECT c FROM sbtest{table} WHERE id = :id", "repeat": 10, "params": {"id": id}},
        {"name": "simple", "sql": format!("SELECT c {between}"), "params": range},
        {"name": "sum", "sql": format!("SELECT SUM(k) {between}"), "params": range},
        {"name": "order", "sql": format!("SELECT c {between} ORDER BY c"), "params": range},
        {"name": "distinct", "sql": format!("SELECT DISTINCT c {between} ORDER BY c"), "params": range},
        {"name": "index", "sql": "UPDATE sbtest{table} SET k = k + 1 WHERE id = :id", "params": {"id": id}},
        {"name": "nonindex", "sql": "UPDATE sbtest{table} SET c = :c WHERE id = :id", "params": {"c": text(10), "id": id}},
        {"name": "delete", "sql": "DELETE FROM sbtest{table} WHERE id = :gone", "params": {"gone": id}},
        {"name": "insert", "table": "delete", "sql": "INSERT INTO sbtest{table} (id, k, c, pad) VALUES (:again, :k, :c, :pad)",
         "params": {"again": {"gen": "ref", "of": "gone"}, "k": id, "c": text(10), "pad": text(5)}},
    ]})
}

/// Prepares and runs `events` events.
pub fn run(connection: &mut dyn Connection, program: &Program, mode: Mode, events: u32) -> WireResult<Tally> {
    connection.prepare(program, mode)?;
    let mut scratch = Scratch::new(program);
    let mut lane = Lane::new(program, connection, &mut scratch, Stream::new(1, 0, 0, Part::Slot));
    for _ in 0..events {
        lane.run_event()?;
    }
    Ok(lane.tally)
}

/// All values as text, one line per row.
#[derive(Default)]
pub struct Values(pub Vec<String>);

impl RowSink for Values {
    fn row(&mut self, values: &[Option<&[u8]>]) {
        let text = |value: &Option<&[u8]>| {
            value.map_or("NULL".into(), |value| {
                String::from_utf8_lossy(value).trim_end().to_owned()
            })
        };
        self.0.push(values.iter().map(text).collect::<Vec<_>>().join("|"));
    }
}

impl EventSink for Values {
    fn rows(&mut self, _statement: usize) -> &mut dyn RowSink {
        self
    }
    fn executed(&mut self, statement: usize, counts: Tally) {
        self.0.push(format!(
            "statement {statement}: {} rows, {} affected",
            counts.rows, counts.affected
        ));
    }
}

/// The same test with all its statements sent in `mode`.
pub fn with_mode(test: &Json, mode: &str) -> Json {
    let mut test = test.clone();
    for statement in test["statements"].as_array_mut().unwrap() {
        statement["mode"] = json!(mode);
    }
    test
}

/// As `run`, with all values and counts.
pub fn check(connection: &mut dyn Connection, program: &Program, mode: Mode, events: u32) -> Vec<String> {
    connection.prepare(program, mode).unwrap();
    let mut values = Values::default();
    let mut scratch = Scratch::new(program);
    let mut lane = Lane::new(program, connection, &mut scratch, Stream::new(1, 0, 0, Part::Check));
    for _ in 0..events {
        lane.check_event(&mut values).unwrap();
    }
    values.0
}

/// A generator of every type, most with NULLs.
pub fn typed_values() -> Json {
    let time = json!({"gen": "uniform", "low": 1_700_000_000_000_000i64, "high": 1_710_000_000_000_000i64});
    let with = |value: &Json, more: Json| {
        let mut value = value.clone();
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        value
    };
    let number = json!({"gen": "uniform", "low": -100, "high": 100.5, "nulls": 0.3});
    json!({
        "n": {"gen": "sequence"},
        "single": with(&number, json!({"type": "float4"})),
        "wide": with(&number, json!({"type": "float8"})),
        "money": with(&number, json!({"type": "decimal(10,2)"})),
        "yes": {"gen": "uniform", "low": 0, "high": 1, "type": "bool", "nulls": 0.3},
        "day": with(&time, json!({"type": "date", "nulls": 0.3})),
        "second": with(&time, json!({"type": "timestamp"})),
        "fine": with(&time, json!({"type": "timestamp(6)", "nulls": 0.3})),
        "raw": {"gen": "bytes", "length": 9, "nulls": 0.3},
        "note": {"gen": "text", "template": "it's \\ @@#", "nulls": 0.3},
    })
}

/// Inserts and loads values of every type, given the types of their columns in the order of `typed_values`. What is sent in
/// every mode is the same, and of what is loaded every column has its values and NULLs.
pub fn types_survive(connection: &mut dyn Connection, types: [&str; 10]) {
    const EVENTS: u32 = 40;
    let values = typed_values();
    let names: Vec<_> = values.as_object().unwrap().keys().cloned().collect();
    let columns: Vec<_> = names
        .iter()
        .zip(types)
        .map(|(name, kind)| format!("{name} {kind}"))
        .collect();
    let all = names.join(", ");
    let mut found = Vec::new();
    for (mode, sent) in [
        (Mode::Prepared, "prepared"),
        (Mode::Unprepared, "prepared"),
        (Mode::Prepared, "text"),
    ] {
        connection.query("DROP TABLE IF EXISTS typed").unwrap();
        connection
            .query(&format!("CREATE TABLE typed ({})", columns.join(", ")))
            .unwrap();
        let sql = format!("INSERT INTO typed ({all}) VALUES (:{})", names.join(", :"));
        let mut insert = json!({"name": "typed", "statements": [{"name": "i", "sql": sql, "params": values}]});
        if sent == "text" {
            insert = with_mode(&insert, "text");
        }
        assert_eq!(
            run(connection, &program(insert, 1), mode, EVENTS).unwrap().affected,
            u64::from(EVENTS)
        );
        found.push(
            connection
                .query(&format!("SELECT {all} FROM typed ORDER BY n"))
                .unwrap()
                .rows,
        );
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
    connection.query("DELETE FROM typed").unwrap();
    let loaded = spec(json!({"name": "typed", "rows": 200, "columns": values}));
    assert_eq!(load(connection, &loaded, 3), 200);
    for name in &names {
        let counted = connection.query(&format!("SELECT count({name}), count(DISTINCT {name}) FROM typed"));
        let row = &counted.unwrap().rows[0];
        let [there, different] = [0, 1].map(|at| row[at].as_ref().unwrap().parse::<u64>().unwrap());
        let is_whole = matches!(name.as_str(), "n" | "second");
        assert!(
            if is_whole {
                there == 200
            } else {
                (100..180).contains(&there)
            },
            "{name}: {there}"
        );
        assert!(different > u64::from(name != "yes"), "{name}: {different}");
    }
}

/// Statements that use what one before them has read, in every way in which they can be sent.
pub fn values_are_kept(connection: &mut dyn Connection) {
    for sql in [
        "CREATE TABLE seen (id INTEGER PRIMARY KEY, n INTEGER, price DECIMAL(8,2), name VARCHAR(20), ratio DOUBLE PRECISION, day DATE)",
        "INSERT INTO seen VALUES (1, 10, 12.50, 'it''s', 0.25, '2024-02-29'), (2, 20, -0.50, '7', 1e20, '1999-12-31'), (3, NULL, NULL, NULL, NULL, NULL)",
        "CREATE TABLE copied (n INTEGER, more DOUBLE PRECISION, price DECIMAL(8,2), name VARCHAR(20), ratio DOUBLE PRECISION, day DATE)",
    ] {
        connection.query(sql).unwrap();
    }
    let of = |name: &str| json!({"gen": "ref", "of": name});
    let read = |low: u64, high: u64| {
        json!({"name": "read", "sql": "SELECT n, id, price, name, ratio, day FROM seen WHERE id = :id",
        "params": {"id": {"gen": "uniform", "low": low, "high": high}}, "keep": ["n", "_", "price", "name", "ratio", "day"]})
    };
    let copy = json!({"name": "copy", "sql": "INSERT INTO copied VALUES (:n, :more, :price, :name, :ratio, :day)",
        "params": {"n": of("n"), "more": {"gen": "row", "expr": ["+", ["*", "n", 2], "price"]},
                   "price": of("price"), "name": of("name"), "ratio": of("ratio"), "day": of("day")}});
    let twice = json!({"name": "twice", "sql": "INSERT INTO copied (n) VALUES (:m)", "params": {"m": {"gen": "ref", "of": "n", "add": 1}},
        "when": ["==", "n", 20]});
    let test = json!({"name": "kept", "statements": [read(1, 2), copy, twice]});
    let contents = "SELECT n, more, price, name, ratio, day FROM copied ORDER BY n, day";
    let mut found = Vec::new();
    let mut told = Vec::new();
    for (test, mode) in [
        (test.clone(), Mode::Prepared),
        (test.clone(), Mode::Unprepared),
        (with_mode(&test, "text"), Mode::Prepared),
    ] {
        connection.query("DELETE FROM copied").unwrap();
        let program = program(test, 1);
        let tally = run(connection, &program, mode, 20).unwrap();
        let rows = connection.query(contents).unwrap().rows;
        let more = rows.iter().filter(|row| row[5].is_none()).count() as u64;
        assert!((1..20).contains(&more), "{rows:?}");
        assert_eq!(
            (tally.statements, tally.rows, tally.affected),
            (40 + more, 20, 20 + more)
        );
        found.push(rows);
        told.push(check(connection, &program, mode, 5));
    }
    assert!(
        found[0]
            .iter()
            .any(|row| row[..2] == [Some("10".to_owned()), Some("32.5".to_owned())]),
        "{found:?}"
    );
    assert!(
        found[0].iter().any(|row| row[3].as_deref() == Some("it's")),
        "{found:?}"
    );
    assert_eq!((&found[0], &found[0]), (&found[1], &found[2]));
    assert_eq!((&told[0], &told[0]), (&told[1], &told[2]));
    assert!(
        told[0][0].starts_with("10|1|12.5") || told[0][0].starts_with("20|2|-0.5"),
        "{told:?}"
    );
    values_are_missed(connection, read);
}

fn values_are_missed(connection: &mut dyn Connection, read: impl Fn(u64, u64) -> Json) {
    let use_n =
        |value: Json| json!({"name": "use", "sql": "INSERT INTO copied (n) VALUES (:n)", "params": {"n": value}});
    let as_it_is = json!({"gen": "ref", "of": "n"});
    let one_more = json!({"gen": "row", "expr": ["+", "n", 1]});
    for mode in ["prepared", "text"] {
        let mut error = |id: u64, value: &Json, columns: usize| {
            let mut read = read(id, id);
            read["keep"] = json!(vec!["n", "a", "b", "c", "d", "e", "f"][..columns]);
            let test = with_mode(&json!({"name": "t", "statements": [read, use_n(value.clone())]}), mode);
            let ran = run(connection, &program(test, 1), Mode::Prepared, 1);
            ran.map_err(|error| (error.class, error.message)).err()
        };
        let (class, message) = error(9, &as_it_is, 1).unwrap();
        assert_eq!(
            (class, message.as_str()),
            (
                ErrorClass::NoRow,
                "test \"t\", statement \"read\": no row, and others need its values"
            )
        );
        assert_eq!(error(3, &as_it_is, 1), None);
        let (class, message) = error(3, &one_more, 1).unwrap();
        assert_eq!(class, ErrorClass::Other);
        assert!(
            message.ends_with("statement \"read\": \"n\" is NULL, where a number is needed"),
            "{message}"
        );
        let (_, message) = error(1, &as_it_is, 7).unwrap();
        assert!(
            message.contains("the result has 6 columns, and `keep` names 7"),
            "{message}"
        );
        assert_eq!(error(1, &as_it_is, 6), None);
    }
}
