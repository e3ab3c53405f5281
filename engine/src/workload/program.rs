//! A test compiled: statements with their text taken apart and their generators ready to draw.
//!
//! How it is used: `Scratch::new(&program)` once per client and target when the test is opened, and kept while it is open
//! (sequences must not start again); `Stream::new` per client and part of a row; then `run_event` in a loop. `check_event`
//! is the same with the values handed out.

use super::definition::TestDefinition;
use super::generator::{Memory, Scope};
use super::params::Params;
use super::statement::{Statement, TableChoice};
use super::stream::Stream;
use crate::wire::{Connection, RowSink, Tally, WireResult};

/// A compiled test.
#[derive(Debug)]
pub struct Program {
    pub name: String,
    pub transaction: bool,
    pub statements: Vec<Statement>,
    /// Number of tables, at least 1.
    pub tables: u32,
    /// Number of clients, at least 1.
    pub clients: u32,
    memory: Memory,
}

/// What a client keeps from event to event: sequences, and buffers that would have to be allocated otherwise.
#[derive(Debug)]
pub struct Scratch {
    memory: Memory,
    tables: Vec<u32>,
    params: Params,
}

/// Receives what the statements of an event return.
pub trait EventSink {
    /// Where the rows of the next execution of `statement` go.
    fn rows(&mut self, statement: usize) -> &mut dyn RowSink;
    /// `statement` was executed once, with these counts (BEGIN and COMMIT are not told).
    fn executed(&mut self, statement: usize, counts: Tally);
}

impl Scratch {
    pub fn new(program: &Program) -> Self {
        Self {
            memory: program.memory.clone(),
            tables: vec![1; program.statements.len()],
            params: Params::new(),
        }
    }
}

impl Program {
    /// Errors are sentences that name test, statement and parameter.
    pub fn compile(test: &TestDefinition, tables: u32, clients: u32) -> Result<Self, String> {
        let place = format!("test {:?}", test.name);
        if tables == 0 || clients == 0 {
            return Err(format!(
                "{place}: {tables} tables and {clients} clients; accepted is 1 or more of each"
            ));
        }
        let mut scope = Scope::default();
        let mut statements: Vec<Statement> = Vec::new();
        for definition in &test.statements {
            let statement = Statement::compile(definition, &test.statements, &statements, &mut scope)
                .map_err(|message| format!("{place}, statement {:?}{message}", definition.name))?;
            statements.push(statement);
        }
        Ok(Self {
            name: test.name.clone(),
            transaction: test.transaction,
            statements,
            tables,
            clients,
            memory: scope.memory(clients),
        })
    }

    /// Runs one event: all statements in order, in a transaction where the test says so. After an error but
    /// `LostConnection` the caller has to call `rollback`; nothing is repeated here.
    #[inline]
    pub fn run_event(
        &self,
        connection: &mut dyn Connection,
        stream: &mut Stream,
        scratch: &mut Scratch,
        tally: &mut Tally,
    ) -> WireResult<()> {
        if self.transaction {
            connection.begin(tally)?;
        }
        for (index, statement) in self.statements.iter().enumerate() {
            let table = self.choose_table(index, stream, scratch);
            for _ in 0..statement.repeat {
                statement.draw(stream, &mut scratch.memory, &mut scratch.params);
                connection.execute(index, table, &scratch.params, tally)?;
            }
        }
        if self.transaction {
            connection.commit(tally)?;
        }
        Ok(())
    }

    /// As `run_event`, with every row and every count handed to `sink`.
    pub fn check_event(
        &self,
        connection: &mut dyn Connection,
        stream: &mut Stream,
        scratch: &mut Scratch,
        tally: &mut Tally,
        sink: &mut dyn EventSink,
    ) -> WireResult<()> {
        if self.transaction {
            connection.begin(tally)?;
        }
        for (index, statement) in self.statements.iter().enumerate() {
            let table = self.choose_table(index, stream, scratch);
            for _ in 0..statement.repeat {
                statement.draw(stream, &mut scratch.memory, &mut scratch.params);
                let before = *tally;
                connection.execute_checked(index, table, &scratch.params, tally, sink.rows(index))?;
                sink.executed(index, tally.since(before));
            }
        }
        if self.transaction {
            connection.commit(tally)?;
        }
        Ok(())
    }

    /// The table of a statement for this event; repetitions of the statement share it.
    #[inline]
    fn choose_table(&self, statement: usize, stream: &mut Stream, scratch: &mut Scratch) -> u32 {
        let table = match self.statements[statement].table {
            TableChoice::Draw if self.tables == 1 => 1,
            TableChoice::Draw => stream.integer(1, i64::from(self.tables)) as u32,
            TableChoice::Client => stream.client() % self.tables + 1,
            TableChoice::Same(earlier) => scratch.tables[earlier],
        };
        scratch.tables[statement] = table;
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Mode, TextTable, WireError};
    use crate::workload::statement::Execution;
    use crate::workload::stream::Part;
    use crate::workload::text::write_integer;
    use crate::workload::{TableSpec, Value};
    use serde_json::{Value as Json, json};

