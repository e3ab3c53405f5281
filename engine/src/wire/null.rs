//! An echo server in the engine itself: the floor of what one request and its answer cost.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use super::socket::{Socket, lost};
use super::{Connection, RowSink, Tally, TextTable, Wire, WireResult};
use crate::workload::{FirstRow, Mode, Params, Program, TableSpec, Value};

/// As long as the request of a prepared point query.
const REQUEST_BYTES: usize = 64;

/// Answers every request with `reply_bytes` bytes, each connection from a thread of its own.
pub struct NullWire {
    pub reply_bytes: usize,
}

impl Wire for NullWire {
    fn connect(&self) -> WireResult<Box<dyn Connection>> {
        let (ours, theirs) = UnixStream::pair().map_err(lost)?;
        let reply = vec![b'x'; self.reply_bytes];
        thread::Builder::new()
            .name("null-echo".to_owned())
            .spawn(move || echo(theirs, &reply))
            .map_err(lost)?;
        Ok(Box::new(NullConnection {
            socket: ours.into(),
            request: [0; REQUEST_BYTES],
            reply: vec![0; self.reply_bytes],
        }))
    }
}

/// Leaves when the other end is closed.
fn echo(mut socket: UnixStream, reply: &[u8]) {
    let mut request = [0; REQUEST_BYTES];
    while socket.read_exact(&mut request).is_ok() && socket.write_all(reply).is_ok() {}
}

struct NullConnection {
    socket: Socket,
    request: [u8; REQUEST_BYTES],
    reply: Vec<u8>,
}

impl NullConnection {
    #[inline]
    fn exchange(&mut self) -> WireResult<()> {
        self.socket.write_all(&self.request).map_err(lost)?;
        self.socket.read_exact(&mut self.reply).map_err(lost)
    }
}

impl Connection for NullConnection {
    fn prepare(&mut self, _program: &Program, _mode: Mode) -> WireResult<()> {
        Ok(())
    }

    fn begin(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.exchange()?;
        tally.statements += 1;
        Ok(())
    }

    fn commit(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.begin(tally)
    }

    fn rollback(&mut self) -> WireResult<()> {
        Ok(())
    }

    fn execute(&mut self, _statement: usize, _table: u32, _params: &Params, tally: &mut Tally) -> WireResult<()> {
        self.exchange()?;
        tally.statements += 1;
        tally.rows += 1;
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
        self.execute(statement, table, params, tally)?;
        sink.row(&[Some(&self.reply)]);
        Ok(())
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
            None => self.execute(statement, table, params, tally)?,
        }
        (0..row.columns()).for_each(|column| row.put(column, Value::Integer(1)));
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> WireResult<TextTable> {
        Ok(TextTable::default())
    }

    fn load_rows(&mut self, table: &TableSpec, _seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        progress(table.rows);
        Ok(())
    }

    fn backend(&self) -> Option<i32> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_gets_its_answer() {
        let mut connection = NullWire { reply_bytes: 100_000 }.connect().unwrap();
        let mut tally = Tally::default();
        for _ in 0..10 {
            connection.execute(0, 1, &Params::new(), &mut tally).unwrap();
        }
        assert_eq!((tally.statements, tally.rows), (10, 10));
    }
}
