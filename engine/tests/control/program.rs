//! The engine's program from outside: lines in, lines out.

use std::process::Command;

use crate::harness::{self, Engine, Scratch, point_test};
use crate::tree::{BUSY, Tree, state_of, wait_for};
use serde_json::{Value, json};

const SERVER_FIGURES: [&str; 15] = [
    "server_cpu_ns",
    "server_user_ns",
    "server_system_ns",
    "server_foreground_cpu_ns",
    "server_background_cpu_ns",
    "server_wait_ns",
    "server_switches",
    "server_minor_faults",
    "server_major_faults",
    "server_read_bytes",
    "server_write_bytes",
    "server_read_calls",
    "server_write_calls",
    "server_read_call_bytes",
    "server_write_call_bytes",
];

const DISK_FIGURES: [&str; 12] = [
    "disk_reads",
    "disk_writes",
    "disk_read_bytes",
    "disk_write_bytes",
    "device_reads",
    "device_writes",
    "device_read_bytes",
    "device_write_bytes",
    "device_read_ns",
    "device_write_ns",
    "device_busy_ns",
    "device_queue_ns",
];

#[test]
fn a_slot_has_figures_of_the_disk_that_was_named_and_a_note_on_whose_they_are() {
    let mut engine = Engine::start();
    let folder = env!("CARGO_MANIFEST_DIR");
    for (name, disk) in [("a", json!({"path": folder})), ("b", Value::Null)] {
        engine.done(json!({"cmd": "target", "name": name, "wire": "null", "address": {}, "disk": disk}));
    }
    engine.done(json!({"cmd": "open", "targets": ["a", "b"], "test": point_test(10)}));
    let rows = json!({"cmd": "rows", "seed": 1, "orders": [["a", "b"]], "settle": {"ops": 0}, "slot": {"ms": 5}});
    let lines = engine.all(rows);
    let notes = lines[1]["accounting_notes"].to_string();
    let is_known = notes.contains("disk reads and writes are those of the whole device");
    assert!(
        is_known || notes.contains("disk reads and writes are unknown"),
        "{notes}"
    );
    for figure in DISK_FIGURES {
        assert_eq!(lines[0]["slots"][0][figure].is_u64(), is_known, "{figure}: {lines:?}");
        assert!(lines[0]["slots"][1][figure].is_null(), "{figure}: {lines:?}");
    }
    assert!(engine.quits());
}

#[test]
fn hello_tells_versions_and_wires() {
    let hello = Engine::start().last(json!({"cmd": "hello", "id": 1}));
    assert_eq!(
        (&hello["id"], &hello["protocol"], &hello["done"]),
        (&json!(1), &json!(1), &json!(true))
    );
    assert_eq!(hello["engine"], env!("CARGO_PKG_VERSION"));
    let wires = hello["wires"].as_array().unwrap();
    assert!(
        ["null", "postgres", "sqlite"]
            .iter()
            .all(|wire| wires.contains(&json!(wire)))
    );
    assert!(hello["sqlite_bundled"].as_str().unwrap().starts_with("3."));
}

#[test]
fn help_and_version_are_short_and_unknown_arguments_are_wrong_use() {
    let run = |argument: &str| {
        Command::new(env!("CARGO_BIN_EXE_dbversus-engine"))
            .arg(argument)
            .output()
            .unwrap()
    };
    let text = |output: Vec<u8>| String::from_utf8(output).unwrap();
    assert!(text(run("--help").stdout).contains("docs/engine-protocol.md"));
    assert_eq!(
        text(run("--version").stdout),
        format!("dbversus-engine {}\n", env!("CARGO_PKG_VERSION"))
    );
    let wrong = run("--fast");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(wrong.stderr).contains("guard"));
}

