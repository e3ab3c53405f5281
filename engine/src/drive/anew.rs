//! A connection that is opened for every event and closed after it: what such an event costs is its whole life on the server.

use std::collections::HashMap;
use std::sync::Arc;

use crate::wire::socket::lost_with;
use crate::wire::{Connection, RowSink, Tally, TextTable, Wire, WireError, WireResult};
use crate::workload::{FirstRow, Mode, Params, Program, TableSpec};

pub struct Anew {
    wire: Arc<dyn Wire>,
    program: Arc<Program>,
    /// As the first connection has found.
    writes: bool,
    /// None between events; the one that the test was opened with stays until the first of them.
    open: Option<Box<dyn Connection>>,
}

impl Anew {
    /// After a first connection, which has prepared the program.
    pub fn after(first: Box<dyn Connection>, wire: &Arc<dyn Wire>, program: &Arc<Program>) -> Self {
        Self {
            wire: wire.clone(),
            program: program.clone(),
            writes: first.writes(),
            open: Some(first),
        }
    }

    fn current(&mut self) -> WireResult<&mut dyn Connection> {
        match &mut self.open {
            Some(connection) => Ok(connection.as_mut()),
            None => Err(lost_with("no connection is open between two operations".to_owned())),
        }
    }
}

impl Connection for Anew {
    fn enter(&mut self) -> WireResult<()> {
        self.leave()?;
        let mut connection = self.wire.connect_briefly()?;
        begin_session(connection.as_mut(), &self.program)?;
        connection.prepare_known(&self.program, self.writes)?;
        self.open = Some(connection);
        Ok(())
    }

    fn leave(&mut self) -> WireResult<()> {
        self.open.take().map_or(Ok(()), Connection::close)
    }

    /// The server does it when the connection is gone.
    fn rollback(&mut self) -> WireResult<()> {
        self.open = None;
        Ok(())
    }

    fn prepare(&mut self, program: &Program, mode: Mode) -> WireResult<()> {
        self.current()?.prepare(program, mode)
    }

    fn begin(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.current()?.begin(tally)
    }

    fn commit(&mut self, tally: &mut Tally) -> WireResult<()> {
        self.current()?.commit(tally)
    }

    fn execute(&mut self, statement: usize, table: u32, params: &Params, tally: &mut Tally) -> WireResult<()> {
        self.current()?.execute(statement, table, params, tally)
    }

    fn execute_checked(
        &mut self,
        statement: usize,
        table: u32,
        params: &Params,
        tally: &mut Tally,
        sink: &mut dyn RowSink,
    ) -> WireResult<()> {
        self.current()?.execute_checked(statement, table, params, tally, sink)
    }

    fn execute_keeping(
        &mut self,
        statement: (usize, u32),
        params: &Params,
        row: &mut FirstRow,
        tally: &mut Tally,
        sink: Option<&mut dyn RowSink>,
    ) -> WireResult<()> {
        self.current()?.execute_keeping(statement, params, row, tally, sink)
    }

    fn query(&mut self, sql: &str) -> WireResult<TextTable> {
        self.current()?.query(sql)
    }

    fn load_rows(&mut self, table: &TableSpec, seed: u64, progress: &mut dyn FnMut(u64)) -> WireResult<()> {
        self.current()?.load_rows(table, seed, progress)
    }

    fn thread_names(&mut self) -> HashMap<i32, String> {
        self.current().map(Connection::thread_names).unwrap_or_default()
    }

    /// Another one for each event.
    fn backend(&self) -> Option<i32> {
        None
    }
}

