//! MySQL 5.5 and later, MariaDB, and all that speaks like them, over a Unix socket or TCP, one request and its
//! answer at a time.
//!
//! `stream` carries bytes, with `tls` where it is used; `link` makes packets of them, `packet` and `column` read their
//! fields, `error` those of errors. `login` opens a session, `auth` proves the password. `prepare` has statements
//! prepared, `request` encodes their executions and `value` the values in them, `answer` reads what comes back and `rows` receives it; `insert` fills tables.

mod answer;
mod auth;
mod column;
mod error;
mod insert;
mod link;
mod login;
mod packet;
mod prepare;
mod request;
mod rows;
mod stream;
mod tls;
mod value;

pub use self::stream::Stream;

use std::collections::HashMap;

use self::answer::{Answer, Columns, Counts};
use self::column::Column;
use self::error::other;
use self::link::Link;
use self::login::{Transport, Upgrade, log_in};
use self::packet::{AUTOCOMMIT, IN_TRANSACTION, PREPARE, QUERY, QUIT};
use self::request::Request;
use self::rows::{Buffers, Format, Keeping, Rows, Table};
use self::value::write_literal;
use super::socket::{Endpoint, Socket, lost};
use super::{Connection, ErrorClass, Login, RowSink, Tally, TextTable, Wire, WireError, WireResult, check_columns};
use crate::workload::{Execution, FirstRow, Mode, Params, Program, Statement, TableSpec};

/// Which thread of the server serves the connection that asks: MySQL 5.7 and later with performance_schema; MariaDB,
/// Percona Server.
const THREAD_QUERIES: [&str; 2] = [
    "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
];

/// What the server calls its threads: as for `THREAD_QUERIES`; other versions have no such table or column.
const NAMES_QUERY: &str = "SELECT THREAD_OS_ID, NAME FROM performance_schema.threads WHERE THREAD_OS_ID > 0";

/// When connections are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsMode {
    Off,
    /// Where the server can.
    Preferred,
    Required,
}

/// A MySQL server and how to log in.
pub struct MysqlWire {
    pub endpoint: Endpoint,
    pub tls: TlsMode,
    /// Whether columns of prepared statements may be left out of answers, where the server can do so.
    pub cache_metadata: bool,
    pub login: Login,
    /// Run on every new connection.
    pub session_sql: Vec<String>,
}

impl Wire for MysqlWire {
    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        let mut connection = self.log_in()?;
        connection.thread = connection.find_thread()?;
        connection.start_session(&self.session_sql)?;
        Ok(Box::new(connection))
    }

    fn connect_briefly(&self) -> WireResult<Box<dyn Connection>> {
        let mut connection = self.log_in()?;
        connection.start_session(&self.session_sql)?;
        Ok(Box::new(connection))
    }
}

impl MysqlWire {
    fn log_in(&self) -> WireResult<MysqlConnection> {
        let socket = self.endpoint.connect()?;
        let transport = self.transport(&socket)?;
        MysqlConnection::over(Box::new(socket), &self.login, transport).map_err(|error| WireError {
            message: format!("cannot log in to {}: {}", self.endpoint, error.message),
            ..error
        })
    }

    fn transport(&self, socket: &Socket) -> WireResult<Transport> {
        let tls = match self.tls {
            TlsMode::Off => None,
            mode => Some(Upgrade {
                socket: socket.try_clone().map_err(lost)?,
                required: mode == TlsMode::Required,
            }),
        };
        Ok(Transport {
            is_private: matches!(self.endpoint, Endpoint::Unix { .. }),
            tls,
            cache_metadata: self.cache_metadata,
        })
    }
}

/// A session over a stream that is connected already and private: for tests and fuzzing.
pub fn connect_over(stream: Box<dyn Stream>, login: &Login) -> WireResult<Box<dyn Connection>> {
    let transport = Transport {
        is_private: true,
        tls: None,
        cache_metadata: true,
    };
    let mut connection = MysqlConnection::over(stream, login, transport)?;
    connection.thread = connection.find_thread()?;
    Ok(Box::new(connection))
}

struct MysqlConnection {
    link: Link,
    thread: Option<i32>,
    statements: Vec<Prepared>,
    begin: Vec<u8>,
    commit: Vec<u8>,
    /// For requests that are not kept.
    buffer: Vec<u8>,
    /// For values that are.
    kept: Buffers,
    is_closed: bool,
}

/// How one statement of the program is sent.
enum Prepared {
    /// Kept encoded, one request per table (or a single one where the text does not name the table).
    Kept(Vec<Request>),
    /// Written anew each time, with the values inside.
    Text(Statement),
}