#[test]
fn wrong_commands_are_answered_and_the_engine_goes_on() {
    let mut engine = Engine::start();
    let null = json!({"cmd": "target", "name": "n", "wire": "null", "address": {}});
    engine.done(null.clone());
    for (command, words) in [
        (json!({"cmd": "fly"}), "accepted are hello"),
        (
            json!({"cmd": "rows", "seed": 1, "orders": [], "settle": {"ms": 1}, "slot": {"ms": 1}}),
            "no test is open",
        ),
        (
            json!({"cmd": "rows", "seed": 1, "orders": [], "settle": {"ms": 1}, "slot": {}}),
            "`slot`",
        ),
        (
            json!({"cmd": "drop", "target": "x"}),
            "there is no target \"x\"; accepted are n",
        ),
        (
            json!({"cmd": "open", "targets": ["n", "n"], "test": point_test(10)}),
            "named twice",
        ),
        (
            json!({"cmd": "open", "targets": [], "test": point_test(10)}),
            "`targets` is empty",
        ),
        (json!({"cmd": "open", "targets": ["n"], "test": {"name": 5}}), "test"),
        (
            json!({"cmd": "open", "targets": ["n"], "cpus": [9999], "test": point_test(10)}),
            "`cpus`",
        ),
        (
            json!({"cmd": "open", "targets": ["n"], "foreground_cpus": [-1], "test": point_test(10)}),
            "`foreground_cpus[0]`",
        ),
        (null.clone(), "there is a target \"n\" already"),
        (
            json!({"cmd": "target", "name": "m", "wire": "fax", "address": {}}),
            "fax",
        ),
        (
            json!({"cmd": "target", "name": "m", "wire": "null", "address": {}, "account": {"root_pid": 999_999_999}}),
            "process 999999999",
        ),
        (
            json!({"cmd": "target", "name": "m", "wire": "null", "address": {}, "freeze": {"kind": "v1", "freezer": "/nowhere"}}),
            "there is no /nowhere/freezer.state",
        ),
    ] {
        let mut asked = command.clone();
        asked["id"] = json!("x");
        let answer = engine.last(asked);
        assert_eq!(
            (&answer["error"]["kind"], &answer["id"]),
            (&json!("usage"), &json!("x")),
            "{command}: {answer}"
        );
        assert!(
            answer["error"]["message"].as_str().unwrap().contains(words),
            "{command}: {answer}"
        );
    }
    assert!(engine.quits());
}

#[test]
fn a_server_that_is_not_there_is_named_and_the_engine_goes_on() {
    let mut engine = Engine::start();
    let unreachable = json!({"socket_dir": "/nowhere", "user": "u", "database": "d"});
    engine.done(json!({"cmd": "target", "name": "p", "wire": "postgres", "address": unreachable}));
    let failed = engine.last(json!({"cmd": "query", "target": "p", "sql": "SELECT 1"}));
    assert_eq!(
        (&failed["error"]["kind"], &failed["error"]["target"]),
        (&json!("connect"), &json!("p")),
        "{failed}"
    );
    assert!(engine.quits());
}

#[test]
fn the_null_wire_gives_whole_rows_in_the_order_asked_for() {
    let mut engine = Engine::start();
    for name in ["a", "b"] {
        engine.done(json!({"cmd": "target", "name": name, "wire": "null", "address": {"reply_bytes": 100}}));
    }
    for clients in [1, 3] {
        let opened = engine.done(
            json!({"cmd": "open", "targets": ["a", "b"], "clients": clients, "cpus": [0], "foreground_cpus": [0],
            "test": point_test(1000)}),
        );
        assert!(opened["backends"]["a"].is_array());
        let lines = engine.all(
            json!({"cmd": "rows", "id": 7, "tag": {"test": "t"}, "seed": 1, "first_row": 40,
            "orders": [["a", "b"], ["b", "a"], ["b"]], "settle": {"ms": 1, "min_ops": 1},
            "settle_again": {"ops": 3}, "slot": {"ms": 5, "min_ops": 100}}),
        );
        assert_eq!(lines.len(), 4);
        let (end, rows) = lines.split_last().unwrap();
        assert!(end["latency"]["a"].as_str().unwrap().starts_with("HISTFAAAA"), "{end}");
        assert!(end.get("service").is_none() && end.get("stopped").is_none() && end["accounting_notes"].is_array());
        for (row, (number, order)) in rows
            .iter()
            .zip([(40, vec!["a", "b"]), (41, vec!["b", "a"]), (42, vec!["b"])])
        {
            assert_eq!(
                (&row["row"], &row["order"], &row["id"]),
                (&json!(number), &json!(order), &json!(7))
            );
            assert_eq!(row["tag"], json!({"test": "t"}));
            check_row(row);
        }
        // Of the rows only the second begins with who had the last turn.
        assert_eq!(rows[1]["slots"][0]["settle_ops"], json!(3));
    }
    assert!(engine.quits());
}

