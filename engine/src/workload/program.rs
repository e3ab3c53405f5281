//! A test compiled: statements with their text taken apart and their generators ready to draw.
//!
//! How it is used: `Scratch::new` once per client and target when the test is opened, and kept while it is open
//! (sequences must not start again); `Stream::new` per client and part of a row; then `event` in a loop.

use super::appended::Appended;
use super::definition::TestDefinition;
use super::keep::{FirstRow, Special};
use super::mix::Mix;
use super::params::Params;
use super::scope::{Memory, Scope};
use super::statement::{Statement, TableChoice};
use super::stream::Stream;

/// A compiled test.
#[derive(Debug)]
pub struct Program {
    pub name: String,
    /// What an event may be.
    pub mix: Mix,
    /// Each event opens a connection of its own, and closes it.
    pub connects: bool,
    /// What every connection executes before anything is prepared.
    pub session_sql: Vec<String>,
    pub statements: Vec<Statement>,
    /// Number of tables, at least 1.
    pub tables: u32,
    /// Number of clients, at least 1.
    pub clients: u32,
    memory: Memory,
    /// As in `Scope::ends`.
    ends: Vec<(String, bool)>,
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
        Self::appending(program, &Appended::default())
    }

    /// Whose rows go on after those that `appended` has counted.
    pub fn appending(program: &Program, appended: &Appended) -> Self {
        let tables = |(of, each): &(String, bool)| match each {
            true => (0..program.tables).map(|table| appended.ends(of, table)).collect(),
            false => vec![appended.ends(of, 0)],
        };
        let mut memory = program.memory.clone();
        memory.ends = program.ends.iter().map(tables).collect();
        Self {
            memory,
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
        let mix = Mix::compile(test).map_err(|message| format!("{place}{message}"))?;
        let mut scope = Scope::default();
        let mut statements: Vec<Statement> = Vec::new();
        let mut part_starts = 0;
        for (index, definition) in test.statements.iter().enumerate() {
            if definition.part.is_some() {
                scope.forget_names();
                part_starts = index;
            }
            let statement = Statement::compile(definition, &test.statements, &statements, &mut scope)
                .map_err(|message| format!("{place}, statement {:?}{message}", definition.name))?;
            if matches!(statement.table, TableChoice::Same(earlier) if earlier < part_starts) {
                return Err(format!(
                    "{place}, statement {:?}: `table` is that of a statement in another part of the mix",
                    definition.name
                ));
            }
            statements.push(statement);
        }
        Ok(Self {
            name: test.name.clone(),
            mix,
            connects: test.connect,
            session_sql: test.session_sql.clone(),
            statements,
            tables,
            clients,
            memory: scope.memory(clients),
            ends: scope.ends,
        })
    }

    /// Draws one event of a part of the mix: hands statement, table and values of each execution to `execute`, in order, up to
    /// its first error, and what takes the first row of the answer where others need that.
    #[inline]
    pub fn event<E>(
        &self,
        part: usize,
        stream: &mut Stream,
        scratch: &mut Scratch,
        mut execute: impl FnMut(usize, u32, &Params, Option<FirstRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        for index in self.mix.parts()[part].statements.clone() {
            self.run(index, stream, scratch, &mut execute)?;
        }
        Ok(())
    }

    /// As `event`, without its first `done` statements and up to one after which the client pauses; how many are done then, and
    /// for how long it does. None: the event is at its end.
    pub fn stretch<E>(
        &self,
        (part, done): (usize, usize),
        stream: &mut Stream,
        scratch: &mut Scratch,
        mut execute: impl FnMut(usize, u32, &Params, Option<FirstRow>) -> Result<(), E>,
    ) -> Result<Option<(usize, u64)>, E> {
        for (index, done) in self.mix.parts()[part].statements.clone().zip(1..).skip(done) {
            self.run(index, stream, scratch, &mut execute)?;
            match self.statements[index].pause_ns {
                0 => {}
                pause_ns => return Ok(Some((done, pause_ns))),
            }
        }
        Ok(None)
    }

    /// Whether a client pauses within an event.
    pub fn pauses(&self) -> bool {
        self.statements.iter().any(|statement| statement.pause_ns > 0)
    }

    /// A statement of an event, with its repetitions.
    #[inline]
    fn run<E>(
        &self,
        index: usize,
        stream: &mut Stream,
        scratch: &mut Scratch,
        execute: &mut impl FnMut(usize, u32, &Params, Option<FirstRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        let statement = &self.statements[index];
        let table = self.choose_table(index, stream, scratch);
        scratch.memory.table = table as usize - 1;
        if let Some(special) = &statement.special {
            return self.run_special(special, (index, table), stream, scratch, execute);
        }
        for _ in 0..statement.repeat {
            statement.draw(stream, &mut scratch.memory, &mut scratch.params);
            execute(index, table, &scratch.params, None)?;
        }
        Ok(())
    }

    /// What is left out is drawn as well: whatever a target has answered, the next values are the same for all.
    #[inline(never)]
    fn run_special<E>(
        &self,
        special: &Special,
        (index, table): (usize, u32),
        stream: &mut Stream,
        scratch: &mut Scratch,
        execute: &mut impl FnMut(usize, u32, &Params, Option<FirstRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Scratch { memory, params, .. } = scratch;
        for _ in 0..self.statements[index].repeat {
            draw_aside(&self.statements[index], stream, memory, params);
            if !special.begin(memory) {
                continue;
            }
            if special.columns.is_empty() {
                execute(index, table, params, None)?;
                continue;
            }
            let row = FirstRow::new(&special.columns, &mut memory.kept);
            execute(index, table, params, Some(row))?;
            special.end(memory);
        }
        Ok(())
    }

    /// The table of a statement for this event; repetitions of the statement share it.
    #[inline(always)]
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

#[inline(never)]
fn draw_aside(statement: &Statement, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
    statement.draw(stream, memory, params);
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
        let part = program.mix.draw(stream);
        let drawn = program.event(part, stream, scratch, |statement, table, params, _| {
            let mut text = Vec::new();
            program.statements[statement].render(table, &mut text, |slot, out| match params.get(slot) {
                Value::Integer(value) => write_integer(value, out),
                Value::Text(text) => out.extend_from_slice(text),
                other => out.extend_from_slice(format!("{other:?}").as_bytes()),
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

    fn mix(first: Json, second: Json) -> Json {
        let id = json!({"id": {"gen": "uniform", "low": 1, "high": 1000}});
        json!({"name": "t", "statements": [
            {"name": "read", "sql": "R :id", "params": id, "part": first},
            {"name": "log", "sql": "L :id", "params": {"id": {"gen": "ref", "of": "id"}}},
            {"name": "write", "sql": "W :id", "params": id, "part": second},
        ]})
    }

    #[test]
    fn an_event_of_a_mix_is_one_of_its_parts_drawn_by_weight() {
        let read = json!({"name": "read", "weight": 3});
        let program = compile(mix(read, json!({"name": "write", "weight": 1, "transaction": true})), 1).unwrap();
        let sent = events(&program, 4000, 1, 0);
        let reads = sent.iter().filter(|text| text.starts_with('R')).count();
        let writes = sent.iter().filter(|text| text.starts_with('W')).count();
        assert_eq!(reads + writes, 4000);
        assert!((2850..3150).contains(&reads), "{reads}");
        let logged = |pair: &[String]| pair[0].starts_with('R') == (pair[1] == format!("L{}", &pair[0][1..]));
        assert!(sent.windows(2).all(|pair| pair[1].starts_with('W') || logged(pair)));
        let transactions: Vec<_> = program.mix.parts().iter().map(|part| part.transaction).collect();
        assert_eq!(transactions, [false, true]);
    }

    #[test]
    fn parts_stand_for_themselves() {
        let part = |weight| json!({"name": "p", "weight": weight});
        let mut refers = mix(part(1), part(1));
        refers["statements"][2]["params"] = json!({"id": {"gen": "ref", "of": "id"}});
        let mut same_table = mix(part(1), part(1));
        same_table["statements"][2]["table"] = json!("read");
        let mut in_transaction = mix(part(1), part(1));
        in_transaction["transaction"] = json!(true);
        for (test, expected) in [
            (
                mix(part(0), part(1)),
                "part \"p\": `weight` is 0; accepted is 1 or more",
            ),
            (mix(Json::Null, part(1)), "the first statement has a `part`"),
            (in_transaction, "parts say whether they are a `transaction`"),
            (refers, "accepted is an earlier parameter: none"),
            (same_table, "a statement in another part of the mix"),
        ] {
            let error = compile(test, 1).unwrap_err();
            assert!(error.contains(expected), "{error}");
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

    /// What each statement of a program with these appends, deletes and looks for, of two equal tables.
    fn ends(appended: &Appended, statement: &Json, client: u32) -> Vec<String> {
        let program = compile(json!({"name": "t", "statements": [statement]}), 2).unwrap();
        let mut scratch = Scratch::appending(&program, appended);
        event(&program, &mut Stream::new(1, 0, client, Part::Slot), &mut scratch)
    }

    #[test]
    fn rows_are_deleted_from_the_oldest_end_and_looked_for_where_they_are() {
        let appended = Appended::default();
        let insert = json!({"name": "i", "table": "client", "sql": "INSERT INTO t{table} VALUES (:id)", "rows": 6,
            "params": {"id": {"gen": "sequence"}}, "position": {"of": "t", "from": 10}});
        let delete = json!({"name": "d", "table": "client", "sql": "DELETE {table} :first LIMIT 4", "rows": 4,
            "params": {"first": {"gen": "row", "expr": ["+", "row", 1]}}, "position": {"of": "t", "end": "oldest"}});
        let read = json!({"name": "r", "table": "client", "sql": "{table} :ids",
            "params": {"ids": {"gen": "present", "of": "t", "loaded": 10, "count": 500}}});
        let sent = ends(&appended, &insert, 1);
        assert_eq!(sent, ["INSERT INTO t2 VALUES (11), (12), (13), (14), (15), (16)"]);
        let deleted: Vec<_> = (0..2).flat_map(|_| ends(&appended, &delete, 1)).collect();
        assert_eq!(deleted, ["DELETE 2 1 LIMIT 4", "DELETE 2 5 LIMIT 4"]);
        for (client, low, high) in [(1, 9, 16), (0, 1, 10)] {
            let text = ends(&appended, &read, client).concat();
            let ids = text
                .split_once(' ')
                .unwrap()
                .1
                .split(", ")
                .map(|id| id.parse::<i64>().unwrap());
            let (least, most) = (ids.clone().min().unwrap(), ids.max().unwrap());
            assert_eq!((least, most), (low, high), "client {client}");
        }
    }

    #[test]
    fn a_text_may_have_one_of_several_templates() {
        let params =
            json!({"c": {"gen": "text", "template": ["aa@", "aaa@@", "{n}#"]}, "n": {"gen": "constant", "value": 7}});
        let refused = compile(statement(":c", params.clone()), 1).unwrap_err();
        assert!(
            refused.contains("neither the SQL nor another parameter uses it") || refused.contains("\"n\""),
            "{refused}"
        );
        let params =
            json!({"n": {"gen": "constant", "value": 7}, "c": {"gen": "text", "template": ["aa@", "aaa@@", "{n}#"]}});
        let sent = events(&compile(statement(":c", params), 1).unwrap(), 300, 1, 0);
        for length in [3, 5, 2] {
            let share = sent.iter().filter(|text| text.len() == length).count();
            assert!((60..140).contains(&share), "{share} of {length}");
        }
        let empty = compile(statement(":c", json!({"c": {"gen": "text", "template": []}})), 1).unwrap_err();
        assert!(empty.contains("`template` is empty"), "{empty}");
    }

    fn insert(rows: u64) -> Json {
        json!({"name": "t", "statements": [{"name": "s", "rows": rows, "position": {"of": "t", "from": 100, "seed": 7},
               "sql": "INSERT INTO t VALUES (:id, :n, :x) RETURNING id", "params": {
            "id": {"gen": "sequence"}, "n": {"gen": "row", "expr": ["%", "row", 10]},
            "x": {"gen": "uniform", "low": 1, "high": 1_000_000}}}]})
    }

    #[test]
    fn rows_of_a_statement_have_values_of_their_own() {
        let params = json!({"a": {"gen": "uniform", "low": 1, "high": 1_000_000}, "b": {"gen": "ref", "of": "a"}});
        let mut test = statement("INSERT INTO t VALUES (:a, ')', :b) RETURNING 1", params);
        test["statements"][0]["rows"] = json!(3);
        let program = compile(test, 1).unwrap();
        assert_eq!(program.statements[0].slots, 6);
        let [sent] = events(&program, 1, 1, 0).try_into().unwrap();
        let rows = sent.strip_prefix("INSERT INTO t VALUES (").unwrap();
        let rows: Vec<_> = rows.strip_suffix(") RETURNING 1").unwrap().split("), (").collect();
        let values: Vec<_> = rows.iter().map(|row| row.split_once(", ')', ").unwrap()).collect();
        assert!(values.len() == 3 && values.iter().all(|(a, b)| a == b), "{sent}");
        assert!(values[0] != values[1] && values[1] != values[2], "{sent}");
    }

    #[test]
    fn appended_rows_go_on_over_clients_and_tests_and_are_the_same_everywhere() {
        let (one, two) = (compile(insert(1), 1).unwrap(), compile(insert(2), 1).unwrap());
        let sent = |orders: &[(&Program, u32)]| {
            let appended = Appended::default();
            let mut rows = Vec::new();
            for &(program, client) in orders {
                let mut scratch = Scratch::appending(program, &appended);
                let text = event(program, &mut Stream::new(1, 0, client, Part::Slot), &mut scratch).concat();
                let values = text.split_once('(').unwrap().1.rsplit_once(')').unwrap().0;
                rows.extend(values.split("), (").map(str::to_owned));
            }
            rows
        };
        let rows = sent(&[(&one, 0), (&two, 1), (&one, 1)]);
        assert_eq!(rows, sent(&[(&two, 0), (&two, 1)]));
        let starts: Vec<_> = rows.iter().map(|row| row.rsplit_once(", ").unwrap().0).collect();
        assert_eq!(starts, ["101, 0", "102, 1", "103, 2", "104, 3"]);
        assert_ne!(
            rows[0].rsplit_once(", ").unwrap().1,
            rows[1].rsplit_once(", ").unwrap().1
        );
    }

    #[test]
    fn rows_that_no_statement_can_have_are_refused() {
        let refused = |change: &dyn Fn(&mut Json)| {
            let mut test = insert(2);
            change(&mut test["statements"][0]);
            compile(test, 1).unwrap_err()
        };
        let error = refused(&|statement| statement["rows"] = json!(20_000));
        assert!(
            error.contains("20000 rows of 3 values are 60000; accepted are 32000"),
            "{error}"
        );
        let error = refused(&|statement| statement["rows"] = json!(0));
        assert!(error.contains("`rows` is 0"), "{error}");
        let error = refused(&|statement| statement["sql"] = json!("INSERT INTO t SELECT :id, :n, :x"));
        assert!(error.contains("statement \"s\": `rows` is for INSERT"), "{error}");
        let error = refused(&|statement| {
            statement["sql"] = json!("INSERT INTO t VALUES (:id, :n) ON CONFLICT DO UPDATE SET x = :x")
        });
        assert!(error.contains("in the row after VALUES alone"), "{error}");
        let error = refused(&|statement| {
            statement.as_object_mut().unwrap().remove("position");
        });
        assert!(error.contains("parameter \"n\": `row` is known in tables"), "{error}");
    }

    /// Events of a program whose first statement reads `n`: what is sent, when `answers` are the values of that.
    fn reading(statements: Json, answers: &[Value<'static>]) -> Vec<String> {
        let mut all = vec![json!({"name": "read", "sql": "READ :id", "keep": ["_", "n"],
            "params": {"id": {"gen": "uniform", "low": 1, "high": 1000}}})];
        all.extend(statements.as_array().unwrap().iter().cloned());
        let program = compile(json!({"name": "t", "statements": all}), 1).unwrap();
        let mut stream = Stream::new(1, 0, 3, Part::Slot);
        let mut scratch = Scratch::new(&program);
        let mut sent = Vec::new();
        for answer in answers {
            let drawn = program.event(0, &mut stream, &mut scratch, |statement, table, params, row| {
                let mut text = Vec::new();
                program.statements[statement].render(table, &mut text, |slot, out| {
                    out.extend_from_slice(format!("{:?}", params.get(slot)).as_bytes());
                });
                sent.push(String::from_utf8(text).unwrap());
                if let Some(mut row) = row {
                    assert_eq!((row.columns(), row.wants(0), row.wants(1)), (2, false, true));
                    row.put(0, Value::Integer(99));
                    row.put(1, *answer);
                }
                Ok::<_, ()>(())
            });
            drawn.unwrap();
        }
        sent
    }

    #[test]
    fn what_a_statement_reads_is_handed_on_as_it_is_and_computed_with() {
        let params = json!({"n": {"gen": "ref", "of": "n"}, "m": {"gen": "row", "expr": ["+", "n", 1]},
                            "again": {"gen": "ref", "of": "n", "add": 2}, "c": {"gen": "client", "start": 10}});
        let used = json!([{"name": "use", "sql": ":n :m :again :c", "params": params}]);
        let sent = reading(used, &[Value::Integer(7), Value::Float(0.5), Value::Text(b"12.50")]);
        let used: Vec<_> = sent.iter().filter(|text| !text.starts_with("READ")).collect();
        assert_eq!(used[0], "Integer(7) Integer(8) Integer(9) Integer(13)");
        assert_eq!(used[1], "Float(0.5) Float(1.5) Float(2.5) Integer(13)");
        assert!(
            used[2].starts_with("Text([49, 50, ") && used[2].ends_with(") Float(13.5) Float(14.5) Integer(13)"),
            "{}",
            used[2]
        );
    }

    #[test]
    fn what_is_left_out_is_drawn_all_the_same() {
        let id = json!({"id": {"gen": "uniform", "low": 1, "high": 1_000_000}});
        let others = json!([{"name": "rare", "sql": "RARE :id", "params": id, "when": ["==", "n", 1]},
                            {"name": "last", "sql": "LAST :id", "params": id}]);
        let of = |answer: i64| reading(others.clone(), &[Value::Integer(answer); 5]);
        let (with, without) = (of(1), of(2));
        assert_eq!((with.len(), without.len()), (15, 10));
        let kept: Vec<_> = with.into_iter().filter(|text| !text.starts_with("RARE")).collect();
        assert_eq!(kept, without);
    }

    #[test]
    fn what_the_last_event_has_read_is_forgotten() {
        let maybe = json!({"name": "maybe", "sql": "MAYBE", "keep": ["m"], "when": ["==", "n", 1]});
        let used = json!({"name": "use", "sql": ":m", "params": {"m": {"gen": "ref", "of": "m"}}});
        let program = json!([maybe, used]);
        let all = json!({"name": "t", "statements": [json!({"name": "read", "sql": "", "keep": ["n"]}), program[0], program[1]]});
        let program = compile(all, 1).unwrap();
        let mut scratch = Scratch::new(&program);
        let mut sent = Vec::new();
        for answer in [1, 2] {
            let mut stream = Stream::new(1, 0, 0, Part::Slot);
            let drawn = program.event(0, &mut stream, &mut scratch, |_, _, params, row| {
                match row {
                    Some(mut row) => row.put(0, Value::Integer(answer)),
                    None => sent.push(params.get(0) == Value::Integer(1)),
                }
                Ok::<_, ()>(())
            });
            drawn.unwrap();
        }
        assert_eq!(sent, [true, false]);
    }

    #[test]
    fn mistakes_of_what_is_kept_are_named() {
        let kept = |keep: Json, more: Json| {
            let mut statement = json!({"name": "s", "sql": "", "keep": keep});
            statement
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            compile(json!({"name": "t", "statements": [statement]}), 1).unwrap_err()
        };
        assert!(kept(json!(["a", "a"]), json!({})).contains("`keep` has \"a\" twice"));
        let early = kept(json!(["a"]), json!({"when": "a"}));
        assert!(
            early.contains("`when`: it refers to \"a\"; accepted is an earlier parameter"),
            "{early}"
        );
        let counted = kept(json!([]), json!({"when": 1, "position": {"of": "t"}}));
        assert!(counted.contains("with `position` it is never left out"), "{counted}");
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
                "parameter \"a\": it refers to \"b\"; accepted is an earlier parameter: none",
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