/// What every session of a test begins with.
pub(super) fn begin_session(connection: &mut dyn Connection, program: &Program) -> WireResult<()> {
    for sql in &program.session_sql {
        connection.query(sql).map_err(|error| WireError {
            message: format!("test {:?}, session_sql {sql:?}: {}", program.name, error.message),
            ..error
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::check::{CheckSpec, check};
    use crate::drive::client::{Client, Goal};
    use crate::wire::ErrorClass;
    use crate::workload::Appended;
    use serde_json::{Value as Json, json};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Connections opened, statements run, and connections closed and waited for.
    #[derive(Default)]
    struct Counts([AtomicUsize; 3]);

    impl Counts {
        fn read(&self) -> [usize; 3] {
            self.0.each_ref().map(|count| count.load(Relaxed))
        }
    }

    /// To a server that takes so many connections, and then no more.
    struct Counting(Arc<Counts>, usize);

    struct Counted(Arc<Counts>);

    impl Wire for Counting {
        fn connect(&self) -> WireResult<Box<dyn Connection>> {
            match self.0.0[0].fetch_add(1, Relaxed) {
                opened if opened < self.1 => Ok(Box::new(Counted(self.0.clone()))),
                _ => Err(WireError {
                    class: ErrorClass::Other,
                    message: "too many connections".into(),
                }),
            }
        }
    }

    impl Connection for Counted {
        fn prepare(&mut self, _: &Program, mode: Mode) -> WireResult<()> {
            assert_eq!(mode, Mode::Unprepared);
            Ok(())
        }
        fn begin(&mut self, _: &mut Tally) -> WireResult<()> {
            Ok(())
        }
        fn commit(&mut self, _: &mut Tally) -> WireResult<()> {
            Ok(())
        }
        fn rollback(&mut self) -> WireResult<()> {
            unreachable!("the server does it")
        }
        fn execute(&mut self, _: usize, _: u32, _: &Params, _: &mut Tally) -> WireResult<()> {
            self.0.0[1].fetch_add(1, Relaxed);
            Ok(())
        }
        fn execute_checked(
            &mut self,
            statement: usize,
            table: u32,
            params: &Params,
            tally: &mut Tally,
            _: &mut dyn RowSink,
        ) -> WireResult<()> {
            self.execute(statement, table, params, tally)
        }
        fn execute_keeping(
            &mut self,
            _: (usize, u32),
            _: &Params,
            _: &mut FirstRow,
            _: &mut Tally,
            _: Option<&mut dyn RowSink>,
        ) -> WireResult<()> {
            Ok(())
        }
        fn query(&mut self, _: &str) -> WireResult<TextTable> {
            Ok(TextTable::default())
        }
        fn load_rows(&mut self, _: &TableSpec, _: u64, _: &mut dyn FnMut(u64)) -> WireResult<()> {
            Ok(())
        }
        fn backend(&self) -> Option<i32> {
            unreachable!("nobody is asked")
        }
        fn close(self: Box<Self>) -> WireResult<()> {
            self.0.0[2].fetch_add(1, Relaxed);
            Ok(())
        }
    }

    fn client(statements: Json, accepted: usize) -> (Client, Arc<Counts>) {
        let test = json!({"name": "t", "connect": true, "statements": statements});
        let counts = Arc::new(Counts::default());
        let goal = Goal {
            name: "a".into(),
            wire: Arc::new(Counting(counts.clone(), accepted)),
            program: Arc::new(Program::compile(&serde_json::from_value(test).unwrap(), 1, 1).unwrap()),
            appended: Appended::default(),
        };
        (Client::connect(0, Mode::Prepared, &[goal]).unwrap(), counts)
    }

    #[test]
    fn every_event_opens_a_connection_and_closes_it() {
        for (statements, executed) in [(json!([]), 0), (json!([{"name": "s", "sql": "SELECT 1"}]), 5)] {
            let (mut client, counts) = client(statements, 99);
            assert_eq!((counts.read(), client.backends()), ([1, 0, 0], vec![None]));
            check(&mut client, 0, CheckSpec { events: 5, seed: 1 }).unwrap();
            assert_eq!(
                counts.read(),
                [6, executed, 6],
                "with the one that the test was opened with"
            );
        }
    }

    #[test]
    fn a_server_that_takes_no_more_connections_is_given_up_in_its_own_words() {
        let (mut client, counts) = client(json!([]), 3);
        let failure = check(&mut client, 0, CheckSpec { events: 50, seed: 1 }).unwrap_err();
        assert_eq!(failure.message, "too many connections");
        assert_eq!(counts.read()[2], 3);
    }

    #[test]
    fn statements_go_as_text() {
        let test = json!({"name": "t", "connect": true, "statements": [{"name": "s", "sql": "", "mode": "prepared"}]});
        let error = serde_json::from_value::<crate::workload::TestDefinition>(test).unwrap_err();
        assert!(
            error.to_string().contains("accepted with `connect` is \"text\""),
            "{error}"
        );
    }
}