/// Every field that is documented is there, and counts agree with each other.
fn check_row(row: &Value) {
    assert!(row["started_unix_ns"].as_u64().unwrap() > 1_700_000_000_000_000_000);
    for field in [
        "wall_ns",
        "foreign_cpu_ns",
        "steal_ns",
        "psi_cpu_us",
        "psi_io_us",
        "psi_memory_us",
    ] {
        assert!(row["host"][field].is_u64() || row["host"][field].is_null() && row["host"].get(field).is_some());
    }
    for (position, slot) in row["slots"].as_array().unwrap().iter().enumerate() {
        let count = |field: &str| slot[field].as_u64().unwrap_or_else(|| panic!("{field} in {slot}"));
        assert_eq!(
            (count("position"), &slot["target"]),
            (position as u64, &row["order"][position])
        );
        assert!(count("settle_ops") > 0);
        assert!(count("ops") >= 100 && count("statements") == count("ops") && count("elapsed_ns") >= 5_000_000);
        let ordered = ["p50_ns", "p95_ns", "p99_ns", "max_ns"].map(count);
        assert!(ordered.is_sorted() && ordered[0] > 0 && count("mean_ns") > 0, "{slot}");
        assert_eq!(count("affected"), 0);
        assert!(slot.get("roles").is_none(), "{slot}");
        assert_eq!(slot["errors"], json!({}));
        assert!(SERVER_FIGURES.iter().all(|field| slot.get(field).is_some()), "{slot}");
        assert!(count("client_cpu_ns") > 0 && slot["client_switches"].is_u64());
    }
}

#[test]
fn fixed_counts_are_shared_out() {
    let mut engine = Engine::start();
    engine.done(json!({"cmd": "target", "name": "a", "wire": "null", "address": {}}));
    engine.done(json!({"cmd": "open", "targets": ["a"], "clients": 3, "test": point_test(10)}));
    let rows = json!({"cmd": "rows", "seed": 1, "orders": [["a"]], "settle": {"ops": 0}, "slot": {"ops": 100}});
    assert_eq!(engine.all(rows)[0]["slots"][0]["ops"], 100);
}

/// Two kinds of clients: one reads as fast as it can, three send 1000 events per second together.
fn roles_test() -> Value {
    let statements = point_test(10)["statements"].clone();
    json!({"name": "mixed", "roles": [
        {"name": "reader", "statements": statements},
        {"name": "steady", "clients": 3, "counted": false, "statements": statements,
         "arrivals": {"kind": "constant", "rate": 1000}}]})
}

#[test]
fn roles_have_figures_of_their_own_and_schedules_run_on_across_slots() {
    let mut engine = Engine::start();
    for name in ["a", "b"] {
        engine.done(json!({"cmd": "target", "name": name, "wire": "null", "address": {}}));
    }
    engine.done(json!({"cmd": "open", "targets": ["a", "b"], "test": roles_test()}));
    let orders = vec![json!(["a", "b"]); 20];
    let rows =
        json!({"cmd": "rows", "seed": 1, "orders": orders, "settle": {"ops": 0}, "slot": {"ms": 10, "min_ops": 1}});
    let told = engine.all(rows);
    for target in 0..2 {
        let slots: Vec<&Value> = told[..20].iter().map(|row| &row["slots"][target]).collect();
        let sum = |role: &str, field: &str| -> u64 {
            slots
                .iter()
                .map(|slot| slot["roles"][role][field].as_u64().unwrap())
                .sum()
        };
        assert!(
            slots.iter().all(|slot| slot["ops"] == slot["roles"]["reader"]["ops"]),
            "{}",
            slots[0]
        );
        // No event is lost at the edges of slots: what was overdue at the end of one was sent in the next.
        let overdue = slots[19]["roles"]["steady"]["overdue"].as_u64().unwrap();
        assert_eq!(sum("steady", "ops") + overdue, sum("steady", "scheduled"));
        let driven_ns: u64 = slots.iter().map(|slot| slot["elapsed_ns"].as_u64().unwrap()).sum();
        // What was due while the last slot was on its way to its end may be missing.
        let last_ns = slots[19]["elapsed_ns"].as_u64().unwrap();
        let expected = (driven_ns - last_ns) / 1_000_000 - 4..=driven_ns / 1_000_000 + 4;
        let scheduled = sum("steady", "scheduled");
        assert!(expected.contains(&scheduled), "{scheduled}, expected {expected:?}");
        assert!(sum("reader", "ops") >= 20 && slots[0]["roles"]["reader"].get("late").is_none());
    }
    let end = &told[20];
    assert!(
        end["roles"]["a"]["steady"]["service"]
            .as_str()
            .unwrap()
            .starts_with("HISTFAAAA")
    );
    assert_eq!(end["roles"]["a"]["reader"]["latency"], end["latency"]["a"]);
    let by_count = json!({"cmd": "rows", "seed": 1, "orders": [["a"]], "settle": {"ops": 0}, "slot": {"ops": 9}});
    let refused = engine.last(by_count);
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`slot.ops` is not accepted"),
        "{refused}"
    );
    let checked = engine.last(json!({"cmd": "check", "events": 3, "seed": 1}));
    assert_eq!(
        checked["targets"]["a"]["statements"][1]["name"], "steady/point",
        "{checked}"
    );
}

