//! A real MySQL server through the engine's program, beside SQLite: the same test gives the same answers.
//!
//! Left out unless `DBVERSUS_TEST_MYSQL_SOCKET` names its socket; see tests/wire/mysql.rs.

use crate::harness::{Engine, Scratch, load, mixed_test};
use crate::skip::variable;
use serde_json::json;

const ROWS: u64 = 5000;

#[test]
fn mysql_gives_the_answers_that_sqlite_gives() {
    let Some(socket) = variable("DBVERSUS_TEST_MYSQL_SOCKET") else {
        return;
    };
    let setting = |name: &str| {
        let variable = format!("DBVERSUS_TEST_MYSQL_{name}");
        std::env::var(variable).unwrap_or_else(|_| "dbversus".to_owned())
    };
    let scratch = Scratch::new("beside-mysql");
    let mut engine = Engine::start();
    let path = scratch.path().join("a.db");
    engine.done(json!({"cmd": "target", "name": "sqlite", "wire": "sqlite", "address": {"path": path}}));
    let address = json!({"socket": socket, "user": setting("USER"), "database": setting("DATABASE")});
    engine.done(json!({"cmd": "target", "name": "mysql", "wire": "mysql", "address": address}));
    engine.done(json!({"cmd": "query", "target": "mysql", "sql": "DROP TABLE IF EXISTS sbtest1"}));
    let targets = ["sqlite", "mysql"];
    for target in targets {
        engine.done(load(target, ROWS));
    }
    let mut test = mixed_test(ROWS);
    let sum = json!({"name": "sum", "sql": "SELECT SUM(k), COUNT(*), MIN(c) FROM sbtest{table} WHERE id IN (:ids)",
        "params": {"ids": {"gen": "uniform", "low": 1, "high": ROWS, "count": 10}}});
    let insert = json!({"name": "insert", "sql": "INSERT INTO sbtest{table} (id, k, c) VALUES (:new, :new, :c)",
        "params": {"new": {"gen": "sequence", "start": 0}, "c": {"gen": "text", "template": "##'@\\ @@"}}});
    let delete = json!({"name": "delete", "sql": "DELETE FROM sbtest{table} WHERE id = :gone",
        "params": {"gone": {"gen": "uniform", "low": 1, "high": ROWS}}});
    let statements = test["statements"].as_array_mut().unwrap();
    statements.extend([sum, insert, delete]);
    for (number, mode) in (0..).zip(["prepared", "unprepared"]) {
        for clients in [1, 3] {
            // Sequences start anew with each test that is opened.
            test["statements"][4]["params"]["new"]["start"] = json!(ROWS + 1000 * (10 * number + clients));
            engine.done(json!({"cmd": "open", "targets": targets, "clients": clients, "mode": mode, "test": test}));
            let checked =
                engine.done(json!({"cmd": "check", "events": 100, "seed": clients + number}))["targets"].clone();
            assert_eq!(checked["sqlite"], checked["mysql"], "{mode}, {clients} clients");
            assert!(checked["mysql"]["affected"].as_u64() >= Some(200), "{checked}");
        }
    }
    let lines = engine.all(
        json!({"cmd": "rows", "seed": 3, "orders": [["mysql", "sqlite"]], "settle": {"ops": 3}, "slot": {"ops": 90}}),
    );
    for slot in lines[0]["slots"].as_array().unwrap() {
        assert_eq!(
            (&slot["ops"], &slot["statements"]),
            (&json!(90), &json!(90 * 8)),
            "{slot}"
        );
    }
    engine.done(json!({"cmd": "query", "target": "mysql", "sql": "DROP TABLE sbtest1"}));
    assert!(engine.quits());
}
