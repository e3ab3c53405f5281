//! PostgreSQL 9.6 and later, over a Unix socket or TCP, one request and its answer at a time.

mod copy;
mod link;
mod message;
mod query;
mod request;
mod startup;
mod value;

use std::io::Read;
use std::os::unix::net::UnixStream;

use self::link::{Answer, Link};
use self::message::violation;
use self::request::{BINARY, Request, TEXT};
use self::value::write_literal;
use super::socket::Endpoint;
use super::{Connection, Login, RowSink, Tally, TextTable, Wire, WireError, WireResult, check_columns};
use crate::workload::text::write_integer;
use crate::workload::{Execution, FirstRow, Mode, Params, Program, Statement, TableSpec};

/// Status of a connection that is in no transaction.
const IDLE: u8 = b'I';

/// A PostgreSQL server and how to log in.
pub struct PostgresWire {
    pub endpoint: Endpoint,
    /// Every execution asks what columns the result has, and integers are sent as text.
    pub like_libpq: bool,
    pub login: Login,
    /// Run on every new connection.
    pub session_sql: Vec<String>,
}

impl Wire for PostgresWire {
    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        let mut link = Link::over(self.endpoint.connect()?);
        let backend = startup::log_in(&mut link, &self.login).map_err(|error| WireError {
            message: format!("cannot log in to {}: {}", self.endpoint, error.message),
            ..error
        })?;
        let mut connection = PostgresConnection::new(link, backend, self.like_libpq);
        for sql in &self.session_sql {
            connection.query(sql).map_err(|error| WireError {
                message: format!("session_sql {sql:?}: {}", error.message),
                ..error
            })?;
        }
        Ok(Box::new(connection))
    }
}

/// A session over a socket that is connected already: for tests.
pub fn connect_over(socket: UnixStream, login: &Login) -> WireResult<Box<dyn Connection>> {
    let mut link = Link::over(socket.into());
    let backend = startup::log_in(&mut link, login)?;
    Ok(Box::new(PostgresConnection::new(link, backend, false)))
}

struct PostgresConnection {
    link: Link,
    backend: Option<i32>,
    like_libpq: bool,
    /// Of the last ReadyForQuery.
    transaction: u8,
    statements: Vec<Prepared>,
    /// Types of the columns of those whose values others need, as they were told last.
    columns: Vec<Vec<u32>>,
    begin: Vec<u8>,
    commit: Vec<u8>,
    /// For requests that are not kept.
    buffer: Vec<u8>,
    is_closed: bool,
}

/// How one statement of the program is sent.
enum Prepared {
    /// Kept encoded, one request per table (or a single one where the text does not name the table).
    Kept(Vec<Request>),
    /// Written anew each time, with the values inside.
    Text(Statement),
}

impl PostgresConnection {
    fn new(link: Link, backend: Option<i32>, like_libpq: bool) -> Self {
        Self {
            link,
            backend,
            like_libpq,
            transaction: IDLE,
            statements: Vec::new(),
            columns: Vec::new(),
            begin: simple("BEGIN"),
            commit: simple("COMMIT"),
            buffer: Vec::new(),
            is_closed: false,
        }
    }

    fn prepare_statement(
        &mut self,
        statement: &Statement,
        index: usize,
        program: &Program,
        mode: Mode,
    ) -> WireResult<Prepared> {
        let execution = statement.execution(mode);
        self.columns.push(Vec::new());
        if execution == Execution::Text {
            return Ok(Prepared::Text(statement.clone()));
        }
        let tables = if statement.names_table() { program.tables } else { 1 };
        let like_libpq = self.like_libpq;
        let requests = (1..=tables).map(|table| {
            let mut sql = Vec::new();
            statement.render(table, &mut sql, |slot, out| {
                out.push(b'$');
                write_integer(slot as i64 + 1, out);
            });
            let name = format!("s{index}t{table}");
            match execution {
                Execution::Prepared => Ok(Request::new(
                    name.clone(),
                    self.parse_statement(&name, &sql, statement)?,
                    Vec::new(),
                    like_libpq,
                )),
                _ => {
                    let mut head = Vec::new();
                    message::parse("", &sql, &mut head);
                    let types = self.parse_statement("", &sql, statement)?;
                    Ok(Request::new(String::new(), types, head, like_libpq))
                }
            }
        });
        requests.collect::<WireResult<_>>().map(Prepared::Kept)
    }