#[test]
fn what_a_row_measured_that_was_not_finished_is_in_no_total() {
    let scratch = Scratch::new("unfinished");
    let mut engine = Engine::start();
    for name in ["a", "b"] {
        let address = json!({"path": scratch.path().join(name)});
        engine.done(json!({"cmd": "target", "name": name, "wire": "sqlite", "address": address}));
        engine.done(harness::load(name, 100));
    }
    engine.done(json!({"cmd": "query", "target": "b", "sql":
        "CREATE TRIGGER no BEFORE UPDATE ON sbtest1 BEGIN SELECT RAISE(ABORT, 'not today'); END"}));
    engine.done(json!({"cmd": "open", "targets": ["a", "b"], "test": harness::mixed_test(100)}));
    let rows =
        |orders: Value| json!({"cmd": "rows", "seed": 3, "orders": orders, "settle": {"ops": 1}, "slot": {"ops": 5}});
    let nothing = engine.last(rows(json!([])));
    let broken = engine.all(rows(json!([["a", "b"]])));
    assert_eq!((broken.len(), &broken[0]["stopped"]["target"]), (1, &json!("b")));
    assert_eq!(broken[0]["latency"], nothing["latency"]);
    let finished = engine.all(rows(json!([["a"], ["a", "b"]])));
    assert_eq!((finished.len(), &finished[1]["stopped"]["row"]), (2, &json!(1)));
    assert_ne!(finished[1]["latency"]["a"], nothing["latency"]["a"]);
    let twice = engine.last(rows(json!([["a", "b"], ["a", "a"]])));
    assert_eq!(twice["error"]["message"], "`orders`: \"a\" is named twice");
}

