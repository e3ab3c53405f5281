//! SQLite, inside the client thread: the bundled library, or any other loaded at run time.

mod api;
mod authorizer;
mod counted;
mod error;
mod statement;
mod value;

use std::ffi::{CStr, CString, c_int};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;

use self::api::{Api, Database};
use self::error::{error_of, other};
use self::statement::{Done, Prepared};
use self::value::write_literal;
use super::{Connection, Counted, RowSink, Tally, TextTable, Wire, WireError, WireResult, check_columns};
use crate::workload::text::write_integer;
use crate::workload::{Execution, FirstRow, Mode, Params, Program, Statement, TableRows, TableSpec};

/// How long a statement waits for another connection's lock.
const BUSY_TIMEOUT_MS: c_int = 5_000;
const LOAD_ROWS_PER_TRANSACTION: u64 = 100_000;
const PROGRESS_ROWS: u64 = 10_000;

/// A database file and the library to open it with.
pub struct SqliteWire {
    api: Arc<Api>,
    path: CString,
    session_sql: Vec<String>,
}

impl SqliteWire {
    /// `library` is `"bundled"` or the path of a `libsqlite3.so`; `session_sql` is run on every new connection.
    pub fn new(path: &str, library: &str, session_sql: Vec<String>) -> Result<Self, String> {
        let api = match library {
            "bundled" => Api::bundled(),
            path => Api::load(path)?,
        };
        let path = CString::new(path).map_err(|_| "`path` holds a zero byte".to_owned())?;
        Ok(Self { api, path, session_sql })
    }
}

/// Version of the library that was compiled into the engine.
pub fn bundled_version() -> String {
    Api::bundled().version()
}

impl Wire for SqliteWire {
    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        let mut connection = SqliteConnection::open(&self.api, &self.path)?;
        for sql in &self.session_sql {
            connection.query(sql).map_err(|error| WireError {
                message: format!("session_sql {sql:?}: {}", error.message),
                ..error
            })?;
        }
        Ok(Box::new(connection))
    }

    fn embedded(&self) -> bool {
        true
    }
}

struct SqliteConnection {
    api: Arc<Api>,
    database: *mut Database,
    statements: Vec<Prepare>,
    begin: &'static [u8],
    writes: bool,
    /// BEGIN and COMMIT, where they are prepared.
    edges: Option<(Prepared, Prepared)>,
    no_params: Params,
    buffer: Vec<u8>,
}

// SAFETY: the library is thread-safe (checked when it is loaded), and the connection is used by one thread at a time.
unsafe impl Send for SqliteConnection {}

/// When a statement of the program is prepared.
enum Prepare {
    /// Once per table (or once, where the text does not name the table).
    Once(Vec<Prepared>),
    /// Each time, with parameters or as text with the values inside.
    EachTime(Statement, Execution),
}

impl SqliteConnection {
    fn open(api: &Arc<Api>, path: &CStr) -> WireResult<Self> {
        let flags = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE | ffi::SQLITE_OPEN_NOMUTEX;
        let mut database = null_mut();
        // SAFETY: `path` ends with a zero; `database` is closed by Drop also when opening failed.
        let code = unsafe { (api.open)(path.as_ptr(), &mut database, flags, null()) };
        let connection = Self {
            api: Arc::clone(api),
            database,
            statements: Vec::new(),
            begin: BEGIN,
            writes: false,
            edges: None,
            no_params: Params::new(),
            buffer: Vec::new(),
        };
        if code != ffi::SQLITE_OK {
            let error = error_of(api, database);
            return Err(WireError {
                message: format!("cannot open {}: {}", path.to_string_lossy(), error.message),
                ..error
            });
        }
        // SAFETY: the database is open; the authorizer takes what the library gives it, and no data of its own.
        let code = unsafe {
            (api.busy_timeout)(database, BUSY_TIMEOUT_MS);
            (api.set_authorizer)(database, Some(authorizer::authorize), null_mut())
        };
        if code != ffi::SQLITE_OK {
            return Err(error_of(api, database));
        }
        Ok(connection)
    }

    fn prepare_sql(&self, sql: &[u8]) -> WireResult<Prepared> {
        match Prepared::new(&self.api, self.database, sql)? {
            (Some(prepared), rest) if rest.iter().all(|&byte| byte.is_ascii_whitespace() || byte == b';') => {
                Ok(prepared)
            }
            _ => Err(other(format!(
                "{:?} is not exactly one statement",
                String::from_utf8_lossy(sql)
            ))),
        }
    }

