//! A test as received (docs/engine-protocol.md, TEST): what can be checked without knowing other statements is checked here.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::ordered::Ordered;

/// One test: its statements in order, and whether they form a transaction.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
pub struct TestDefinition {
    pub name: String,
    pub transaction: bool,
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
}

/// How a statement is sent, where it does not follow the mode in which the test was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatementMode {
    Prepared,
    Text,
}

/// A generator of one parameter or column.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorDefinition {
    pub kind: GeneratorKind,
    /// Number of values of a list; `None` is a single value.
    pub count: Option<u32>,
    /// The list holds neighbours of the drawn value instead of values drawn independently.
    pub consecutive: bool,
}

/// The distributions of `low..=high` and the other ways to get a value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "gen", rename_all = "snake_case", deny_unknown_fields)]
pub enum GeneratorKind {
    Uniform {
        low: i64,
        high: i64,
    },
    Zipfian {
        low: i64,
        high: i64,
        #[serde(default = "default_exponent")]
        exponent: f64,
    },
    Pareto {
        low: i64,
        high: i64,
        #[serde(default = "default_h")]
        h: f64,
    },
    Gaussian {
        low: i64,
        high: i64,
        #[serde(default = "default_iterations")]
        iterations: u32,
    },
    Special {
        low: i64,
        high: i64,
        #[serde(default = "default_iterations")]
        iterations: u32,
        #[serde(default = "default_percent")]
        percent: f64,
        #[serde(default = "default_hot_percent")]
        hot_percent: f64,
    },
    Sequence {
        #[serde(default = "default_one")]
        start: i64,
        #[serde(default = "default_one")]
        step: i64,
    },
    Constant {
        value: ConstantValue,
    },
    Ref {
        of: String,
        #[serde(default)]
        add: i64,
    },
    Text {
        template: String,
    },
}

/// An integer or a text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "`value` must be an integer or a text")]
pub enum ConstantValue {
    Integer(i64),
    Text(String),
}

/// The most values of a list: a PostgreSQL message takes 65535 parameters, SQLite 32766.
const MAX_COUNT: u32 = 32_000;

fn default_exponent() -> f64 {
    0.8
}
fn default_h() -> f64 {
    0.2
}
fn default_iterations() -> u32 {
    12
}
fn default_percent() -> f64 {
    1.0
}
fn default_hot_percent() -> f64 {
    75.0
}
fn default_one() -> i64 {
    1
}

/// The JSON shape of a test; statements are parsed one by one so that an error can name its statement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTest {
    name: String,
    #[serde(default)]
    transaction: bool,
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
}

fn default_repeat() -> u32 {
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
        if raw.statements.is_empty() {
            return Err(format!(
                "{place}: `statements` is empty; at least one statement is needed"
            ));
        }
        let statements = raw
            .statements
            .into_iter()
            .map(|statement| StatementDefinition::parse(statement, &place))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: raw.name,
            transaction: raw.transaction,
            statements,
        })
    }
}

impl StatementDefinition {
    fn parse(json: Json, test: &str) -> Result<Self, String> {
        let place = format!("{test}, statement {}", name_of(&json));
        let raw: RawStatement = parse(json, &place)?;
        if raw.repeat == 0 {
            return Err(format!("{place}: `repeat` is 0; accepted is 1 or more"));
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
        })
    }
}

impl GeneratorDefinition {
    /// Parses and checks a generator; `place` names it in errors.
    pub fn parse(json: Json, place: &str) -> Result<Self, String> {
        let Json::Object(mut fields) = json else {
            return Err(format!(
                "{place}: accepted is an object such as {{\"gen\": \"uniform\", \"low\": 1, \"high\": 100}}"
            ));
        };
        let count: Option<u32> = take(&mut fields, "count", place)?;
        let consecutive = take(&mut fields, "consecutive", place)?.unwrap_or(false);
        let kind: GeneratorKind = parse(Json::Object(fields), place)?;
        let generator = Self {
            kind,
            count,
            consecutive,
        };
        generator.check().map_err(|message| format!("{place}: {message}"))?;
        Ok(generator)
    }

    pub fn is_text(&self) -> bool {
        matches!(
            self.kind,
            GeneratorKind::Text { .. }
                | GeneratorKind::Constant {
                    value: ConstantValue::Text(_)
                }
        )
    }

    fn check(&self) -> Result<(), String> {
        match self.count {
            Some(_) if self.is_text() => return Err("`count` is for integer generators; a text has no list".into()),
            Some(count) if !(1..=MAX_COUNT).contains(&count) => {
                return Err(format!("`count` is {count}; accepted is 1 to {MAX_COUNT}"));
            }
            None if self.consecutive => return Err("`consecutive` needs `count`, the length of the list".into()),
            _ => {}
        }
        self.kind.check()
    }
}

impl GeneratorKind {
    fn check(&self) -> Result<(), String> {
        use GeneratorKind::*;
        match *self {
            Uniform { low, high }
            | Zipfian { low, high, .. }
            | Pareto { low, high, .. }
            | Gaussian { low, high, .. }
            | Special { low, high, .. }
                if low > high =>
            {
                Err(format!("`low` is {low} and `high` is {high}; accepted is low <= high"))
            }
            Zipfian { exponent, .. } if !(exponent > 0.0 && exponent.is_finite()) => {
                Err(format!("`exponent` is {exponent}; accepted is a number above 0"))
            }
            Pareto { h, .. } if !(h > 0.0 && h < 1.0) => Err(format!(
                "`h` is {h}; accepted is a number between 0 and 1, both excluded"
            )),
            Gaussian { iterations: 0, .. } | Special { iterations: 0, .. } => {
                Err("`iterations` is 0; accepted is 1 or more".into())
            }
            Special { percent, .. } if !(0.0..=100.0).contains(&percent) => {
                Err(format!("`percent` is {percent}; accepted is 0 to 100"))
            }
            Special { hot_percent, .. } if !(0.0..=100.0).contains(&hot_percent) => {
                Err(format!("`hot_percent` is {hot_percent}; accepted is 0 to 100"))
            }
            Sequence { step: 0, .. } => Err("`step` is 0; accepted is any other integer".into()),
            _ => Ok(()),
        }
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

fn take<T: DeserializeOwned>(fields: &mut Map<String, Json>, name: &str, place: &str) -> Result<Option<T>, String> {
    match fields.remove(name) {
        Some(json) => parse(json, &format!("{place}, `{name}`")).map(Some),
        None => Ok(None),
    }
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
        assert!(!test.transaction);
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
                json!({"name": "t", "statements": []}),
                "test \"t\": `statements` is empty",
            ),
            (
                json!({"name": "t", "statement": []}),
                "unknown field `statement`, expected one of `name`, `transaction`, `statements`",
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
                with_param(json!({"gen": "constant", "value": 1.5})),
                "must be an integer or a text",
            ),
            (
                with_param(json!({"gen": "zipfian", "low": 1, "high": 2, "exponent": 0})),
                "a number above 0",
            ),
            (with_param(json!({"gen": "sequence", "step": 0})), "`step` is 0"),
            (with_param(json!(5)), "accepted is an object such as"),
        ];
        for (json, expected) in cases {
            let error = error_of(json.clone());
            assert!(error.contains(expected), "{json}: {error}");
        }
    }
}
