//! Real PostgreSQL servers through the engine's program: what is measured, and what happens when one is lost.
//!
//! Left out unless `DBVERSUS_TEST_PG_BIN` names a directory with `initdb` and `postgres`. The servers are the test's own.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::harness::{self, Engine, Scratch, is_alive};
use crate::skip::variable;
use crate::tree::{state_of, wait_for};
use serde_json::{Value, json};

struct Server {
    name: &'static str,
    data: PathBuf,
    socket_dir: PathBuf,
    process: Child,
}

/// PostgreSQL refuses to run as root; `nobody` may.
fn unprivileged(program: &Path) -> Command {
    const NOBODY: u32 = 65534;
    let mut command = Command::new(program);
    command.stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn start(bin: &Path, data: &Path, socket_dir: &Path) -> Child {
    let mut command = unprivileged(&bin.join("postgres"));
    command
        .arg("-D")
        .arg(data)
        .arg("-k")
        .arg(socket_dir)
        .args(["-c", "listen_addresses=", "-c", "fsync=off"]);
    let process = command.process_group(0).spawn().unwrap();
    // The pid file of a server that was killed is still there, and says ready.
    let own = format!("{}\n", process.id());
    wait_for("the server's pid file to say ready", || {
        fs::read_to_string(data.join("postmaster.pid"))
            .is_ok_and(|file| file.starts_with(&own) && file.contains("ready"))
    });
    process
}

impl Server {
    fn create(bin: &Path, scratch: &Path, name: &'static str) -> Self {
        let (data, socket_dir) = (scratch.join(name), scratch.join(format!("{name}.socket")));
        for directory in [&data, &socket_dir] {
            let made = unprivileged(Path::new("mkdir"))
                .args(["-m", "700"])
                .arg(directory)
                .status()
                .unwrap();
            assert!(made.success());
        }
        let made = unprivileged(&bin.join("initdb"))
            .arg("-D")
            .arg(&data)
            .args(["-U", "dbversus", "-A", "trust", "--no-sync"])
            .status()
            .unwrap();
        assert!(made.success());
        let process = start(bin, &data, &socket_dir);
        Self {
            name,
            data,
            socket_dir,
            process,
        }
    }

    fn target(&self) -> Value {
        json!({"cmd": "target", "name": self.name, "wire": "postgres",
            "address": {"socket_dir": self.socket_dir, "port": 5432, "user": "dbversus", "database": "postgres"},
            "account": {"root_pid": self.process.id()}, "freeze": {"kind": "signal"}})
    }

    fn signal(&mut self, signal: i32) {
        // SAFETY: takes numbers alone.
        unsafe { libc::kill(self.process.id() as i32, signal) };
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.process.try_wait().unwrap().is_none() {
            self.signal(libc::SIGQUIT);
        }
    }
}

fn rows(count: usize) -> Value {
    let orders: Vec<_> = [["a", "b"], ["b", "a"]].into_iter().cycle().take(count).collect();
    json!({"cmd": "rows", "seed": 3, "orders": orders, "settle": {"ms": 1}, "slot": {"ms": 10, "min_ops": 2}})
}

#[test]
fn a_lost_server_stops_the_rows_and_the_others_go_on() {
    let Some(bin) = variable("DBVERSUS_TEST_PG_BIN").map(PathBuf::from) else {
        return;
    };
    let scratch = Scratch::new("postgres");
    fs::set_permissions(scratch.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let (a, mut b) = (
        Server::create(&bin, scratch.path(), "a"),
        Server::create(&bin, scratch.path(), "b"),
    );
    let mut engine = Engine::start();
    for server in [&a, &b] {
        engine.done(server.target());
        let loaded = engine.done(harness::load(server.name, 5000));
        assert!(loaded["server_foreground_cpu_ns"].as_u64() > Some(0), "{loaded}");
    }
    let open = json!({"cmd": "open", "targets": ["a", "b"], "clients": 2, "test": harness::mixed_test(5000)});
    let opened = engine.done(open.clone());
    let backends: Vec<i32> = serde_json::from_value(opened["backends"]["b"].clone()).unwrap();
    assert!(
        backends.len() == 2 && backends.iter().all(|pid| is_alive(*pid)),
        "{opened}"
    );
    measured(&engine.all(rows(4)));
    // a process that gets no CPU for so long looks idle
    wait_for("b to work by itself", || {
        drained(&engine.done(json!({"cmd": "drain", "target": "b", "idle_ms": 500, "limit_ms": 240_000})))
    });
    // a process with much to do takes note of the signal when it next gets its CPU
    wait_for("b to be stopped", || state_of(b.process.id() as i32) == 'T');

    engine.send(&rows(10_000));
    engine.read_lines(4);
    b.signal(libc::SIGKILL);
    let end = engine.read_to_end().pop().unwrap();
    assert_eq!(
        (&end["stopped"]["target"], &end["stopped"]["kind"]),
        (&json!("b"), &json!("lost_connection")),
        "{end}"
    );
    assert!(end["stopped"]["row"].as_u64() >= Some(4) && !end["stopped"]["message"].as_str().unwrap().is_empty());
    wait_for("a to be stopped", || state_of(a.process.id() as i32) == 'T');
    wait_for("orphaned backends to end", || {
        backends.iter().all(|pid| !is_alive(*pid))
    });

    let alive = engine.done(json!({"cmd": "query", "target": "a", "sql": "SELECT 1 AS one"}));
    assert_eq!(alive["rows"], json!([["1"]]));
    engine.done(json!({"cmd": "drop", "target": "b"}));
    b.process = start(&bin, &b.data, &b.socket_dir);
    engine.done(b.target());
    engine.done(open);
    let after = engine.all(rows(4));
    measured(&after);
    engine.done(json!({"cmd": "thaw", "targets": ["a", "b"]}));
    assert!(engine.quits());
}

/// The processes that PostgreSQL keeps besides backends are known by name, and backends are not among them.
/// False: they did nothing.
fn drained(answer: &Value) -> bool {
    assert_eq!(answer["idle"], true, "{answer}");
    let kinds = answer["background"].as_object().unwrap();
    if kinds.is_empty() {
        return false;
    }
    let own = ["background writer", "walwriter", "checkpointer", "postgres"];
    assert!(own.iter().any(|kind| kinds.contains_key(*kind)), "{answer}");
    assert!(
        !kinds
            .keys()
            .any(|kind| kind.contains("idle") || kind.contains("[local]")),
        "{answer}"
    );
    let background = answer["server_background_cpu_ns"].as_u64();
    assert!(
        answer["server_cpu_ns"].as_u64() >= background && background > Some(0),
        "{answer}"
    );
    true
}

fn measured(lines: &[Value]) {
    assert_eq!(lines.len(), 5, "{lines:?}");
    let background = &lines[4]["background"];
    assert!(
        ["a", "b"].iter().all(|target| background[*target].is_object()),
        "{background}"
    );
    for slot in lines[..4].iter().flat_map(|row| row["slots"].as_array().unwrap()) {
        let count = |field: &str| slot[field].as_u64().unwrap_or_else(|| panic!("{field} in {slot}"));
        assert!(count("ops") > 0 && count("statements") >= 5 * count("ops"), "{slot}");
        assert!(
            count("server_foreground_cpu_ns") > 0 && count("client_cpu_ns") > 0,
            "{slot}"
        );
        assert!(
            count("server_cpu_ns") >= count("server_foreground_cpu_ns") * 9 / 10,
            "{slot}"
        );
    }
}
