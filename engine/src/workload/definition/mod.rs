//! A test as received (docs/engine-protocol.md, TEST): what can be checked without knowing other statements is checked here.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

pub use self::generator::{Continuous, GeneratorDefinition, GeneratorKind, Pick, Templates};
use super::appended::{End, Position};
use super::generators::expression;
use super::ordered::Ordered;

mod generator;

/// One test: its statements in order, and whether they form a transaction.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
pub struct TestDefinition {
    pub name: String,
    pub transaction: bool,
    /// What every connection of the test executes first.
    pub session_sql: Vec<String>,
    /// Each event opens a connection of its own, and closes it.
    pub connect: bool,
    /// There may be none, of a role with operations, and where events connect.
    pub statements: Vec<StatementDefinition>,
}

/// One statement of a test.
#[derive(Debug, Clone)]
pub struct StatementDefinition {
    pub name: String,
    pub sql: String,
    pub repeat: u32,
    pub mode: Option<StatementMode>,
    /// `"draw"`, `"client"` or the name of an earlier statement.
    pub table: String,
    pub params: Vec<(String, GeneratorDefinition)>,
    /// What begins with this statement, in a mix.
    pub part: Option<PartDefinition>,
    /// Rows of an INSERT, each with values of its own.
    pub rows: u32,
    pub position: Option<Position>,
    pub answers: Answers,
    /// For which the client waits after it, in work with an end.
    pub pause_ns: u64,
    /// Names for the values of its first row, by column; `_` for those that nothing needs.
    pub keep: Vec<String>,
    /// An expression: where it gives 0, the statement is left out.
    pub when: Option<Json>,
}

/// One part of a mix: an event is one of them, drawn by weight.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartDefinition {
    pub name: String,
    pub weight: u32,
    #[serde(default)]
    pub transaction: bool,
}

/// How the answers of targets are compared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Value by value; rows in their order where the statement says ORDER BY.
    #[default]
    Exact,
    /// The same rows in any order.
    Set,
    /// Numbers may differ by this.
    Tolerance(f64),
}

/// How a statement is sent, where it does not follow the mode in which the test was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementMode {
    Prepared,
    Text,
}

/// The JSON shape of a test; statements are parsed one by one so that an error can name its statement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTest {
    name: String,
    #[serde(default)]
    transaction: bool,
    #[serde(default)]
    session_sql: Vec<String>,
    #[serde(default)]
    connect: bool,
    statements: Vec<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStatement {
    name: String,
    sql: String,
    #[serde(default = "default_repeat")]
    repeat: u32,
    mode: Option<StatementMode>,
    #[serde(default = "default_table")]
    table: String,
    #[serde(default)]
    params: Ordered<Json>,
    part: Option<PartDefinition>,
    #[serde(default = "default_rows")]
    rows: u32,
    position: Option<Position>,
    #[serde(default)]
    answers: Answers,
    #[serde(default)]
    pause_ns: u64,
    #[serde(default)]
    keep: Vec<String>,
    when: Option<Json>,
}

fn default_repeat() -> u32 {
    1
}
fn default_rows() -> u32 {
    1
}
fn default_table() -> String {
    "draw".to_owned()
}

impl TryFrom<Json> for TestDefinition {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, String> {
        let place = format!("test {}", name_of(&json));
        let raw: RawTest = parse(json, &place)?;
        let parsed = raw.statements.into_iter().map(|statement| {
            let parsed = StatementDefinition::parse(statement, &place)?;
            if raw.connect {
                parsed.in_text(&place)
            } else {
                Ok(parsed)
            }
        });
        let statements = parsed.collect::<Result<_, _>>()?;
        Ok(Self {
            connect: raw.connect,
            name: raw.name,
            transaction: raw.transaction,
            session_sql: raw.session_sql,
            statements,
        })
    }
}

impl StatementDefinition {
    /// As text, since nothing that is prepared outlives its connection.
    fn in_text(self, place: &str) -> Result<Self, String> {
        if self.mode == Some(StatementMode::Prepared) {
            return Err(format!(
                "{place}, statement {:?}: `mode` is \"prepared\"; accepted with `connect` is \"text\"",
                self.name
            ));
        }
        let mode = Some(StatementMode::Text);
        Ok(Self { mode, ..self })
    }

    /// Whether anything of it comes from the stream of parameters: a value, a table, or what an event is.
    pub fn draws(&self) -> bool {
        !self.params.is_empty() || self.position.is_some() || self.part.is_some() || self.table == "draw"
    }

    /// Whether it does more than draw values and send them.
    pub fn is_special(&self) -> bool {
        !self.keep.is_empty() || self.when.is_some()
    }

    /// Names of earlier values that it needs as numbers: for whether it runs, and for what is drawn.
    pub fn names_numbers(&self) -> impl Iterator<Item = &str> {
        let drawn = self.params.iter().flat_map(|(_, generator)| generator.names_numbers());
        drawn.chain(self.when.iter().flat_map(expression::names))
    }

    /// Names of earlier values that it refers to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let drawn = self.params.iter().flat_map(|(_, generator)| generator.kind.names());
        drawn.chain(self.when.iter().flat_map(expression::names))
    }

    /// Rows that have values of their own in the text; those that are deleted have none.
    pub fn rows_in_text(&self) -> u32 {
        match &self.position {
            Some(position) if position.end == End::Oldest => 1,
            _ => self.rows,
        }
    }

    fn parse(json: Json, test: &str) -> Result<Self, String> {
        let place = format!("{test}, statement {}", name_of(&json));
        let raw: RawStatement = parse(json, &place)?;
        if raw.repeat == 0 {
            return Err(format!("{place}: `repeat` is 0; accepted is 1 or more"));
        }
        if raw.rows == 0 {
            return Err(format!("{place}: `rows` is 0; accepted is 1 or more"));
        }
        let params = raw
            .params
            .iter()
            .map(|(name, json)| {
                let generator = GeneratorDefinition::parse(json.clone(), &format!("{place}, parameter {name:?}"))?;
                Ok((name.to_owned(), generator))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            name: raw.name,
            sql: raw.sql,
            repeat: raw.repeat,
            mode: raw.mode,
            table: raw.table,
            params,
            part: raw.part,
            rows: raw.rows,
            position: raw.position,
            answers: raw.answers,
            pause_ns: raw.pause_ns,
            keep: raw.keep,
            when: raw.when,
        })
    }
}

