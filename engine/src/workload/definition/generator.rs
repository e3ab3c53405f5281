//! A generator of values as received.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::parse;
use crate::workload::constant::ConstantValue;
use crate::workload::generators::{choice, expression, filled, grid, sample, walk};
use crate::workload::values::ValueType;

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
    /// The number of the client among those of its role.
    Client {
        /// That of the first.
        #[serde(default)]
        start: i64,
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

    /// Names of earlier values that it needs as numbers; a value that is handed on as it is may be anything.
    pub fn names_numbers(&self) -> Vec<&str> {
        if self.hands_on() { Vec::new() } else { self.kind.names() }
    }

    /// Whether it is an earlier value as it is.
    pub fn hands_on(&self) -> bool {
        let is_plain = self.value_type.is_none() && self.count.is_none() && self.round.is_none();
        is_plain && matches!(self.kind, GeneratorKind::Ref { add: 0, .. })
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

fn take<T: DeserializeOwned>(fields: &mut Map<String, Json>, name: &str, place: &str) -> Result<Option<T>, String> {
    match fields.remove(name) {
        Some(json) => parse(json, &format!("{place}, `{name}`")).map(Some),
        None => Ok(None),
    }
}
