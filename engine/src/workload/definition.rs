//! A test as received (docs/engine-protocol.md, TEST): what can be checked without knowing other statements is checked here.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::appended::{End, Position};
use super::constant::ConstantValue;
use super::generators::{choice, expression, filled, grid, sample, walk};
use super::ordered::Ordered;
use super::values::ValueType;

/// One test: its statements in order, and whether they form a transaction.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
pub struct TestDefinition {
    pub name: String,
    pub transaction: bool,
    /// What every connection of the test executes first.
    pub session_sql: Vec<String>,
    /// There may be none, of a role with operations.
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

/// A generator of one parameter or column.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorDefinition {
    pub kind: GeneratorKind,
    /// Number of values of a list; `None` is a single value.
    pub count: Option<u32>,
    /// The list holds neighbours of the drawn value instead of values drawn independently.
    pub consecutive: bool,
    /// Where it is not said: text for texts, that of what it refers to for references, integer for all else.
    pub value_type: Option<ValueType>,
    /// Drawn fractions are rounded to so many digits after the point.
    pub round: Option<u8>,
    /// Share of values that are NULL instead.
    pub nulls: f64,
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
        /// As pgbench's `random_gaussian`, in place of `iterations`.
        parameter: Option<f64>,
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
        template: Templates,
    },
    /// A random row of those that a table has: what was loaded and appended, without what was deleted from its oldest end.
    Present {
        of: String,
        /// Rows that were loaded.
        #[serde(default)]
        loaded: u64,
        /// The value of the first row; that of others goes on by 1.
        #[serde(default = "default_one")]
        start: i64,
    },
    Row {
        expr: Json,
    },
    Choice(choice::Spec),
    Sample(sample::Spec),
    Grid(grid::Spec),
    Walk(walk::Spec),
    /// As pgbench's `random_exponential`: the share of the first of `n` values is
    /// `(1 - exp(-parameter / n)) / (1 - exp(-parameter))`.
    Exponential {
        low: i64,
        high: i64,
        parameter: f64,
    },
    /// Random ones.
    Bytes {
        length: u32,
    },
    /// Of the row that is loaded, in the table's staged file.
    Field {
        index: usize,
    },
    /// Of a random row of a staged file.
    Data {
        file: String,
        rows: u64,
        #[serde(default)]
        pick: Pick,
        #[serde(default = "default_exponent")]
        exponent: f64,
    },
    /// Instead of the integers of a range, where the type has fractions.
    #[serde(skip)]
    Continuous(Continuous),
}

/// Distributions of all numbers from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "gen", rename_all = "snake_case", deny_unknown_fields)]
pub enum Continuous {
    Uniform {
        low: f64,
        high: f64,
    },
    Gaussian {
        low: f64,
        high: f64,
        #[serde(default = "default_iterations")]
        iterations: u32,
    },
}

/// The template of a text, or several, of which one is drawn each time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Templates {
    One(String),
    Several(Vec<String>),
}

/// Which row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    #[default]
    Uniform,
    /// The first most often.
    Zipfian,
}

/// The most values of a list: a PostgreSQL message takes 65535 parameters, SQLite 32766.
const MAX_COUNT: u32 = 32_000;
/// More digits than a float8 tells apart.
const MAX_ROUND: u8 = 17;

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
    #[serde(default)]
    session_sql: Vec<String>,
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
        let statements = raw
            .statements
            .into_iter()
            .map(|statement| StatementDefinition::parse(statement, &place))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: raw.name,
            transaction: raw.transaction,
            session_sql: raw.session_sql,
            statements,
        })
    }
}

impl StatementDefinition {
    /// Whether anything of it comes from the stream of parameters: a value, a table, or what an event is.
    pub fn draws(&self) -> bool {
        !self.params.is_empty() || self.position.is_some() || self.part.is_some() || self.table == "draw"
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
        let value_type = take::<String>(&mut fields, "type", place)?
            .map(|name| ValueType::parse(&name).map_err(|message| format!("{place}: {message}")))
            .transpose()?;
        let round = take(&mut fields, "round", place)?;
        let nulls = take(&mut fields, "nulls", place)?.unwrap_or(0.0);
        let generator = Self {
            kind: GeneratorKind::parse(fields, value_type, place)?,
            count,
            consecutive,
            value_type,
            round,
            nulls,
        };
        generator.check().map_err(|message| format!("{place}: {message}"))?;
        Ok(generator)
    }

    pub fn is_text(&self) -> bool {
        let is_made = match &self.kind {
            GeneratorKind::Choice(spec) => matches!(spec.of.first(), Some(ConstantValue::Text(_))),
            GeneratorKind::Sample(spec) => spec.is_text(),
            _ => false,
        };
        is_made
            || matches!(
                self.kind,
                GeneratorKind::Text { .. }
                    | GeneratorKind::Bytes { .. }
                    | GeneratorKind::Constant {
                        value: ConstantValue::Text(_)
                    }
            )
    }

    fn check(&self) -> Result<(), String> {
        match self.count {
            count if let GeneratorKind::Sample(spec) = &self.kind => spec.check(count.unwrap_or(1))?,
            Some(_) if self.is_text() => return Err("`count` is for integer generators; a text has no list".into()),
            Some(count) if !(1..=MAX_COUNT).contains(&count) => {
                return Err(format!("`count` is {count}; accepted is 1 to {MAX_COUNT}"));
            }
            None if self.consecutive => return Err("`consecutive` needs `count`, the length of the list".into()),
            _ => {}
        }
        self.check_type()?;
        self.kind.check()
    }