#[test]
fn two_sqlite_targets_do_the_same_work_from_the_same_seed() {
    let scratch = Scratch::new("sqlite");
    let mut engine = Engine::start();
    for name in ["a", "b"] {
        let path = scratch.path().join(name);
        engine.done(
            json!({"cmd": "target", "name": name, "wire": "sqlite", "address": {"path": path, "library": "bundled"}}),
        );
        let loaded = engine.done(harness::load(name, 2000));
        assert_eq!(loaded["rows"], 2000);
        let figure = |field: &str| loaded[field].as_u64().unwrap_or_else(|| panic!("{field} in {loaded}"));
        assert!(figure("elapsed_ns") >= figure("insert_ns") + figure("after_ns"));
        assert!(figure("server_cpu_ns") > 0 && figure("client_cpu_ns") == 0);
        let count =
            engine.done(json!({"cmd": "query", "target": name, "sql": "SELECT count(*) AS n, NULL AS x FROM sbtest1"}));
        assert_eq!(
            (&count["columns"], &count["rows"]),
            (&json!(["n", "x"]), &json!([["2000", null]]))
        );
    }
    let range = harness::mixed_test(2000);
    engine.done(json!({"cmd": "open", "targets": ["a", "b"], "test": range}));
    let checked = engine.done(json!({"cmd": "check", "events": 20, "seed": 7}));
    assert_eq!(checked["targets"]["a"], checked["targets"]["b"]);
    let statements = checked["targets"]["a"]["statements"].as_array().unwrap();
    let of = |name: &str| statements.iter().find(|statement| statement["name"] == name).unwrap();
    assert_eq!(
        (&of("point")["rows"], &of("update")["affected"]),
        (&json!(20), &json!(20))
    );
    assert_ne!(of("point")["checksum"], of("update")["checksum"]);

    let lines = engine.all(json!({"cmd": "rows", "seed": 3, "orders": [["a", "b"], ["b", "a"]],
        "settle": {"ops": 5}, "slot": {"ops": 50}}));
    for row in &lines[..2] {
        let slots = row["slots"].as_array().unwrap();
        let work = |slot: &Value| ["ops", "statements", "rows", "affected"].map(|field| slot[field].as_u64().unwrap());
        assert_eq!(work(&slots[0]), work(&slots[1]));
        assert_eq!(slots[0]["ops"], 50);
        assert!(
            slots
                .iter()
                .all(|slot| slot["server_cpu_ns"].as_u64() > Some(0) && slot["client_cpu_ns"] == 0)
        );
        assert!(
            slots
                .iter()
                .all(|slot| slot["server_background_cpu_ns"] == 0 && slot["server_write_calls"].is_u64())
        );
    }
    let changed = engine.done(json!({"cmd": "check", "events": 20, "seed": 8}));
    assert_eq!(changed["targets"]["a"], changed["targets"]["b"]);
    assert_ne!(changed["targets"]["a"]["checksum"], checked["targets"]["a"]["checksum"]);

    engine.done(json!({"cmd": "query", "target": "b", "sql": "UPDATE sbtest1 SET c = 'other' WHERE id <= 1000"}));
    let differs = engine.done(json!({"cmd": "check", "events": 20, "seed": 9}));
    assert_ne!(differs["targets"]["a"]["checksum"], differs["targets"]["b"]["checksum"]);
    assert!(engine.quits());
}

#[test]
fn statements_that_always_fail_stop_the_command_with_the_servers_words() {
    let scratch = Scratch::new("failing");
    let mut engine = Engine::start();
    let address = json!({"path": scratch.path().join("a")});
    engine.done(json!({"cmd": "target", "name": "a", "wire": "sqlite", "address": address}));
    engine.done(harness::load("a", 100));
    engine.done(json!({"cmd": "query", "target": "a", "sql":
        "CREATE TRIGGER no BEFORE UPDATE ON sbtest1 BEGIN SELECT RAISE(ABORT, 'not today'); END"}));
    engine.done(json!({"cmd": "open", "targets": ["a"], "test": harness::mixed_test(100)}));
    let rows = json!({"cmd": "rows", "seed": 3, "orders": [["a"]], "settle": {"ops": 5}, "slot": {"ms": 5}});
    let lines = engine.all(rows);
    assert_eq!(lines.len(), 1);
    let stopped = &lines[0]["stopped"];
    assert_eq!(
        (&stopped["target"], &stopped["row"], &stopped["kind"]),
        (&json!("a"), &json!(0), &json!("server"))
    );
    assert!(stopped["message"].as_str().unwrap().contains("not today"), "{stopped}");
    let failed = engine.last(json!({"cmd": "open", "targets": ["a"], "test": harness::select_from("nowhere")}));
    assert_eq!(
        (&failed["error"]["kind"], &failed["error"]["target"]),
        (&json!("server"), &json!("a")),
        "{failed}"
    );
    assert!(failed["error"]["message"].as_str().unwrap().contains("nowhere"));
}