    /// A request for a statement without parameters, ready to send.
    fn prepare_plain(&mut self, name: &str, sql: &str, mode: Mode) -> WireResult<Vec<u8>> {
        match mode {
            Mode::Unprepared => Ok(simple(sql)),
            Mode::Prepared => {
                let types = self.parse(name, sql.as_bytes(), &mut Vec::new())?;
                let mut request = Request::new(name.to_owned(), types, Vec::new(), self.like_libpq);
                Ok(request.bytes(&Params::new(), BINARY)?.to_vec())
            }
        }
    }

    /// Has the server parse a statement of the program; gives the types of its parameters.
    fn parse_statement(&mut self, name: &str, sql: &[u8], statement: &Statement) -> WireResult<Vec<u32>> {
        let mut columns = Vec::new();
        let types = self.parse(name, sql, &mut columns)?;
        check_columns(columns.len(), statement.columns_kept())?;
        if let Some(known) = self.columns.last_mut() {
            *known = columns;
        }
        Ok(types)
    }

    /// Has the server parse a statement under a name; gives the types of its parameters, and those of its columns.
    fn parse(&mut self, name: &str, sql: &[u8], columns: &mut Vec<u32>) -> WireResult<Vec<u32>> {
        let mut request = Vec::new();
        message::parse(name, sql, &mut request);
        message::describe_statement(name, &mut request);
        message::sync(&mut request);
        self.link.send(&request)?;
        let mut types = Vec::new();
        loop {
            match self.link.message()? {
                (b't', body) => types = message::parameter_types(body)?,
                (b'T', body) => message::column_types(body, columns)?,
                (b'E', body) => {
                    let error = message::error(body);
                    // When the rest of the answer does not come either, the next use of the connection will tell.
                    let _ = self.read_answer();
                    return Err(error);
                }
                (b'Z', _) => return Ok(types),
                (b'1' | b'n' | b'N' | b'S' | b'A', _) => {}
                (other, _) => {
                    return Err(violation(format!("message {:?} in answer to Parse", char::from(other))));
                }
            }
        }
    }

    /// Sends one execution of a statement of the program.
    #[inline]
    fn send(&mut self, statement: usize, table: u32, params: &Params, result_format: u16) -> WireResult<()> {
        match &mut self.statements[statement] {
            Prepared::Kept(requests) => {
                let index = if requests.len() == 1 { 0 } else { table as usize - 1 };
                self.link.send(requests[index].bytes(params, result_format)?)
            }
            Prepared::Text(statement) => {
                self.buffer.clear();
                message::write(b'Q', &mut self.buffer, |out| {
                    statement.render(table, out, |slot, out| write_literal(params.get(slot), out));
                    out.push(0);
                });
                self.link.send(&self.buffer)
            }
        }
    }

    fn query_bytes(&mut self, sql: &[u8]) -> WireResult<TextTable> {
        self.buffer.clear();
        message::query(sql, &mut self.buffer);
        self.link.send(&self.buffer)?;
        let (result, transaction) = query::read(&mut self.link)?;
        self.transaction = transaction;
        result
    }

    #[inline]
    fn read_answer(&mut self) -> WireResult<()> {
        let (result, answer) = self.link.answer();
        self.transaction = answer.transaction;
        result
    }