    fn check_type(&self) -> Result<(), String> {
        let is_stored = matches!(self.kind, GeneratorKind::Field { .. } | GeneratorKind::Data { .. });
        match self.value_type {
            None if is_stored => return Err("`type` is missing".into()),
            Some(_) if is_stored => {}
            Some(kind) if kind.is_number() == self.is_text() => {
                let drawn = if self.is_text() { "texts" } else { "numbers" };
                return Err(format!("`type` {kind:?} cannot hold the {drawn} that are drawn"));
            }
            _ => {}
        }
        match self.round {
            Some(digits) if digits > MAX_ROUND => {
                return Err(format!("`round` is {digits}; accepted is 0 to {MAX_ROUND}"));
            }
            Some(_) if self.is_text() => return Err("`round` is for numbers".into()),
            _ => {}
        }
        if !(0.0..=1.0).contains(&self.nulls) {
            return Err(format!("`nulls` is {}; accepted is a share from 0 to 1", self.nulls));
        }
        if self.nulls > 0.0 && self.count.is_some() {
            return Err("`nulls` is for single values, and `count` makes a list".into());
        }
        Ok(())
    }
}

impl Templates {
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let templates = match self {
            Self::One(template) => std::slice::from_ref(template),
            Self::Several(templates) => templates,
        };
        templates.iter().map(String::as_str)
    }
}

impl GeneratorKind {
    /// Names of the earlier parameters that it refers to.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Ref { of, .. } => vec![of],
            Self::Row { expr } => expression::names(expr),
            Self::Text { template } => template.all().flat_map(filled::names).collect(),
            Self::Choice(spec) => spec.per.iter().flat_map(expression::names).collect(),
            Self::Walk(spec) => spec
                .key
                .iter()
                .chain([&spec.step])
                .flat_map(expression::names)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Ranges of a type with fractions hold these too.
    fn parse(fields: Map<String, Json>, value_type: Option<ValueType>, place: &str) -> Result<Self, String> {
        let is_range = matches!(fields.get("gen").and_then(Json::as_str), Some("uniform" | "gaussian"));
        let json = Json::Object(fields);
        if is_range && value_type.is_some_and(ValueType::is_continuous) {
            return parse(json, place).map(Self::Continuous);
        }
        parse(json, place)
    }

    fn check(&self) -> Result<(), String> {
        use GeneratorKind::*;
        match *self {
            Uniform { low, high }
            | Zipfian { low, high, .. }
            | Pareto { low, high, .. }
            | Gaussian { low, high, .. }
            | Special { low, high, .. }
            | Exponential { low, high, .. }
                if low > high =>
            {
                Err(format!("`low` is {low} and `high` is {high}; accepted is low <= high"))
            }
            Zipfian { exponent, .. } | Data { exponent, .. } if !(exponent > 0.0 && exponent.is_finite()) => {
                Err(format!("`exponent` is {exponent}; accepted is a number above 0"))
            }
            Pareto { h, .. } if !(h > 0.0 && h < 1.0) => Err(format!(
                "`h` is {h}; accepted is a number between 0 and 1, both excluded"
            )),
            Gaussian {
                parameter: Some(parameter),
                ..
            } if !(parameter >= 2.0 && parameter.is_finite()) => {
                Err(format!("`parameter` is {parameter}; accepted is a number from 2 on"))
            }
            Text { ref template } if template.all().next().is_none() => {
                Err("`template` is empty; accepted is a text, or a list of one or more".into())
            }
            Gaussian { iterations: 0, .. } | Special { iterations: 0, .. } => {
                Err("`iterations` is 0; accepted is 1 or more".into())
            }
            Special { percent, .. } if !(0.0..=100.0).contains(&percent) => {
                Err(format!("`percent` is {percent}; accepted is 0 to 100"))
            }
            Special { hot_percent, .. } if !(0.0..=100.0).contains(&hot_percent) => {
                Err(format!("`hot_percent` is {hot_percent}; accepted is 0 to 100"))
            }
            Continuous(continuous) => continuous.check(),
            Bytes { length: 0 } => Err("`length` is 0; accepted is 1 or more".into()),
            Exponential { parameter, .. } if !(parameter > 0.0 && parameter.is_finite()) => {
                Err(format!("`parameter` is {parameter}; accepted is a number above 0"))
            }
            Choice(ref spec) => spec.check(),
            Grid(ref spec) => spec.check(),
            Walk(ref spec) => spec.check(),
            Sequence { step: 0, .. } => Err("`step` is 0; accepted is any other integer".into()),
            _ => Ok(()),
        }
    }
}

impl Continuous {
    fn check(self) -> Result<(), String> {
        match self {
            Self::Uniform { low, high } | Self::Gaussian { low, high, .. } if low > high => {
                Err(format!("`low` is {low} and `high` is {high}; accepted is low <= high"))
            }
            Self::Gaussian { iterations: 0, .. } => Err("`iterations` is 0; accepted is 1 or more".into()),
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
                "unknown field `statement`, expected one of `name`, `transaction`, `session_sql`, `statements`",
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