#[test]
fn a_server_is_drained_alone_and_stays_as_frozen_as_it_was() {
    // One works for a while and then rests, the other never does.
    let resting = Tree::start("i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done; exec sleep 600");
    let restless = Tree::start(BUSY);
    let mut engine = Engine::start();
    for (name, server) in [("a", &resting), ("b", &restless)] {
        engine.done(json!({"cmd": "target", "name": name, "wire": "null", "address": {},
            "account": {"root_pid": server.pid()}, "freeze": {"kind": "signal"}}));
    }
    engine.done(json!({"cmd": "freeze", "targets": ["a", "b"]}));
    // A server that gets no CPU for so long looks idle, so it is drained until it had some.
    wait_for("it to be drained", || {
        let drained = engine.done(json!({"cmd": "drain", "target": "a", "idle_ms": 100, "limit_ms": 240_000}));
        assert_eq!(drained["idle"], true, "{drained}");
        assert!(drained["elapsed_ns"].as_u64() >= Some(100_000_000), "{drained}");
        assert!(
            SERVER_FIGURES.iter().all(|field| drained.get(field).is_some()),
            "{drained}"
        );
        drained["server_cpu_ns"].as_u64() > Some(0)
    });
    for server in [&resting, &restless] {
        wait_for("both to be stopped", || state_of(server.pid()) == 'T');
    }
    engine.done(json!({"cmd": "thaw", "targets": ["b"]}));
    wait_for("the limit to be reached", || {
        let limited = engine.done(json!({"cmd": "drain", "target": "b", "idle_ms": 20, "limit_ms": 60}));
        let mut background_ns = limited["background"].as_object().unwrap().values();
        limited["idle"] == false && background_ns.any(|cpu_ns| cpu_ns.as_u64() > Some(0))
    });
    wait_for("it to run on", || state_of(restless.pid()) == 'R');
    let wrong = engine.last(json!({"cmd": "drain", "target": "b", "idle_ms": 2000, "limit_ms": 60}));
    assert!(
        wrong["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`idle_ms` is 2000"),
        "{wrong}"
    );
    let unknown = engine.last(json!({"cmd": "drain", "target": "x"}));
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("accepted are a, b"),
        "{unknown}"
    );
    assert!(engine.quits());
}

#[test]
fn whatever_is_frozen_is_thawed_when_the_engine_leaves() {
    for way_to_go in ["end of input", "signal"] {
        let server = Tree::start(BUSY);
        let mut engine = Engine::start();
        engine.done(json!({"cmd": "target", "name": "a", "wire": "null", "address": {},
            "account": {"root_pid": server.pid()}, "freeze": {"kind": "signal"}}));
        engine.done(json!({"cmd": "freeze", "targets": ["a"]}));
        let pid = server.pid();
        wait_for("the server to be stopped", || state_of(pid) == 'T');
        if way_to_go == "signal" {
            assert!(engine.terminate());
        } else {
            assert!(engine.quits_at_end_of_input());
        }
        wait_for("the server to run again", || state_of(pid) == 'R');
    }
}

#[test]
fn a_script_goes_on_with_its_connection_behind_what_was_refused() {
    let scratch = Scratch::new("script");
    let (path, file) = (scratch.path().join("x.db"), scratch.path().join("x.sql"));
    std::fs::write(&file, "CREATE TEMP TABLE t (x); NOPE; INSERT INTO t VALUES (1)").unwrap();
    let mut engine = Engine::start();
    engine.done(json!({"cmd": "target", "name": "a", "wire": "sqlite", "address": {"path": path}}));
    let mut script = |pieces: Value, more: bool| {
        engine.done(json!({"cmd": "script", "target": "a", "file": &file, "pieces": pieces, "more": more}))
    };
    let first = script(json!([{"sql": [0, 23]}, {"sql": [25, 4]}, {"sql": [31, 24]}]), true);
    assert_eq!(first["done_pieces"], 1);
    assert!(first["failed"].as_str().unwrap().contains("syntax error"));
    // temporary tables are those of one connection
    let rest = script(json!([{"sql": [31, 24]}]), false);
    assert_eq!((&rest["done_pieces"], &rest["failed"]), (&json!(1), &Value::Null));
    let anew = script(json!([{"sql": [31, 24]}]), false);
    assert!(anew["failed"].as_str().unwrap().contains("no such table"));
}