/// That of a table, where they differ.
#[inline]
fn of_table(requests: &mut [Request], table: u32) -> &mut Request {
    let index = if requests.len() == 1 { 0 } else { table as usize - 1 };
    &mut requests[index]
}

impl MysqlConnection {
    fn over(stream: Box<dyn Stream>, login: &Login, transport: Transport) -> WireResult<Self> {
        let mut link = Link::over(stream);
        log_in(&mut link, login, transport)?;
        Ok(Self {
            link,
            thread: None,
            statements: Vec::new(),
            begin: packet::query(b"BEGIN"),
            commit: packet::query(b"COMMIT"),
            buffer: Vec::new(),
            kept: Buffers::default(),
            is_closed: false,
        })
    }

    fn start_session(&mut self, session_sql: &[String]) -> WireResult<()> {
        for sql in session_sql {
            self.query(sql).map_err(|error| WireError {
                message: format!("session_sql {sql:?}: {}", error.message),
                ..error
            })?;
        }
        Ok(())
    }

    /// The operating system's number of the thread that serves this connection, where the server can tell.
    fn find_thread(&mut self) -> WireResult<Option<i32>> {
        for sql in THREAD_QUERIES {
            let table = match self.query(sql) {
                Ok(table) => table,
                Err(error) if error.class == ErrorClass::LostConnection => return Err(error),
                // Other versions have no such table or column.
                Err(_) => continue,
            };
            let number = table.rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
            if number.is_some_and(|number| number > 0) {
                return Ok(number);
            }
        }
        Ok(None)
    }

    fn prepare_statement(&mut self, statement: &Statement, program: &Program, mode: Mode) -> WireResult<Prepared> {
        if statement.execution(mode) != Execution::Prepared {
            return Ok(Prepared::Text(statement.clone()));
        }
        let tables = if statement.names_table() { program.tables } else { 1 };
        let requests = (1..=tables).map(|table| {
            let mut slots = Vec::new();
            packet::command(PREPARE, &mut self.buffer, |out| {
                statement.render(table, out, |slot, out| {
                    slots.push(slot);
                    out.push(b'?');
                });
            });
            self.prepare_buffer(slots)
        });
        requests.collect::<WireResult<_>>().map(Prepared::Kept)
    }

    /// Has the server prepare the statement in the buffer, whose placeholders stand for these slots.
    fn prepare_buffer(&mut self, slots: Vec<usize>) -> WireResult<Request> {
        let statement = self.link.prepare(&self.buffer)?;
        if statement.placeholders != slots.len() {
            return Err(other(format!(
                "the server sees {} placeholders where {} were written; a `?` in the text is one too",
                statement.placeholders,
                slots.len()
            )));
        }
        Ok(Request::new(statement.id, statement.columns, slots))
    }

    /// Forgets what was prepared, here and on the server, which does not answer to it.
    fn close_statements(&mut self) -> WireResult<()> {
        for statement in std::mem::take(&mut self.statements) {
            let Prepared::Kept(requests) = statement else { continue };
            for request in requests {
                self.link.close_statement(request.id())?;
            }
        }
        Ok(())
    }

    /// Checks what `prepare` has told of a statement whose first row others need.
    fn check_kept(&self, statement: &Statement, prepared: &Prepared) -> WireResult<()> {
        match prepared {
            Prepared::Kept(requests) => requests
                .iter()
                .try_for_each(|request| check_columns(request.columns.len(), statement.columns_kept())),
            Prepared::Text(_) => Ok(()),
        }
    }

    /// Sends one execution of a statement of the program and has `receive` read its answer. The columns are those of its result
    /// where they are not told each time.
    #[inline(always)]
    fn run(
        &mut self,
        (statement, table): (usize, u32),
        params: &Params,
        tally: &mut Tally,
        receive: impl FnOnce(&mut Link, Format, &mut Vec<Column>) -> (WireResult<()>, Answer),
    ) -> WireResult<()> {
        let link = &mut self.link;
        let (result, answer) = match &mut self.statements[statement] {
            Prepared::Kept(requests) => {
                let request = of_table(requests, table);
                link.command(request.bytes(params))?;
                let (result, answer) = receive(link, Format::Binary, &mut request.columns);
                if result.is_err() {
                    request.forget_types();
                }
                (result, answer)
            }
            Prepared::Text(text) => {
                let status = link.status;
                packet::command(QUERY, &mut self.buffer, |out| {
                    text.render(table, out, |slot, out| write_literal(params.get(slot), status, out));
                });
                link.command(&self.buffer)?;
                receive(link, Format::Text, &mut Vec::new())
            }
        };
        count(result, answer, tally)
    }

