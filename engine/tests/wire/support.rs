//! What the tests of all wires share: the reference method's table, and tests that touch it in every way.

#![allow(dead_code, reason = "every test file uses a part of it")]

use dbversus_engine::drive::lane::{EventSink, Lane};
use dbversus_engine::wire::{Connection, RowSink, Tally, WireResult};
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
