//! One client's way to one target, in one part of a row.

use super::live::Live;
use super::trouble::{Stop, Trouble};
use crate::record::Errors;
use crate::wire::{Connection, ErrorClass, RowSink, Tally, WireError, WireResult};
use crate::workload::{FirstRow, Params, Program, Scratch, Stream};

/// Runs events and keeps count of what came of them.
pub struct Lane<'a> {
    program: &'a Program,
    connection: &'a mut dyn Connection,
    scratch: &'a mut Scratch,
    stream: Stream,
    /// The part of the mix whose event has failed and is to be repeated, or that has to come next.
    next_part: Option<usize>,
    pub tally: Tally,
    pub trouble: Trouble,
    /// Where somebody looks on.
    pub live: Option<&'a Live>,
}

/// An event that has begun, between two of its statements.
#[derive(Debug, Default)]
pub struct Pause {
    /// Of the mix; None: still to be drawn.
    part: Option<usize>,
    /// How many of its statements are done.
    done: usize,
    pub left_ns: u64,
    /// What its statements have taken.
    pub spent_ns: u64,
}

/// Receives what the statements of an event return.
pub trait EventSink {
    /// Where the rows of the next execution of `statement` go.
    fn rows(&mut self, statement: usize) -> &mut dyn RowSink;
    /// `statement` was executed once, with these counts (BEGIN and COMMIT are not told).
    fn executed(&mut self, statement: usize, counts: Tally);
}

impl<'a> Lane<'a> {
    pub fn new(
        program: &'a Program,
        connection: &'a mut dyn Connection,
        scratch: &'a mut Scratch,
        stream: Stream,
    ) -> Self {
        Self {
            program,
            connection,
            scratch,
            stream,
            next_part: None,
            tally: Tally::default(),
            trouble: Trouble::default(),
            live: None,
        }
    }

    /// To be called with the response time of each event that went well.
    #[inline]
    pub fn responded(&self, elapsed_ns: u64) {
        if let Some(live) = self.live {
            live.responded(elapsed_ns);
        }
    }

    /// What it counted, and the stream where it has come to.
    pub fn leave(self) -> (Tally, Errors, Stream) {
        (self.tally, self.trouble.errors, self.stream)
    }

    /// Runs one event. False: it failed and was rolled back; the next attempt has new parameters.
    #[inline]
    pub fn attempt(&mut self) -> Result<bool, Stop> {
        let outcome = self.run_event();
        let went_well = self.recover(outcome)?;
        if let Some(live) = self.live {
            live.attempted(went_well, self.tally.rows, self.tally.affected);
        }
        Ok(went_well)
    }

    /// Runs the rest of an event, up to its next pause; the event's first statements are done. None: the client pauses; else as
    /// `attempt`, and the event begins anew.
    pub fn attempt_rest(&mut self, pause: &mut Pause) -> Result<Option<bool>, Stop> {
        self.next_part = self.next_part.or(pause.part);
        let outcome = self.stretch(pause.done);
        pause.part = self.next_part;
        if let Ok(Some((done, left_ns))) = outcome {
            (pause.done, pause.left_ns) = (done, left_ns);
            return Ok(None);
        }
        pause.done = 0;
        let went_well = self.recover(outcome.map(|_| ()))?;
        if let Some(live) = self.live {
            live.attempted(went_well, self.tally.rows, self.tally.affected);
        }
        Ok(Some(went_well))
    }

    fn stretch(&mut self, done: usize) -> WireResult<Option<(usize, u64)>> {
        let (connection, tally) = (&mut *self.connection, &mut self.tally);
        let part = match self.next_part {
            Some(part) => part,
            None => self.program.mix.draw(&mut self.stream),
        };
        self.next_part = Some(part);
        if self.program.connects && done == 0 {
            connection.enter()?;
        }
        let is_transaction = self.program.mix.parts()[part].transaction;
        if is_transaction && done == 0 {
            connection.begin(tally)?;
        }
        let program = self.program;
        let execute = |statement, table, params: &Params, row: Option<FirstRow>| match row {
            None => connection.execute(statement, table, params, tally),
            Some(row) => keep(connection, (program, statement, table), params, row, tally, None),
        };
        let paused = self
            .program
            .stretch((part, done), &mut self.stream, self.scratch, execute)?;
        if paused.is_some() {
            return Ok(paused);
        }
        if is_transaction {
            self.connection.commit(&mut self.tally)?;
        }
        if self.program.connects {
            self.connection.leave()?;
        }
        self.next_part = None;
        Ok(None)
    }