    fn prepare_statement(&self, statement: &Statement, program: &Program, mode: Mode) -> WireResult<(Prepare, bool)> {
        let tables = if statement.names_table() { program.tables } else { 1 };
        let prepared: Vec<_> = (1..=tables)
            .map(|table| self.prepare_with_placeholders(statement, table))
            .collect::<WireResult<_>>()?;
        let writes = prepared.iter().any(Prepared::writes);
        let prepare = match statement.execution(mode) {
            Execution::Prepared => Prepare::Once(prepared),
            each_time => Prepare::EachTime(statement.clone(), each_time),
        };
        Ok((prepare, writes))
    }

    fn prepare_with_placeholders(&self, statement: &Statement, table: u32) -> WireResult<Prepared> {
        let mut sql = Vec::new();
        statement.render(table, &mut sql, write_placeholder);
        let prepared = self.prepare_sql(&sql)?;
        match prepared.parameter_count() {
            count if count == statement.slots => {
                check_columns(prepared.columns(), statement.columns_kept())?;
                Ok(prepared)
            }
            count => Err(other(format!(
                "SQLite sees {count} parameters where the test has {}",
                statement.slots
            ))),
        }
    }

    /// Runs one statement of the program by `run`, preparing it before where it has to be.
    #[inline]
    fn run(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        run: impl FnOnce(&mut Prepared, &Params) -> WireResult<Done>,
    ) -> WireResult<Done> {
        match &mut self.statements[statement] {
            Prepare::Once(prepared) => {
                let index = if prepared.len() == 1 { 0 } else { table as usize - 1 };
                run(&mut prepared[index], params)
            }
            Prepare::EachTime(statement, execution) => {
                self.buffer.clear();
                let params = match execution {
                    Execution::Text => {
                        statement.render(table, &mut self.buffer, |slot, out| {
                            write_literal(params.get(slot), out)
                        });
                        &self.no_params
                    }
                    _ => {
                        statement.render(table, &mut self.buffer, write_placeholder);
                        params
                    }
                };
                let mut prepared = self.prepare_sql(&self.buffer)?;
                run(&mut prepared, params)
            }
        }
    }

    fn run_plain(&self, sql: &[u8]) -> WireResult<()> {
        self.prepare_sql(sql)?.run(&self.no_params).map(|_| ())
    }

    fn insert_rows(&self, table: &TableSpec, rows: &mut TableRows, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        let mut insert = self.prepare_sql(table.insert_sql(1).as_bytes())?;
        let mut params = Params::new();
        for row in 0..table.rows {
            if row % LOAD_ROWS_PER_TRANSACTION == 0 {
                if row > 0 {
                    self.run_plain(COMMIT)?;
                }
                self.run_plain(BEGIN)?;
            }
            rows.fill(row, &mut params).map_err(other)?;
            insert.run(&params)?;
            if (row + 1) % PROGRESS_ROWS == 0 {
                progress(row + 1);
            }
        }
        if table.rows > 0 {
            self.run_plain(COMMIT)?;
        }
        progress(table.rows);
        Ok(())
    }
}

impl Connection for SqliteConnection {
    fn prepare(&mut self, program: &Program, mode: Mode) -> WireResult<()> {
        self.rollback()?;
        self.statements.clear();
        self.writes = false;
        for statement in &program.statements {
            let (prepare, statement_writes) = self
                .prepare_statement(statement, program, mode)
                .map_err(|error| error.of_statement(&statement.name, program))?;
            self.statements.push(prepare);
            self.writes |= statement_writes;
        }
        self.begin = begin(self.writes);
        self.edges = match mode {
            Mode::Prepared => Some((self.prepare_sql(self.begin)?, self.prepare_sql(COMMIT)?)),
            Mode::Unprepared => None,
        };
        Ok(())
    }

    fn writes(&self) -> bool {
        self.writes
    }

    /// Nothing is read of the database.
    fn prepare_known(&mut self, program: &Program, writes: bool) -> WireResult<()> {
        let in_text = |statement: &Statement| Prepare::EachTime(statement.clone(), Execution::Text);
        self.statements = program.statements.iter().map(in_text).collect();
        (self.writes, self.begin) = (writes, begin(writes));
        Ok(())
    }