    /// Counts what one statement did.
    #[inline]
    fn count(&mut self, (result, answer): (WireResult<()>, Answer), tally: &mut Tally) -> WireResult<()> {
        self.transaction = answer.transaction;
        result?;
        tally.statements += 1;
        tally.rows += answer.rows;
        tally.affected += answer.affected;
        Ok(())
    }
}

impl Connection for PostgresConnection {
    fn prepare(&mut self, program: &Program, mode: Mode) -> WireResult<()> {
        self.rollback()?;
        self.query("DEALLOCATE ALL")?;
        self.statements.clear();
        self.columns.clear();
        self.begin = self.prepare_plain("begin", "BEGIN", mode)?;
        self.commit = self.prepare_plain("commit", "COMMIT", mode)?;
        for (index, statement) in program.statements.iter().enumerate() {
            let prepared = self
                .prepare_statement(statement, index, program, mode)
                .map_err(|error| error.of_statement(&statement.name, program))?;
            self.statements.push(prepared);
        }
        Ok(())
    }

    /// Nothing goes to the server.
    fn prepare_known(&mut self, program: &Program, _writes: bool) -> WireResult<()> {
        self.statements = program.statements.iter().cloned().map(Prepared::Text).collect();
        self.columns = vec![Vec::new(); program.statements.len()];
        Ok(())
    }

    fn begin(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.link.send(&self.begin)?;
        let answer = self.link.answer();
        self.count(answer, tally)
    }

    fn commit(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.link.send(&self.commit)?;
        let answer = self.link.answer();
        self.count(answer, tally)
    }

    fn rollback(&mut self) -> WireResult<()> {
        if self.transaction == IDLE {
            return Ok(());
        }
        self.link.send(&simple("ROLLBACK"))?;
        self.read_answer()
    }

    fn execute(&mut self, statement: usize, table: u32, params: &Params, tally: &mut Tally) -> WireResult<()> {
        self.send(statement, table, params, BINARY)?;
        let answer = self.link.answer();
        self.count(answer, tally)
    }

    fn execute_checked(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        tally: &mut Tally,
        sink: &mut dyn RowSink,
    ) -> WireResult<()> {
        self.send(statement, table, params, TEXT)?;
        let answer = self.link.answer_into(sink);
        self.count(answer, tally)
    }

    fn execute_keeping(
        &mut self,
        (statement, table): (usize, u32),
        params: &Params,
        row: &mut FirstRow,
        tally: &mut Tally,
        sink: Option<&mut dyn RowSink>,
    ) -> WireResult<()> {
        self.send(statement, table, params, TEXT)?;
        let answer = self.link.answer_keeping(&mut self.columns[statement], row, sink);
        self.count(answer, tally)
    }

    fn query(&mut self, sql: &str) -> WireResult<TextTable> {
        self.query_bytes(sql.as_bytes())
    }

    fn run_raw(&mut self, sql: &[u8]) -> WireResult<()> {
        self.query_bytes(sql).map(drop)
    }

    fn copy_in(&mut self, sql: &[u8], data: &mut dyn Read) -> WireResult<()> {
        copy::copy_in(&mut self.link, sql, data)
    }

    fn load_rows(&mut self, table: &TableSpec, seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        copy::load(&mut self.link, table, seed, progress)
    }

    fn backend(&self) -> Option<i32> {
        self.backend
    }

    fn close(mut self: Box<Self>) -> WireResult<()> {
        self.is_closed = true;
        self.link.close(&goodbye())
    }
}

impl Drop for PostgresConnection {
    fn drop(&mut self) {
        if !self.is_closed {
            let _ = self.link.send(&goodbye());
        }
    }
}

fn goodbye() -> Vec<u8> {
    let mut request = Vec::new();
    message::write(b'X', &mut request, |_| {});
    request
}

fn simple(sql: &str) -> Vec<u8> {
    let mut request = Vec::new();
    message::query(sql.as_bytes(), &mut request);
    request
}