#[test]
fn seconds_are_told_beside_the_rows_where_they_are_asked_for() {
    let mut engine = Engine::start();
    engine.done(json!({"cmd": "target", "name": "a", "wire": "null", "address": {"reply_bytes": 100}}));
    engine.done(json!({"cmd": "open", "targets": ["a"], "clients": 2, "test": point_test(1000)}));
    let lines = engine.all(
        json!({"cmd": "rows", "seed": 1, "tag": {"test": "t"}, "orders": [["a"]], "series": true,
        "settle": {"ops": 2}, "slot": {"ms": 3100}}),
    );
    let seconds: Vec<_> = lines
        .iter()
        .filter_map(|line| line["series"].as_array())
        .flatten()
        .collect();
    let row = lines.iter().find(|line| line["slots"].is_array()).unwrap();
    let sum = |name: &str| seconds.iter().map(|one| one[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        (seconds[0]["target"].as_str(), seconds[0]["second"].as_u64()),
        (Some("a"), Some(0))
    );
    assert!(seconds.len() >= 2 && sum("elapsed_ns") >= 1_000_000_000, "{seconds:?}");
    assert_eq!(json!(sum("ops")), row["slots"][0]["ops"]);

    let work = engine.all(
        json!({"cmd": "rows", "seed": 1, "orders": [["a"], ["a"]], "settle": {"ops": 0},
        "slot": {"ops": 20_000, "slice_ms": 5}}),
    );
    assert_eq!(work.len(), 3);
    assert!(
        work[..2].iter().all(|row| row["slots"][0]["ops"] == json!(20_000)),
        "{work:?}"
    );
    let (whole, sliced) = (json!({"ops": 1}), json!({"ops": 1, "slice_ms": 5}));
    for (settle, settle_again) in [(&sliced, &whole), (&whole, &sliced)] {
        let refused = engine.last(json!({"cmd": "rows", "seed": 1, "orders": [], "settle": settle,
            "settle_again": settle_again, "slot": {"ops": 1}}));
        assert!(
            refused["error"]["message"]
                .as_str()
                .unwrap()
                .contains("only `slot` may be sliced"),
            "{refused}"
        );
    }
    assert!(engine.quits());
}

#[test]
fn an_operation_may_be_a_connection_and_nothing_else() {
    let scratch = Scratch::new("connect");
    let mut engine = Engine::start();
    engine.done(
        json!({"cmd": "target", "name": "a", "wire": "sqlite", "address": {"path": scratch.path().join("a.db")}}),
    );
    let empty = |connect: bool| {
        let test = json!({"name": "empty", "connect": connect, "statements": []});
        json!({"cmd": "open", "targets": ["a"], "clients": 2, "test": test})
    };
    let refused = engine.last(empty(false));
    assert!(
        refused["error"]["message"].to_string().contains("but with `connect`"),
        "{refused}"
    );
    engine.done(empty(true));
    let checked = engine.done(json!({"cmd": "check", "events": 3, "seed": 1}));
    assert_eq!(checked["targets"]["a"]["rows"], 0);
    let lines =
        engine.all(json!({"cmd": "rows", "seed": 1, "orders": [["a"]], "settle": {"ops": 1}, "slot": {"ops": 40}}));
    let slot = &lines[0]["slots"][0];
    assert_eq!((&slot["ops"], &slot["statements"]), (&json!(40), &json!(0)), "{slot}");
    assert!(slot["server_cpu_ns"].as_u64() > Some(0), "{slot}");
}

#[test]
fn preparing_is_timed_where_the_server_is_within_reach() {
    let scratch = Scratch::new("prepare");
    let mut engine = Engine::start();
    engine.done(
        json!({"cmd": "target", "name": "a", "wire": "sqlite", "address": {"path": scratch.path().join("a.db")}}),
    );
    engine.done(json!({"cmd": "target", "name": "b", "wire": "null", "address": {}}));
    let prepare = |target: &str, sql: &str| json!({"cmd": "prepare", "target": target, "sql": sql, "times": 5});
    let taken = engine.done(prepare("a", "CREATE TABLE t (x)"))["prepare_ns"].clone();
    assert!(
        taken.as_array().unwrap().iter().all(|ns| ns.as_u64() > Some(0)),
        "{taken}"
    );
    for (target, sql, words) in [
        ("a", "SELECT x FROM t", "no such table"),
        ("b", "SELECT 1", "SQLite alone"),
    ] {
        let refused = engine.last(prepare(target, sql));
        assert!(refused["error"]["message"].to_string().contains(words), "{refused}");
    }
}