    fn begin(&mut self, tally: &mut Tally) -> WireResult<()> {
        match &mut self.edges {
            Some((begin, _)) => begin.run(&self.no_params).map(|_| ())?,
            None => self.run_plain(self.begin)?,
        }
        tally.statements += 1;
        Ok(())
    }

    fn commit(&mut self, tally: &mut Tally) -> WireResult<()> {
        match &mut self.edges {
            Some((_, commit)) => commit.run(&self.no_params).map(|_| ())?,
            None => self.run_plain(COMMIT)?,
        }
        tally.statements += 1;
        Ok(())
    }

    fn rollback(&mut self) -> WireResult<()> {
        // SAFETY: the database is open.
        if unsafe { (self.api.autocommit)(self.database) } != 0 {
            return Ok(());
        }
        self.run_plain(b"ROLLBACK")
    }

    fn execute(&mut self, statement: usize, table: u32, params: &Params, tally: &mut Tally) -> WireResult<()> {
        let done = self.run(statement, table, params, Prepared::run)?;
        count(done, tally);
        Ok(())
    }

    fn execute_checked(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        tally: &mut Tally,
        sink: &mut dyn RowSink,
    ) -> WireResult<()> {
        let done = self.run(statement, table, params, |prepared, params| {
            prepared.run_into(params, sink)
        })?;
        count(done, tally);
        Ok(())
    }

    fn execute_keeping(
        &mut self,
        (statement, table): (usize, u32),
        params: &Params,
        row: &mut FirstRow,
        tally: &mut Tally,
        sink: Option<&mut dyn RowSink>,
    ) -> WireResult<()> {
        let done = self.run(statement, table, params, |prepared, params| {
            prepared.run_keeping(params, row, sink)
        })?;
        count(done, tally);
        Ok(())
    }

    fn query(&mut self, sql: &str) -> WireResult<TextTable> {
        self.query_bytes(sql.as_bytes())
    }

    fn time_prepare(&mut self, sql: &str) -> WireResult<u64> {
        let began = Instant::now();
        self.prepare_sql(sql.as_bytes())?;
        Ok(began.elapsed().as_nanos() as u64)
    }

    fn run_counted(&mut self, sql: &str, limit: Duration) -> WireResult<Vec<Counted>> {
        self.run_plain(BEGIN)?;
        let counted = counted::run_each(&self.api, self.database, sql.as_bytes(), limit);
        self.rollback().map(|()| counted)
    }

    fn run_raw(&mut self, sql: &[u8]) -> WireResult<()> {
        self.query_bytes(sql).map(drop)
    }

    fn load_rows(&mut self, table: &TableSpec, seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        let mut rows = TableRows::new(table, seed).map_err(other)?;
        let result = self.insert_rows(table, &mut rows, progress);
        if result.is_err() {
            let _ = self.rollback();
        }
        result
    }

    fn backend(&self) -> Option<i32> {
        None
    }
}

impl SqliteConnection {
    /// The rows of the last statement.
    fn query_bytes(&mut self, sql: &[u8]) -> WireResult<TextTable> {
        let mut table = TextTable::default();
        let mut rest = sql;
        while !rest.is_empty() {
            let (prepared, after) = Prepared::new(&self.api, self.database, rest)?;
            if let Some(mut prepared) = prepared {
                table = prepared.query()?;
            }
            rest = after;
        }
        Ok(table)
    }
}

impl Drop for SqliteConnection {
    fn drop(&mut self) {
        self.statements.clear();
        self.edges = None;
        // SAFETY: all statements are finalised; the database is not used after this. Null is allowed.
        unsafe { (self.api.close)(self.database) };
    }
}

const BEGIN: &[u8] = b"BEGIN";
const BEGIN_IMMEDIATE: &[u8] = b"BEGIN IMMEDIATE";
const COMMIT: &[u8] = b"COMMIT";

/// A transaction that reads first and writes later fails at once when another connection has written meanwhile.
fn begin(writes: bool) -> &'static [u8] {
    if writes { BEGIN_IMMEDIATE } else { BEGIN }
}

#[inline]
fn count(done: Done, tally: &mut Tally) {
    tally.statements += 1;
    tally.rows += done.rows;
    tally.affected += done.affected;
}

fn write_placeholder(slot: usize, out: &mut Vec<u8>) {
    out.push(b'?');
    write_integer(slot as i64 + 1, out);
}