    /// Whether the client pauses within events.
    pub fn pauses(&self) -> bool {
        self.program.pauses()
    }

    /// As `attempt` of an event of this part of the mix, with every row and every count handed to `sink`.
    pub fn attempt_checked(&mut self, part: usize, sink: &mut dyn EventSink) -> Result<bool, Stop> {
        self.next_part = Some(part);
        let outcome = self.check_event(sink);
        self.recover(outcome)
    }

    #[inline]
    fn recover(&mut self, outcome: WireResult<()>) -> Result<bool, Stop> {
        match outcome {
            Ok(()) => {
                self.trouble.over();
                Ok(true)
            }
            Err(error) => self.trouble.handle(error, self.connection).map(|()| false),
        }
    }

    /// Runs one event: all statements in order, in a transaction and on a connection of its own where the test says so. After an error but `LostConnection`
    /// the caller has to roll back; nothing is repeated here.
    #[inline]
    pub fn run_event(&mut self) -> WireResult<()> {
        let program = self.program;
        self.event(|connection, statement, table, params, row, tally| match row {
            None => connection.execute(statement, table, params, tally),
            Some(row) => keep(connection, (program, statement, table), params, row, tally, None),
        })
    }

    /// As `run_event`, with every row and every count handed to `sink`.
    pub fn check_event(&mut self, sink: &mut dyn EventSink) -> WireResult<()> {
        let program = self.program;
        self.event(|connection, statement, table, params, row, tally| {
            let (before, rows) = (*tally, sink.rows(statement));
            match row {
                None => connection.execute_checked(statement, table, params, tally, rows)?,
                Some(row) => keep(connection, (program, statement, table), params, row, tally, Some(rows))?,
            }
            sink.executed(statement, tally.since(before));
            Ok(())
        })
    }

    #[inline]
    fn event(
        &mut self,
        mut execute: impl FnMut(&mut dyn Connection, usize, u32, &Params, Option<FirstRow>, &mut Tally) -> WireResult<()>,
    ) -> WireResult<()> {
        let (connection, tally) = (&mut *self.connection, &mut self.tally);
        // Drawn anew, parts that fail often would come to less than their share.
        let part = match self.next_part {
            Some(part) => part,
            None => self.program.mix.draw(&mut self.stream),
        };
        self.next_part = Some(part);
        if self.program.connects {
            connection.enter()?;
        }
        let is_transaction = self.program.mix.parts()[part].transaction;
        if is_transaction {
            connection.begin(tally)?;
        }
        self.program
            .event(part, &mut self.stream, self.scratch, |statement, table, params, row| {
                execute(connection, statement, table, params, row, tally)
            })?;
        if is_transaction {
            connection.commit(tally)?;
        }
        if self.program.connects {
            connection.leave()?;
        }
        self.next_part = None;
        Ok(())
    }
}

