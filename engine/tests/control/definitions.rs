//! Targets with tests of their own: other SQL, the same values.

use crate::harness::{Engine, Scratch, load};
use serde_json::{Value, json};

const ROWS: u64 = 200;

fn test(sql: &str) -> Value {
    json!({"name": "point", "statements": [
        {"name": "point", "sql": sql, "params": {"id": {"gen": "uniform", "low": 1, "high": ROWS}}}]})
}

fn engine_on(scratch: &Scratch, targets: &[&str]) -> Engine {
    let mut engine = Engine::start();
    for name in targets {
        let path = scratch.path().join(format!("{name}.db"));
        engine.done(json!({"cmd": "target", "name": name, "wire": "sqlite", "address": {"path": path}}));
        engine.done(load(name, ROWS));
    }
    engine
}

#[test]
fn each_target_runs_its_own_sql_with_the_same_values() {
    let scratch = Scratch::new("own-tests");
    let mut engine = engine_on(&scratch, &["a", "b", "c"]);
    let common = test("SELECT id, c FROM sbtest{table} WHERE id = :id");
    let same = test("SELECT id, c FROM sbtest{table} WHERE id + 0 = :id + 0");
    let twice = test("SELECT id, c FROM sbtest{table} WHERE id = :id UNION ALL SELECT 0, 'x'");
    engine.done(
        json!({"cmd": "open", "targets": ["a", "b", "c"], "clients": 2, "test": common, "tests": {"b": same, "c": twice}}),
    );
    let checked = engine.done(json!({"cmd": "check", "events": 20, "seed": 7}))["targets"].clone();
    assert_eq!(checked["a"], checked["b"]);
    assert_eq!((&checked["a"]["rows"], &checked["c"]["rows"]), (&json!(20), &json!(40)));
    let orders = json!([["a", "b", "c"], ["c", "b", "a"]]);
    let lines =
        engine.all(json!({"cmd": "rows", "seed": 3, "orders": orders, "settle": {"ops": 1}, "slot": {"ops": 50}}));
    for slot in lines[..2].iter().flat_map(|row| row["slots"].as_array().unwrap()) {
        let rows = if slot["target"] == "c" { 100 } else { 50 };
        assert_eq!((&slot["ops"], &slot["rows"]), (&json!(50), &json!(rows)), "{slot}");
    }
    assert!(engine.quits());
}

#[test]
fn tests_with_other_values_are_refused_and_named() {
    let scratch = Scratch::new("other-values");
    let mut engine = engine_on(&scratch, &["a", "b"]);
    let common = test("SELECT c FROM sbtest{table} WHERE id = :id");
    let mut narrow = common.clone();
    narrow["statements"][0]["params"]["id"]["high"] = json!(9);
    for (tests, target, words) in [
        (
            json!({"b": narrow}),
            json!("b"),
            "`tests`: statement \"point\": `params` differs",
        ),
        (
            json!({"z": common}),
            Value::Null,
            "`tests`: \"z\" is no target of this test; accepted are a, b",
        ),
        (
            json!({"b": {"name": "none", "statements": []}}),
            Value::Null,
            "`statements` is empty",
        ),
    ] {
        let open = json!({"cmd": "open", "targets": ["a", "b"], "test": common, "tests": tests});
        let error = engine.last(open)["error"].clone();
        assert_eq!(
            (&error["kind"], &error["target"]),
            (&json!("usage"), &target),
            "{error}"
        );
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
    assert!(engine.quits());
}

#[test]
fn each_connection_executes_the_session_sql_of_its_target_first() {
    let scratch = Scratch::new("session-sql");
    let mut engine = engine_on(&scratch, &["a", "b"]);
    let sql = "SELECT cache_size FROM pragma_cache_size WHERE :id > 0";
    let with = |session_sql: &str| {
        let mut made = test(sql);
        made["session_sql"] = json!([session_sql]);
        made
    };
    let tests = json!({"b": with("PRAGMA cache_size = -4321")});
    engine
        .done(json!({"cmd": "open", "targets": ["a", "b"], "test": with("PRAGMA cache_size = -1234"), "tests": tests}));
    let checked = engine.done(json!({"cmd": "check", "events": 1, "seed": 7}))["targets"].clone();
    assert_ne!(checked["a"]["checksum"], checked["b"]["checksum"], "{checked}");
    engine.done(json!({"cmd": "open", "targets": ["a", "b"], "test": with("PRAGMA cache_size = -4321")}));
    let alike = engine.done(json!({"cmd": "check", "events": 1, "seed": 7}))["targets"].clone();
    assert_eq!(alike["a"]["checksum"], checked["b"]["checksum"]);
    let error = engine.last(json!({"cmd": "open", "targets": ["a"], "test": with("SETT x")}))["error"].clone();
    assert_eq!((&error["kind"], &error["target"]), (&json!("server"), &json!("a")));
    let words = error["message"].as_str().unwrap();
    assert!(
        words.starts_with("test \"point\", session_sql \"SETT x\": near"),
        "{words}"
    );
    assert!(engine.quits());
}
