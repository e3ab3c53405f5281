//! A connection for tests of the loops: it answers at once, stalls and fails as told.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::lane::Lane;
use crate::account::fake_server::Link;
use crate::wire::{Connection, ErrorClass, RowSink, Tally, TextTable, Wire, WireError, WireResult};
use crate::workload::{FirstRow, Mode, Params, Part, Program, Scratch, Stream, TableSpec, Value};

#[derive(Default)]
pub struct FakeConnection {
    /// Executions so far; the numbers below count from 0.
    pub executions: usize,
    pub rollbacks: u32,
    /// BEGIN and COMMIT, and where events connect ENTER and LEAVE, each with the executions before it.
    pub edges: Vec<(&'static str, usize)>,
    pub fail: Vec<(usize, ErrorClass)>,
    pub stall: Option<(usize, Duration)>,
    /// Queries go there, when there is a server.
    pub link: Option<Link>,
    pub backend: Option<i32>,
}

/// A way to a fake server, if to any, which says of each connection that `backend` serves it.
#[derive(Default)]
pub struct FakeWire {
    socket: Option<PathBuf>,
    backend: Option<i32>,
    fail: Vec<(usize, ErrorClass)>,
    stall: Option<(usize, Duration)>,
}

impl FakeWire {
    pub fn to(socket: PathBuf, backend: Option<i32>) -> Self {
        Self {
            socket: Some(socket),
            backend,
            ..Self::default()
        }
    }

    /// To no server, with connections that stand still for so long in this execution.
    pub fn stalling(at: usize, pause: Duration) -> Self {
        Self {
            stall: Some((at, pause)),
            ..Self::default()
        }
    }

    /// To no server, with connections that fail in these executions.
    pub fn failing(fail: Vec<(usize, ErrorClass)>) -> Self {
        Self {
            fail,
            ..Self::default()
        }
    }
}

impl Wire for FakeWire {
    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        Ok(Box::new(FakeConnection {
            link: self.socket.as_deref().map(Link::to),
            backend: self.backend,
            fail: self.fail.clone(),
            stall: self.stall,
            ..FakeConnection::default()
        }))
    }
}

impl Connection for FakeConnection {
    fn prepare(&mut self, _program: &Program, _mode: Mode) -> WireResult<()> {
        Ok(())
    }

    fn begin(&mut self, _tally: &mut Tally) -> WireResult<()> {
        self.edges.push(("BEGIN", self.executions));
        Ok(())
    }

    fn commit(&mut self, _tally: &mut Tally) -> WireResult<()> {
        self.edges.push(("COMMIT", self.executions));
        Ok(())
    }

    fn rollback(&mut self) -> WireResult<()> {
        self.rollbacks += 1;
        Ok(())
    }

    fn enter(&mut self) -> WireResult<()> {
        self.edges.push(("ENTER", self.executions));
        Ok(())
    }

    fn leave(&mut self) -> WireResult<()> {
        self.edges.push(("LEAVE", self.executions));
        Ok(())
    }

    fn execute(&mut self, _statement: usize, _table: u32, _params: &Params, tally: &mut Tally) -> WireResult<()> {
        let number = self.executions;
        self.executions += 1;
        if let Some((_, pause)) = self.stall.filter(|(at, _)| *at == number) {
            std::thread::sleep(pause);
        }
        tally.statements += 1;
        match self.fail.iter().find(|(at, _)| *at == number) {
            Some((_, class)) => Err(WireError {
                class: *class,
                message: format!("execution {number}"),
            }),
            None => Ok(()),
        }
    }

    /// There is one row in every answer.
    fn execute_checked(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        tally: &mut Tally,
        sink: &mut dyn RowSink,
    ) -> WireResult<()> {
        sink.row(&[Some(b"x")]);
        tally.rows += 1;
        self.execute(statement, table, params, tally)
    }

    /// Every value is 1, of a row with as many columns as are asked for.
    fn execute_keeping(
        &mut self,
        (statement, table): (usize, u32),
        params: &Params,
        row: &mut FirstRow,
        tally: &mut Tally,
        sink: Option<&mut dyn RowSink>,
    ) -> WireResult<()> {
        match sink {
            Some(sink) => self.execute_checked(statement, table, params, tally, sink)?,
            None => {
                tally.rows += 1;
                self.execute(statement, table, params, tally)?;
            }
        }
        (0..row.columns()).for_each(|column| row.put(column, Value::Integer(1)));
        Ok(())
    }

    /// `tid` asks the server who serves this connection.
    fn query(&mut self, sql: &str) -> WireResult<TextTable> {
        let mut answer = TextTable::default();
        match &mut self.link {
            Some(link) if sql == "tid" => answer.rows.push(vec![Some(link.tid().to_string())]),
            Some(link) => link.echo(),
            None => {}
        }
        Ok(answer)
    }

    fn load_rows(&mut self, _table: &TableSpec, _seed: u64, _progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        Ok(())
    }

    fn backend(&self) -> Option<i32> {
        self.backend
    }
}

/// A program of one statement.
pub fn point_program() -> Program {
    program_of(json!({"name": "one", "statements": [{"name": "one", "sql": "SELECT 1"}]}))
}

fn program_of(test: Json) -> Program {
    Program::compile(&serde_json::from_value(test).unwrap(), 1, 1).unwrap()
}

/// A lane on a fake connection.
pub struct Bench {
    pub connection: FakeConnection,
    program: Program,
    scratch: Scratch,
}

impl Bench {
    pub fn new(connection: FakeConnection) -> Self {
        Self::with(point_program(), connection)
    }

    /// For a test of one's own.
    pub fn of(test: Json, connection: FakeConnection) -> Self {
        Self::with(program_of(test), connection)
    }

    fn with(program: Program, connection: FakeConnection) -> Self {
        let scratch = Scratch::new(&program);
        Self {
            connection,
            program,
            scratch,
        }
    }

    pub fn lane(&mut self) -> Lane<'_> {
        let stream = Stream::new(1, 0, 0, Part::Slot);
        Lane::new(&self.program, &mut self.connection, &mut self.scratch, stream)
    }
}