/// Executes a statement whose first row others need.
#[inline(never)]
fn keep(
    connection: &mut dyn Connection,
    (program, statement, table): (&Program, usize, u32),
    params: &Params,
    mut row: FirstRow,
    tally: &mut Tally,
    sink: Option<&mut dyn RowSink>,
) -> WireResult<()> {
    let rows_before = tally.rows;
    connection.execute_keeping((statement, table), params, &mut row, tally, sink)?;
    let fault = match tally.rows {
        rows if rows == rows_before => Some((ErrorClass::NoRow, "no row, and others need its values".to_owned())),
        _ => row.fault().map(|fault| (ErrorClass::Other, fault)),
    };
    fault.map_or(Ok(()), |(class, message)| {
        let name = &program.statements[statement].name;
        Err(WireError { class, message }.of_statement(name, program))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fake::{Bench, FakeConnection};
    use serde_json::json;

    /// Of three executions an event.
    fn bench(transaction: bool, connection: FakeConnection) -> Bench {
        let test = json!({"name": "t", "transaction": transaction,
                          "statements": [{"name": "a", "sql": "", "repeat": 2}, {"name": "b", "sql": ""}]});
        Bench::of(test, connection)
    }

    #[test]
    fn an_event_is_a_transaction_where_the_test_says_so() {
        let mut alone = bench(false, FakeConnection::default());
        alone.lane().run_event().unwrap();
        assert_eq!((alone.connection.executions, alone.connection.edges.len()), (3, 0));

        let fail = vec![(4, ErrorClass::Deadlock)];
        let mut bench = bench(
            true,
            FakeConnection {
                fail,
                ..FakeConnection::default()
            },
        );
        let mut lane = bench.lane();
        let went_well: Vec<_> = (0..3).map(|_| lane.attempt().unwrap()).collect();
        assert_eq!(went_well, [true, false, true]);
        // The second event ends with its second execution, in a roll-back.
        let edges = [("BEGIN", 0), ("COMMIT", 3), ("BEGIN", 3), ("BEGIN", 5), ("COMMIT", 8)];
        assert_eq!(bench.connection.edges, edges);
        assert_eq!(bench.connection.rollbacks, 1);
    }

    #[test]
    fn an_event_has_a_connection_of_its_own_where_the_test_says_so() {
        let test = json!({"name": "t", "connect": true, "transaction": true, "statements": [
            {"name": "a", "sql": "", "pause_ns": 1}, {"name": "b", "sql": ""}]});
        let fail = vec![(3, ErrorClass::Deadlock)];
        let connection = FakeConnection {
            fail,
            ..FakeConnection::default()
        };
        let mut bench = Bench::of(test, connection);
        let mut lane = bench.lane();
        let went_well: Vec<_> = (0..3).map(|_| lane.attempt().unwrap()).collect();
        assert_eq!(went_well, [true, false, true]);
        // A pause is within the event, and its connection stays.
        let mut pause = Pause::default();
        assert_eq!(lane.attempt_rest(&mut pause).unwrap(), None);
        assert_eq!(lane.attempt_rest(&mut pause).unwrap(), Some(true));
        let whole = |from: usize| {
            [
                ("ENTER", from),
                ("BEGIN", from),
                ("COMMIT", from + 2),
                ("LEAVE", from + 2),
            ]
        };
        let failed = [("ENTER", 2), ("BEGIN", 2)];
        assert_eq!(
            bench.connection.edges,
            [&whole(0)[..], &failed, &whole(4), &whole(6)].concat()
        );
        assert_eq!(bench.connection.rollbacks, 1);
    }

    #[test]
    fn what_failed_in_a_mix_is_repeated_and_not_drawn_anew() {
        let part = |name: &str, weight: u32| json!({"name": name, "sql": "", "part": {"name": name, "weight": weight, "transaction": name == "rare"}});
        let test = json!({"name": "t", "statements": [part("usual", 1_000_000), part("rare", 1)]});
        let fail = vec![(0, ErrorClass::Deadlock), (1, ErrorClass::Deadlock)];
        let connection = FakeConnection {
            fail,
            ..FakeConnection::default()
        };
        let mut bench = Bench::of(test, connection);
        let mut lane = bench.lane();
        lane.next_part = Some(1);
        let went_well: Vec<_> = (0..4).map(|_| lane.attempt().unwrap()).collect();
        assert_eq!(went_well, [false, false, true, true]);
        // The rare part alone is a transaction: it was tried three times, and the usual one came after it.
        let edges = [("BEGIN", 0), ("BEGIN", 1), ("BEGIN", 2), ("COMMIT", 3)];
        assert_eq!(bench.connection.edges, edges);
    }

    #[test]
    fn checked_events_tell_rows_and_counts_of_every_execution() {
        #[derive(Default)]
        struct Seen(Vec<(usize, u64)>, u64);
        impl RowSink for Seen {
            fn row(&mut self, _: &[Option<&[u8]>]) {
                self.1 += 1;
            }
        }
        impl EventSink for Seen {
            fn rows(&mut self, _: usize) -> &mut dyn RowSink {
                self
            }
            fn executed(&mut self, statement: usize, counts: Tally) {
                self.0.push((statement, counts.rows));
            }
        }
        let mut seen = Seen::default();
        let mut bench = bench(true, FakeConnection::default());
        assert!(bench.lane().attempt_checked(0, &mut seen).unwrap());
        assert_eq!(seen.0, [(0, 1), (0, 1), (1, 1)]);
        assert_eq!(seen.1, 3);
    }
}
