//! What a client of any wire does in the tests with broken conversations: everything that a connection can do, once.

use dbversus_engine::wire::{Connection, RowSink, Tally, WireResult};
use dbversus_engine::workload::{Mode, Params, Program, TableSpec, TestDefinition};
use serde_json::{Value as Json, json};

/// All values of all rows, NULL as a dash.
#[derive(Default)]
struct Values(Vec<String>);

impl RowSink for Values {
    fn row(&mut self, values: &[Option<&[u8]>]) {
        let text =
            |value: &Option<&[u8]>| value.map_or("-".into(), |value| String::from_utf8_lossy(value).into_owned());
        self.0.extend(values.iter().map(text));
    }
}

/// What came out of a conversation that went well to its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    pub backend: Option<i32>,
    pub tally: Tally,
    pub values: Vec<String>,
    pub columns: Vec<String>,
}

/// Prepares a statement, executes it twice, sends it as text, queries and loads. An error ends it.
pub fn talk(connection: &mut dyn Connection) -> WireResult<Heard> {
    let mut heard = Heard {
        backend: connection.backend(),
        ..Heard::default()
    };
    let mut values = Values::default();
    let (program, params) = (two_statements(), Params::new());
    connection.prepare(&program, Mode::Prepared)?;
    connection.begin(&mut heard.tally)?;
    connection.execute(0, 1, &params, &mut heard.tally)?;
    connection.execute_checked(0, 1, &params, &mut heard.tally, &mut values)?;
    connection.execute_checked(1, 1, &params, &mut heard.tally, &mut values)?;
    connection.commit(&mut heard.tally)?;
    heard.columns = connection.query("SELECT 1 AS a; SELECT 2 AS b")?.columns;
    connection.load_rows(&table(), 1, &mut |_| ())?;
    heard.values = values.0;
    Ok(heard)
}

fn two_statements() -> Program {
    program(json!({"name": "t", "statements": [
        {"name": "prepared", "sql": "SELECT 1"}, {"name": "text", "sql": "SELECT 1", "mode": "text"}]}))
}

pub fn program(test: Json) -> Program {
    let test: TestDefinition = serde_json::from_value(test).expect("it is a test");
    Program::compile(&test, 1, 1).expect("it can be compiled")
}

fn table() -> TableSpec {
    serde_json::from_value(json!({"name": "t", "rows": 2, "columns": {"id": {"gen": "sequence"}}}))
        .expect("it is a table")
}