    /// Sends a statement without parameters and reads its answer.
    fn run_plain(&mut self, request: &[u8]) -> (WireResult<()>, Answer) {
        match self.link.command(request) {
            Ok(()) => self.link.answer(&mut Counts),
            Err(error) => (Err(error), Answer::default()),
        }
    }

    fn is_in_transaction(&self) -> bool {
        self.link.status & IN_TRANSACTION != 0 || self.link.status & AUTOCOMMIT == 0
    }
}

/// Counts what one statement did.
#[inline]
fn count(result: WireResult<()>, answer: Answer, tally: &mut Tally) -> WireResult<()> {
    result?;
    tally.statements += 1;
    tally.rows += answer.rows;
    tally.affected += answer.affected;
    Ok(())
}

impl Connection for MysqlConnection {
    fn prepare(&mut self, program: &Program, mode: Mode) -> WireResult<()> {
        self.rollback()?;
        self.close_statements()?;
        for statement in &program.statements {
            let prepared = self
                .prepare_statement(statement, program, mode)
                .and_then(|prepared| self.check_kept(statement, &prepared).map(|()| prepared))
                .map_err(|error| error.of_statement(&statement.name, program))?;
            self.statements.push(prepared);
        }
        Ok(())
    }

    fn begin(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.link.command(&self.begin)?;
        let (result, answer) = self.link.answer(&mut Counts);
        count(result, answer, tally)
    }

    fn commit(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.link.command(&self.commit)?;
        let (result, answer) = self.link.answer(&mut Counts);
        count(result, answer, tally)
    }

    /// The status is that of the last statement that went well: an error that has ended the transaction does not tell.
    fn rollback(&mut self) -> WireResult<()> {
        if !self.is_in_transaction() {
            return Ok(());
        }
        self.run_plain(&packet::query(b"ROLLBACK")).0
    }

    fn execute(&mut self, statement: usize, table: u32, params: &Params, tally: &mut Tally) -> WireResult<()> {
        self.run((statement, table), params, tally, |link, _, columns| {
            if link.cache_metadata {
                link.answer(&mut Columns(columns))
            } else {
                link.answer(&mut Counts)
            }
        })
    }

    fn execute_checked(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        tally: &mut Tally,
        sink: &mut dyn RowSink,
    ) -> WireResult<()> {
        self.run((statement, table), params, tally, |link, format, columns| {
            link.answer(&mut Rows::new(format, columns, sink))
        })
    }

    fn execute_keeping(
        &mut self,
        statement: (usize, u32),
        params: &Params,
        row: &mut FirstRow,
        tally: &mut Tally,
        sink: Option<&mut dyn RowSink>,
    ) -> WireResult<()> {
        let mut kept = std::mem::take(&mut self.kept);
        let result = self.run(statement, params, tally, |link, format, columns| {
            let mut keeping = Keeping {
                format,
                columns,
                buffers: &mut kept,
                row,
                sink,
                is_first: true,
                failure: None,
            };
            let (result, answer) = link.answer(&mut keeping);
            (result.and(keeping.failure.map_or(Ok(()), Err)), answer)
        });
        self.kept = kept;
        result
    }

    fn query(&mut self, sql: &str) -> WireResult<TextTable> {
        self.link.command(&packet::query(sql.as_bytes()))?;
        let mut table = Table::default();
        self.link.answer(&mut table).0?;
        Ok(table.into_inner())
    }

    fn run_raw(&mut self, sql: &[u8]) -> WireResult<()> {
        self.run_plain(&packet::query(sql)).0
    }

    fn load_rows(&mut self, table: &TableSpec, seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        let loaded = insert::load(&mut self.link, table, seed, progress);
        if loaded.is_err() {
            // What is left to say of it is in the error.
            let _ = self.rollback();
        }
        loaded
    }

    fn thread_names(&mut self) -> HashMap<i32, String> {
        let table = self.query(NAMES_QUERY).unwrap_or_default();
        let named = |row: &Vec<Option<String>>| match &row[..] {
            [Some(thread), Some(name)] => Some((thread.parse().ok()?, name.trim_start_matches("thread/").to_owned())),
            _ => None,
        };
        table.rows.iter().filter_map(named).collect()
    }

    fn backend(&self) -> Option<i32> {
        self.thread
    }

    fn close(mut self: Box<Self>) -> WireResult<()> {
        self.is_closed = true;
        packet::command(QUIT, &mut self.buffer, |_| {});
        self.link.close(&self.buffer)
    }
}

impl Drop for MysqlConnection {
    fn drop(&mut self) {
        if !self.is_closed {
            packet::command(QUIT, &mut self.buffer, |_| {});
            let _ = self.link.command(&self.buffer);
        }
    }
}
