//! What happens when the engine runs out of what it needs: descriptors, a control group, somebody who reads.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use crate::harness::{Engine, children_of, point_test};
use crate::skip::skip;
use crate::tree::{BUSY, PATIENCE, Tree, state_of, wait_for};
use serde_json::{Value, json};

fn null_target(name: &str, more: Value) -> Value {
    let mut target = json!({"cmd": "target", "name": name, "wire": "null", "address": {}});
    target
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    target
}

#[test]
fn the_soft_limit_of_open_files_is_no_limit() {
    let mut engine = Engine::start_limited("-Sn 32");
    engine.done(null_target("a", json!({})));
    engine.done(json!({"cmd": "open", "targets": ["a"], "clients": 20, "test": point_test(10)}));
    assert!(engine.quits());
}

#[test]
fn processes_that_cannot_be_read_make_sums_unknown_and_are_told() {
    let mut server =
        Tree::start("read line; for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3 4 5; do sleep 60 & done; done; wait");
    let mut engine = Engine::start_limited("-n 64");
    engine.done(null_target("a", json!({"account": {"root_pid": server.pid()}})));
    engine.done(json!({"cmd": "open", "targets": ["a"], "test": point_test(10)}));
    let rows = json!({"cmd": "rows", "seed": 1, "orders": [["a"]], "settle": {"ops": 0}, "slot": {"ms": 20}});
    let before = engine.all(rows.clone());
    assert!(before[0]["slots"][0]["server_cpu_ns"].is_u64(), "{before:?}");
    server.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    wait_for("forty children", || children_of(server.pid()).len() == 40);
    let lines = engine.all(rows);
    let slot = &lines[0]["slots"][0];
    for figure in [
        "server_cpu_ns",
        "server_minor_faults",
        "server_write_calls",
        "server_read_call_bytes",
        "server_write_call_bytes",
        "server_switches",
    ] {
        assert!(slot[figure].is_null(), "{slot}");
    }
    let notes = lines[1]["accounting_notes"].to_string();
    assert!(
        notes.contains("not all of them can be read: Too many open files"),
        "{notes}"
    );
    assert!(engine.quits());
}

#[test]
fn a_freezer_that_is_gone_stops_the_rows_and_what_was_measured_is_told() {
    let group = PathBuf::from(format!("/sys/fs/cgroup/freezer/dbversus-gone-{}", std::process::id()));
    if fs::create_dir(&group).is_err() {
        return skip("no control group with freezer.state that we may use");
    }
    let mut engine = Engine::start();
    engine.done(null_target("a", json!({"freeze": {"kind": "v1", "freezer": group}})));
    engine.done(json!({"cmd": "open", "targets": ["a"], "test": point_test(10)}));
    let orders = vec![["a"]; 100_000];
    engine.send(&json!({"cmd": "rows", "seed": 1, "orders": orders, "settle": {"ops": 0}, "slot": {"ms": 1}}));
    engine.read_lines(3);
    fs::remove_dir(&group).unwrap();
    let end = engine.read_to_end().pop().unwrap();
    assert_eq!(
        (&end["stopped"]["target"], &end["stopped"]["kind"]),
        (&json!("a"), &json!("io")),
        "{end}"
    );
    assert!(
        end["stopped"]["message"].as_str().unwrap().contains("freezer.state"),
        "{end}"
    );
    assert!(end["latency"]["a"].as_str().unwrap().starts_with("HISTFAAAA"), "{end}");
    assert!(engine.quits());
}

#[test]
fn a_command_that_says_nothing_ends_when_nobody_reads_any_more() {
    let server = Tree::start(BUSY);
    let mut engine = Engine::start();
    let frozen = json!({"account": {"root_pid": server.pid()}, "freeze": {"kind": "signal"}});
    engine.done(null_target("a", frozen));
    engine.done(null_target("b", json!({})));
    engine.done(json!({"cmd": "open", "targets": ["a", "b"], "test": point_test(10)}));
    engine.send(&json!({"cmd": "rows", "seed": 1, "orders": [["b"]], "settle": {"ops": 0}, "slot": {"ms": 2 * PATIENCE.as_millis() as u64}}));
    wait_for("the other target to be frozen", || state_of(server.pid()) == 'T');
    let began = Instant::now();
    engine.abandon();
    assert!(began.elapsed() < PATIENCE, "the slot was waited for");
    wait_for("the server to run again", || state_of(server.pid()) == 'R');
}
