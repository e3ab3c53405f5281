//! One small trait, one file per DBMS protocol. A wire sends statements, reads every byte of their results and counts.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::time::Duration;

use crate::workload::{FirstRow, Mode, Params, Program, TableSpec};

mod address;
mod inbox;
pub mod mysql;
pub mod null;
pub mod postgres;
pub(crate) mod socket;
pub mod sqlite;

pub use address::{WIRES, from_address};

/// What went wrong with a statement, as the drive loop has to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    Deadlock,
    Serialization,
    DuplicateKey,
    LockTimeout,
    /// A statement gave no row, and others need its values.
    NoRow,
    LostConnection,
    Other,
}

/// An error of the server or of the way to it, with the server's own words.
#[derive(Debug, Clone)]
pub struct WireError {
    pub class: ErrorClass,
    pub message: String,
}

impl WireError {
    /// With the place in front: which statement of which test it was.
    pub(crate) fn of_statement(self, statement: &str, program: &Program) -> Self {
        let message = format!("test {:?}, statement {statement:?}: {}", program.name, self.message);
        Self { message, ..self }
    }
}

/// Whether a result has as many columns as others need values of.
pub(crate) fn check_columns(found: usize, wanted: usize) -> WireResult<()> {
    if found >= wanted {
        return Ok(());
    }
    Err(WireError {
        class: ErrorClass::Other,
        message: format!("the result has {found} columns, and `keep` names {wanted}"),
    })
}

impl fmt::Display for WireError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}

pub type WireResult<T> = Result<T, WireError>;

/// Rows returned and rows changed by the statements executed so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub statements: u64,
    pub rows: u64,
    pub affected: u64,
}

impl Tally {
    /// What was added since `before`.
    pub fn since(self, before: Self) -> Self {
        Self {
            statements: self.statements - before.statements,
            rows: self.rows - before.rows,
            affected: self.affected - before.affected,
        }
    }
}

/// Receives result values in check mode, as text, one call per row. `None` is NULL.
pub trait RowSink {
    fn row(&mut self, values: &[Option<&[u8]>]);
}

/// A result of an ad-hoc query, all values as text.
#[derive(Debug, Default, Clone)]
pub struct TextTable {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
    pub affected: u64,
}

/// A statement that was executed by itself, and what the library counted of it; `error`: why it was not.
#[derive(Debug, Default, Clone, serde::Serialize)]
pub struct Counted {
    pub ns: u64,
    pub rows: u64,
    #[serde(serialize_with = "as_map")]
    pub counters: Vec<(&'static str, i64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<Scan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A loop of a plan: how often it began, and the rows that it visited in all.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Scan {
    pub operator: String,
    pub loops: i64,
    pub rows: i64,
}

fn as_map<S: serde::Serializer>(pairs: &[(&'static str, i64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().copied())
}

/// One connection of one client to one target.
///
/// `statement` is an index into `Program::statements`, `table` a table number from 1. After any error but a lost connection
/// the connection is usable again once `rollback` has been called.
pub trait Connection: Send {
    /// Prepares every statement of the program for every table; replaces what was prepared before.
    fn prepare(&mut self, program: &Program, mode: Mode) -> WireResult<()>;
    /// As `prepare`, unprepared, of a program whose statements all go as text and which another connection of the same wire has
    /// prepared: nothing is asked of the server. `writes`: what that one has found.
    fn prepare_known(&mut self, program: &Program, _writes: bool) -> WireResult<()> {
        self.prepare(program, Mode::Unprepared)
    }
    /// Whether what was prepared last changes data, where a transaction has to know that before it begins.
    fn writes(&self) -> bool {
        false
    }
    fn begin(&mut self, tally: &mut Tally) -> WireResult<()>;
    fn commit(&mut self, tally: &mut Tally) -> WireResult<()>;
    fn rollback(&mut self) -> WireResult<()>;
    /// The hot path: no allocation after warm-up.
    fn execute(&mut self, statement: usize, table: u32, params: &Params, tally: &mut Tally) -> WireResult<()>;
    /// As `execute`, handing every row to `sink`.
    fn execute_checked(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        tally: &mut Tally,
        sink: &mut dyn RowSink,
    ) -> WireResult<()>;
    /// As `execute`, with the values of the first row to `row`, and every row to `sink` where there is one.
    fn execute_keeping(
        &mut self,
        statement: (usize, u32),
        params: &Params,
        row: &mut FirstRow,
        tally: &mut Tally,
        sink: Option<&mut dyn RowSink>,
    ) -> WireResult<()>;
    fn query(&mut self, sql: &str) -> WireResult<TextTable>;
    /// How long it takes to prepare a statement, which is not executed, in ns.
    fn time_prepare(&mut self, _sql: &str) -> WireResult<u64> {
        Err(WireError {
            class: ErrorClass::Other,
            message: "how long statements take to be prepared is told of SQLite alone".to_owned(),
        })
    }
    /// Runs the statements of `sql`, each for `limit` at most, and rolls back what they changed.
    fn run_counted(&mut self, _sql: &str, _limit: Duration) -> WireResult<Vec<Counted>> {
        Err(WireError {
            class: ErrorClass::Other,
            message: "only SQLite's library counts by statement".to_owned(),
        })
    }
    /// Runs a statement that need not be UTF-8; its results are passed over.
    fn run_raw(&mut self, sql: &[u8]) -> WireResult<()> {
        self.query(&String::from_utf8_lossy(sql)).map(drop)
    }
    /// Runs a `COPY … FROM STDIN`, whose data goes to the server as it is.
    fn copy_in(&mut self, _sql: &[u8], _data: &mut dyn Read) -> WireResult<()> {
        Err(WireError {
            class: ErrorClass::Other,
            message: "COPY … FROM STDIN is for PostgreSQL alone".to_owned(),
        })
    }
    /// Inserts all rows of `table` in the fastest way there is; calls `progress` with the rows done so far now and then.
    fn load_rows(&mut self, table: &TableSpec, seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()>;
    /// What the server calls its threads, by the operating system's ids, where it tells.
    fn thread_names(&mut self) -> HashMap<i32, String> {
        HashMap::new()
    }
    /// Process (or thread) on the server that serves this connection, where there is one.
    fn backend(&self) -> Option<i32>;
    /// To be called before and after each event of a program that connects; nothing happens to a connection that stays.
    fn enter(&mut self) -> WireResult<()> {
        Ok(())
    }
    fn leave(&mut self) -> WireResult<()> {
        Ok(())
    }
    /// Ends the session, and waits until the server has closed its end. Who just drops a connection does not wait.
    fn close(self: Box<Self>) -> WireResult<()> {
        Ok(())
    }
}

/// Who connects to what. No `Debug`: the password is not to be shown.
#[derive(Clone)]
pub struct Login {
    pub user: String,
    pub database: String,
    pub password: Option<String>,
}

/// How to reach a target; `connect` may be called from any thread.
pub trait Wire: Send + Sync {
    fn connect(&self) -> WireResult<Box<dyn Connection>>;
    /// As `connect`, without asking who serves the connection.
    fn connect_briefly(&self) -> WireResult<Box<dyn Connection>> {
        self.connect()
    }
    /// True when the server runs inside the client thread (sqlite).
    fn embedded(&self) -> bool {
        false
    }
}