    /// Writes down what is sent.
    struct Recorder<'a> {
        program: &'a Program,
        sent: Vec<String>,
    }

    impl Connection for Recorder<'_> {
        fn prepare(&mut self, _: &Program, _: Mode) -> WireResult<()> {
            Ok(())
        }
        fn begin(&mut self, _: &mut Tally) -> WireResult<()> {
            self.sent.push("BEGIN".into());
            Ok(())
        }
        fn commit(&mut self, _: &mut Tally) -> WireResult<()> {
            self.sent.push("COMMIT".into());
            Ok(())
        }
        fn rollback(&mut self) -> WireResult<()> {
            Ok(())
        }
        fn execute(&mut self, statement: usize, table: u32, params: &Params, tally: &mut Tally) -> WireResult<()> {
            let mut text = Vec::new();
            self.program.statements[statement].render(table, &mut text, |slot, out| match params.get(slot) {
                Value::Integer(value) => write_integer(value, out),
                Value::Text(text) => out.extend_from_slice(text),
            });
            self.sent.push(String::from_utf8(text).unwrap());
            tally.statements += 1;
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
            sink.row(&[Some(b"x")]);
            tally.rows += 1;
            self.execute(statement, table, params, tally)
        }
        fn query(&mut self, _: &str) -> WireResult<TextTable> {
            Ok(TextTable::default())
        }
        fn load_rows(&mut self, _: &TableSpec, _: u64, _: &mut dyn FnMut(u64)) -> Result<(), WireError> {
            Ok(())
        }
        fn backend(&self) -> Option<i32> {
            None
        }
    }

    fn compile(json: Json, tables: u32) -> Result<Program, String> {
        let test: TestDefinition = serde_json::from_value(json).map_err(|error| error.to_string())?;
        Program::compile(&test, tables, 2)
    }

    fn events(program: &Program, events: usize, seed: u64, client: u32) -> Vec<String> {
        let mut recorder = Recorder {
            program,
            sent: Vec::new(),
        };
        let mut stream = Stream::new(seed, 0, client, Part::Slot);
        let mut scratch = Scratch::new(program);
        for _ in 0..events {
            program
                .run_event(&mut recorder, &mut stream, &mut scratch, &mut Tally::default())
                .unwrap();
        }
        recorder.sent
    }

    fn statement(sql: &str, params: Json) -> Json {
        json!({"name": "t", "statements": [{"name": "s", "sql": sql, "params": params}]})
    }

    #[test]
    fn an_event_is_all_statements_in_a_transaction() {
        let test = json!({"name": "t", "transaction": true, "statements": [
            {"name": "point", "sql": "P:{table} :id", "repeat": 3, "params": {"id": {"gen": "uniform", "low": 1, "high": 1000}}},
            {"name": "delete", "sql": "D:{table} :gone", "params": {"gone": {"gen": "uniform", "low": 1, "high": 1000}}},
            {"name": "insert", "table": "delete", "sql": "I:{table} :again", "params": {"again": {"gen": "ref", "of": "gone"}}},
        ]});
        let program = compile(test, 8).unwrap();
        let sent = events(&program, 50, 1, 0);
        for event in sent.chunks(7) {
            assert_eq!((event[0].as_str(), event[6].as_str()), ("BEGIN", "COMMIT"));
            let table = |text: &str| text.split(' ').next().unwrap()[2..].to_owned();
            assert_eq!(
                table(&event[1]),
                table(&event[3]),
                "repetitions share their table: {event:?}"
            );
            assert_eq!(event[4][2..], event[5][2..], "same table and row: {event:?}");
        }
        assert!(
            sent.chunks(7).any(|event| event[1] != event[2]),
            "repetitions draw anew"
        );
        assert!(sent.chunks(7).any(|event| event[1][..3] != event[0][..3]));
    }

    #[test]
    fn the_stream_alone_decides_what_is_sent() {
        let program = compile(
            statement("{table} :a", json!({"a": {"gen": "uniform", "low": 1, "high": 99}})),
            3,
        )
        .unwrap();
        assert_eq!(events(&program, 20, 5, 0), events(&program, 20, 5, 0));
        assert_ne!(events(&program, 20, 5, 0), events(&program, 20, 6, 0));
        assert_ne!(events(&program, 20, 5, 0), events(&program, 20, 5, 1));
    }

    #[test]
    fn lists_are_written_out_and_names_may_come_twice() {
        let params = json!({"ids": {"gen": "constant", "value": 7, "count": 3, "consecutive": true},
                            "x": {"gen": "constant", "value": "é"}});
        let program = compile(statement("IN (:ids) :x OR (:ids) ':x'::text", params), 1).unwrap();
        assert_eq!(program.statements[0].slots, 4);
        assert_eq!(events(&program, 1, 1, 0), ["IN (7, 8, 9) é OR (7, 8, 9) ':x'::text"]);
        let mut text = Vec::new();
        program.statements[0].render(1, &mut text, |slot, out| {
            out.extend_from_slice(format!("${}", slot + 1).as_bytes())
        });
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "IN ($1, $2, $3) $4 OR ($1, $2, $3) ':x'::text"
        );
    }

    #[test]
    fn parameters_are_drawn_in_written_order_and_seen_by_later_ones() {
        let params = json!({"z": {"gen": "uniform", "low": 1, "high": 1000}, "a": {"gen": "ref", "of": "z", "add": 9}});
        let program = compile(statement(":a - :z", params), 1).unwrap();
        for sent in events(&program, 20, 1, 0) {
            let (high, low) = sent.split_once(" - ").unwrap();
            assert_eq!(high.parse::<i64>().unwrap() - low.parse::<i64>().unwrap(), 9);
        }
    }

    #[test]
    fn tables_of_clients_and_sequences_go_on_over_rows() {
        let test = json!({"name": "t", "statements": [{"name": "s", "table": "client", "sql": "{table} :id",
                          "params": {"id": {"gen": "sequence", "start": 100}}}]});
        let program = compile(test, 4).unwrap();
        let mut scratch = Scratch::new(&program);
        let mut recorder = Recorder {
            program: &program,
            sent: Vec::new(),
        };
        for row in 0..3 {
            let mut stream = Stream::new(1, row, 1, Part::Slot);
            program
                .run_event(&mut recorder, &mut stream, &mut scratch, &mut Tally::default())
                .unwrap();
        }
        assert_eq!(recorder.sent, ["2 101", "2 103", "2 105"]);
    }

    #[test]
    fn modes_of_statements_go_before_that_of_the_test() {
        let test = json!({"name": "t", "statements": [{"name": "a", "sql": ""}, {"name": "b", "sql": "", "mode": "text"},
                          {"name": "c", "sql": "", "mode": "prepared"}]});
        let program = compile(test, 1).unwrap();
        let executions = |mode| {
            program
                .statements
                .iter()
                .map(|one| one.execution(mode))
                .collect::<Vec<_>>()
        };
        use Execution::*;
        assert_eq!(executions(Mode::Prepared), [Prepared, Text, Prepared]);
        assert_eq!(executions(Mode::Unprepared), [Unprepared, Text, Prepared]);
    }

    #[test]
    fn check_events_tell_rows_and_counts_of_every_execution() {
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
        let test =
            json!({"name": "t", "statements": [{"name": "a", "sql": "", "repeat": 2}, {"name": "b", "sql": ""}]});
        let program = compile(test, 1).unwrap();
        let mut recorder = Recorder {
            program: &program,
            sent: Vec::new(),
        };
        let mut seen = Seen::default();
        let mut stream = Stream::new(1, 0, 0, Part::Check);
        program
            .check_event(
                &mut recorder,
                &mut stream,
                &mut Scratch::new(&program),
                &mut Tally::default(),
                &mut seen,
            )
            .unwrap();
        assert_eq!(seen.0, [(0, 1), (0, 1), (1, 1)]);
        assert_eq!(seen.1, 3);
    }

    #[test]
    fn errors_name_test_statement_and_parameter() {
        let cases = [
            (
                statement("SELECT :idd", json!({"id": {"gen": "sequence"}})),
                "test \"t\", statement \"s\": the SQL names :idd, which has no generator; `params` has id",
            ),
            (
                statement("SELECT 1", json!({"id": {"gen": "sequence"}})),
                "parameter \"id\": neither the SQL nor another parameter uses it",
            ),
            (
                statement("SELECT :a", json!({"a": {"gen": "ref", "of": "b"}})),
                "parameter \"a\": `of` names \"b\"; accepted is an earlier parameter: none",
            ),
            (
                statement(
                    "SELECT :a",
                    json!({"b": {"gen": "text", "template": "#"}, "a": {"gen": "ref", "of": "b"}}),
                ),
                "which is a text or a list",
            ),
            (
                json!({"name": "t", "statements": [{"name": "s", "sql": "", "table": "x"}]}),
                "`table` is \"x\"; accepted are \"draw\", \"client\" and the names of earlier statements: none",
            ),
            (
                json!({"name": "t", "statements": [{"name": "s", "sql": ""}, {"name": "s", "sql": ""}]}),
                "statement \"s\": the name is given twice",
            ),
        ];
        for (json, expected) in cases {
            let error = compile(json.clone(), 1).unwrap_err();
            assert!(error.contains(expected), "{json}: {error}");
        }
        assert!(compile(json!({"name": "t", "statements": [{"name": "s", "sql": ""}]}), 0).is_err());
    }
}
