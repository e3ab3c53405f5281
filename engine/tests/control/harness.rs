//! Talking to an engine from tests. Each test program uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::tree::state_of;

pub struct Engine {
    process: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
}

impl Engine {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    pub fn start_with(arguments: &[&str]) -> Self {
        Self::spawn(Command::new(env!("CARGO_BIN_EXE_dbversus-engine")).args(arguments))
    }

    /// With limits as `ulimit` takes them.
    pub fn start_limited(limit: &str) -> Self {
        let engine = env!("CARGO_BIN_EXE_dbversus-engine");
        Self::spawn(Command::new("sh").args(["-c", &format!("ulimit {limit} && exec {engine}")]))
    }

    fn spawn(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let input = process.stdin.take();
        let output = process.stdout.take().map(BufReader::new);
        Self { process, input, output }
    }

    pub fn pid(&self) -> i32 {
        self.process.id() as i32
    }

    pub fn send(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// All lines of the answer.
    pub fn all(&mut self, command: Value) -> Vec<Value> {
        self.send(&command);
        self.read_to_end()
    }

    /// The lines up to the last of an answer.
    pub fn read_to_end(&mut self) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let line = self.read_line();
            let is_last = line["done"] == true || line.get("error").is_some();
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    pub fn read_lines(&mut self, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.read_line()).collect()
    }

    fn read_line(&mut self) -> Value {
        let mut line = String::new();
        assert!(
            self.output.as_mut().unwrap().read_line(&mut line).unwrap() > 0,
            "the engine has left"
        );
        serde_json::from_str(&line).unwrap()
    }

    pub fn last(&mut self, command: Value) -> Value {
        self.all(command).pop().unwrap()
    }

    /// The last line of an answer that must be no error.
    pub fn done(&mut self, command: Value) -> Value {
        let last = self.last(command.clone());
        assert_eq!(last["done"], true, "{command}: {last}");
        last
    }

    /// Whether it leaves with status 0 when told to.
    pub fn quits(mut self) -> bool {
        self.done(json!({"cmd": "quit"}));
        self.left_well()
    }

    pub fn quits_at_end_of_input(mut self) -> bool {
        self.input = None;
        self.left_well()
    }

    pub fn terminate(mut self) -> bool {
        // SAFETY: takes numbers alone.
        unsafe { libc::kill(self.pid(), libc::SIGTERM) };
        self.left_well()
    }

    /// Stops reading, and waits for the engine to leave.
    pub fn abandon(mut self) {
        self.output = None;
        self.process.wait().unwrap();
    }

    fn left_well(&mut self) -> bool {
        self.process.wait().unwrap().success()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.process.wait();
    }
}

/// A directory of its own, removed in the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dbversus-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn children_of(pid: i32) -> Vec<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

pub fn is_alive(pid: i32) -> bool {
    !matches!(state_of(pid), 'X' | 'Z')
}

fn uniform(high: u64) -> Value {
    json!({"gen": "uniform", "low": 1, "high": high})
}

pub fn point_test(rows: u64) -> Value {
    json!({"name": "point", "transaction": false, "statements": [
        {"name": "point", "sql": "SELECT c FROM sbtest{table} WHERE id = :id", "params": {"id": uniform(rows)}}]})
}

pub fn select_from(table: &str) -> Value {
    json!({"name": "select", "transaction": false, "statements": [
        {"name": "all", "sql": format!("SELECT * FROM {table}"), "params": {}}]})
}

/// Reads and writes in a transaction.
pub fn mixed_test(rows: u64) -> Value {
    json!({"name": "mixed", "transaction": true, "statements": [
        {"name": "point", "sql": "SELECT c FROM sbtest{table} WHERE id = :id", "params": {"id": uniform(rows)}},
        {"name": "range", "sql": "SELECT id, c FROM sbtest{table} WHERE id BETWEEN :low AND :high ORDER BY c, id",
         "params": {"low": uniform(rows), "high": {"gen": "ref", "of": "low", "add": 9}}},
        {"name": "update", "sql": "UPDATE sbtest{table} SET k = k + 1, c = :c WHERE id = :id",
         "params": {"c": {"gen": "text", "template": "###-@@@"}, "id": uniform(rows)}}]})
}

pub fn load(target: &str, rows: u64) -> Value {
    json!({"cmd": "load", "target": target, "seed": 1, "table": {"name": "sbtest1", "rows": rows,
        "create": ["CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c CHAR(11) NOT NULL)"],
        "columns": {"id": {"gen": "sequence", "start": 1}, "k": uniform(rows),
                    "c": {"gen": "text", "template": "#####-@@@@@"}},
        "after": ["CREATE INDEX k_1 ON sbtest1 (k)"]}})
}