/// The quoted name of a test or statement, for errors.
fn name_of(json: &Json) -> String {
    match json.get("name") {
        Some(Json::String(name)) => format!("{name:?}"),
        _ => "without a name".to_owned(),
    }
}

pub(super) fn parse<T: DeserializeOwned>(json: Json, place: &str) -> Result<T, String> {
    serde_json::from_value(json).map_err(|error| format!("{place}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error_of(json: Json) -> String {
        serde_json::from_value::<TestDefinition>(json).unwrap_err().to_string()
    }

    fn with_param(generator: Json) -> Json {
        json!({"name": "t", "statements": [{"name": "s", "sql": "SELECT :x", "params": {"x": generator}}]})
    }

    #[test]
    fn fills_in_the_defaults() {
        let test: TestDefinition =
            serde_json::from_value(with_param(json!({"gen": "zipfian", "low": 1, "high": 9}))).unwrap();
        let statement = &test.statements[0];
        assert!(!test.transaction && test.session_sql.is_empty());
        assert_eq!(
            (statement.repeat, statement.mode, statement.table.as_str()),
            (1, None, "draw")
        );
        assert_eq!(
            statement.params[0].1.kind,
            GeneratorKind::Zipfian {
                low: 1,
                high: 9,
                exponent: 0.8
            }
        );
    }

    #[test]
    fn errors_name_test_statement_parameter_and_what_is_accepted() {
        let cases = [
            (
                json!({"name": "t", "statement": []}),
                "unknown field `statement`, expected one of `name`, `transaction`, `session_sql`, `connect`, `statements`",
            ),
            (
                json!({"name": "t", "statements": [{"name": "s", "sql": "", "repet": 2}]}),
                "test \"t\", statement \"s\": unknown field `repet`",
            ),
            (
                json!({"name": "t", "statements": [{"name": "s", "sql": "", "repeat": 0}]}),
                "`repeat` is 0; accepted is 1 or more",
            ),
            (
                json!({"name": "t", "statements": [{"name": "s", "sql": "", "mode": "simple"}]}),
                "unknown variant `simple`, expected `prepared` or `text`",
            ),
            (
                with_param(json!({"gen": "normal"})),
                "test \"t\", statement \"s\", parameter \"x\": unknown variant `normal`, expected one of `uniform`",
            ),
            (with_param(json!({"gen": "uniform", "low": 1})), "missing field `high`"),
            (
                with_param(json!({"gen": "uniform", "low": 1, "high": 0})),
                "accepted is low <= high",
            ),
            (
                with_param(json!({"gen": "uniform", "low": 1, "high": 1, "hi": 2})),
                "unknown field `hi`",
            ),
            (
                with_param(json!({"gen": "uniform", "low": 1, "high": 1.5})),
                "floating point `1.5`, expected i64",
            ),
            (
                with_param(json!({"gen": "uniform", "low": 1, "high": 2, "count": 0})),
                "accepted is 1 to 32000",
            ),
            (
                with_param(json!({"gen": "uniform", "low": 1, "high": 2, "consecutive": true})),
                "needs `count`",
            ),
            (
                with_param(json!({"gen": "text", "template": "#", "count": 2})),
                "a text has no list",
            ),
            (
                with_param(json!({"gen": "constant", "value": [1]})),
                "must be a number or a text",
            ),
            (
                with_param(json!({"gen": "zipfian", "low": 1, "high": 2, "exponent": 0})),
                "a number above 0",
            ),
            (with_param(json!({"gen": "sequence", "step": 0})), "`step` is 0"),
            (with_param(json!(5)), "accepted is an object such as"),
            (
                with_param(json!({"gen": "data", "file": "x", "rows": 1})),
                "`type` is missing",
            ),
            (
                with_param(json!({"gen": "data", "file": "x", "rows": 1, "pick": "first", "type": "int8"})),
                "expected `uniform` or `zipfian`",
            ),
            (
                with_param(json!({"gen": "uniform", "low": 1, "high": 2, "type": "flaot8"})),
                "statement \"s\", parameter \"x\": unknown type \"flaot8\"; accepted is int2",
            ),
            (
                with_param(json!({"gen": "uniform", "low": 1.5, "high": 1, "type": "float8"})),
                "accepted is low <= high",
            ),
            (
                with_param(json!({"gen": "text", "template": "#", "type": "float8"})),
                "cannot hold the texts",
            ),
            (
                with_param(json!({"gen": "sequence", "type": "bytes"})),
                "cannot hold the numbers",
            ),
            (
                with_param(json!({"gen": "sequence", "nulls": 1.5})),
                "a share from 0 to 1",
            ),
            (
                with_param(json!({"gen": "sequence", "nulls": 0.5, "count": 2})),
                "`nulls` is for single values",
            ),
            (
                with_param(json!({"gen": "sequence", "round": 18})),
                "accepted is 0 to 17",
            ),
            (with_param(json!({"gen": "bytes", "length": 0})), "`length` is 0"),
        ];
        for (json, expected) in cases {
            let error = error_of(json.clone());
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
}
