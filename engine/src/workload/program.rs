//! A test compiled: statements with their text taken apart and their generators ready to draw.
//!
//! How it is used: `Scratch::new(&program)` once per client and target when the test is opened, and kept while it is open
//! (sequences must not start again); `Stream::new` per client and part of a row; then `event` in a loop.

use super::definition::TestDefinition;
use super::generator::{Memory, Scope};
use super::params::Params;
use super::statement::{Statement, TableChoice};
use super::stream::Stream;

/// A compiled test.
#[derive(Debug)]
pub struct Program {
    pub name: String,
    /// Whether an event is one transaction.
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

    /// Draws one event: hands statement, table and values of each execution to `execute`, in order, up to its first error.
    #[inline]
    pub fn event<E>(
        &self,
        stream: &mut Stream,
        scratch: &mut Scratch,
        mut execute: impl FnMut(usize, u32, &Params) -> Result<(), E>,
    ) -> Result<(), E> {
        for (index, statement) in self.statements.iter().enumerate() {
            let table = self.choose_table(index, stream, scratch);
            for _ in 0..statement.repeat {
                statement.draw(stream, &mut scratch.memory, &mut scratch.params);
                execute(index, table, &scratch.params)?;
            }
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
    use crate::workload::Value;
    use crate::workload::statement::{Execution, Mode};
    use crate::workload::stream::Part;
    use crate::workload::text::write_integer;
    use serde_json::{Value as Json, json};

    fn compile(json: Json, tables: u32) -> Result<Program, String> {
        let test: TestDefinition = serde_json::from_value(json).map_err(|error| error.to_string())?;
        Program::compile(&test, tables, 2)
    }

    /// The texts of an event's executions.
    fn event(program: &Program, stream: &mut Stream, scratch: &mut Scratch) -> Vec<String> {
        let mut sent = Vec::new();
        let drawn = program.event(stream, scratch, |statement, table, params| {
            let mut text = Vec::new();
            program.statements[statement].render(table, &mut text, |slot, out| match params.get(slot) {
                Value::Integer(value) => write_integer(value, out),
                Value::Text(text) => out.extend_from_slice(text),
            });
            sent.push(String::from_utf8(text)?);
            Ok::<_, std::string::FromUtf8Error>(())
        });
        drawn.unwrap();
        sent
    }

    fn events(program: &Program, events: usize, seed: u64, client: u32) -> Vec<String> {
        let mut stream = Stream::new(seed, 0, client, Part::Slot);
        let mut scratch = Scratch::new(program);
        (0..events)
            .flat_map(|_| event(program, &mut stream, &mut scratch))
            .collect()
    }

    fn statement(sql: &str, params: Json) -> Json {
        json!({"name": "t", "statements": [{"name": "s", "sql": sql, "params": params}]})
    }

    #[test]
    fn an_event_is_all_statements_in_order() {
        let test = json!({"name": "t", "statements": [
            {"name": "point", "sql": "P:{table} :id", "repeat": 3, "params": {"id": {"gen": "uniform", "low": 1, "high": 1000}}},
            {"name": "delete", "sql": "D:{table} :gone", "params": {"gone": {"gen": "uniform", "low": 1, "high": 1000}}},
            {"name": "insert", "table": "delete", "sql": "I:{table} :again", "params": {"again": {"gen": "ref", "of": "gone"}}},
        ]});
        let program = compile(test, 8).unwrap();
        let sent = events(&program, 50, 1, 0);
        for event in sent.chunks(5) {
            let table = |text: &str| text.split(' ').next().unwrap()[2..].to_owned();
            assert_eq!(
                table(&event[0]),
                table(&event[2]),
                "repetitions share their table: {event:?}"
            );
            assert_eq!(event[3][2..], event[4][2..], "same table and row: {event:?}");
        }
        assert!(
            sent.chunks(5).any(|event| event[0] != event[1]),
            "repetitions draw anew"
        );
        assert!(sent.chunks(5).any(|event| event[0][2..3] != event[3][2..3]));
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
        let sent: Vec<_> = (0..3)
            .flat_map(|row| event(&program, &mut Stream::new(1, row, 1, Part::Slot), &mut scratch))
            .collect();
        assert_eq!(sent, ["2 101", "2 103", "2 105"]);
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
