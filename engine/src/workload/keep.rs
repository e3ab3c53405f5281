//! What statements do beyond drawing values and sending them: keep what they read for those after them, and be left out.

use super::definition::StatementDefinition;
use super::generators::Expression;
use super::params::Params;
use super::scope::{Memory, Scope};
use super::values::{Number, Value, ValueType};

/// Of a column that nothing needs.
const NOTHING: &str = "_";

/// Of a statement that keeps values, or that is left out where a condition does not hold.
#[derive(Debug, Clone)]
pub(super) struct Special {
    when: Option<Expression>,
    pub columns: Vec<Option<Keep>>,
    /// Whether it is the first of its kind in an event: what the last event has read is forgotten.
    begins: bool,
}

/// A value of a first row that others need.
#[derive(Debug, Clone)]
pub struct Keep {
    name: String,
    /// Index into `Memory::kept`.
    place: usize,
    /// Index into `Memory::values`.
    value: usize,
    /// Whether anything computes with it.
    is_number: bool,
}

impl Special {
    /// None: the statement just draws and sends. `all`: of the test. What is kept can be referred to from here on.
    pub fn compile(
        definition: &StatementDefinition,
        all: &[StatementDefinition],
        scope: &mut Scope,
    ) -> Result<Option<Self>, String> {
        if !definition.is_special() {
            return Ok(None);
        }
        if definition.position.is_some() && definition.when.is_some() {
            return Err(
                ": with `position` it is never left out, since its rows are counted; accepted is no `when`".into(),
            );
        }
        let when = definition.when.as_ref().map(|form| Expression::compile(form, scope));
        let mut columns = Vec::new();
        for (index, name) in definition.keep.iter().enumerate() {
            if name != NOTHING && definition.keep[..index].contains(name) {
                return Err(format!(": `keep` has {name:?} twice"));
            }
            columns.push((name != NOTHING).then(|| {
                let (place, value) = scope.keep(name);
                let mut needed = all.iter().flat_map(StatementDefinition::names_numbers);
                Keep {
                    name: name.clone(),
                    place,
                    value,
                    is_number: needed.any(|one| one == name),
                }
            }));
        }
        Ok(Some(Self {
            when: when.transpose().map_err(|message| format!(", `when`: {message}"))?,
            columns,
            begins: !std::mem::replace(&mut scope.has_special, true),
        }))
    }

    /// Before the statement is sent; false: it is left out.
    pub fn begin(&self, memory: &mut Memory) -> bool {
        if self.begins {
            memory.forget_kept();
        }
        self.when.as_ref().is_none_or(|when| when.value(memory).is_true())
    }

    /// After it was sent: what was read can be computed with.
    pub fn end(&self, memory: &mut Memory) {
        for keep in self.columns.iter().flatten() {
            let number = memory.kept.get(keep.place).spelled_number();
            memory.values[keep.value] = number.unwrap_or(Number::Integer(0));
        }
    }
}

/// Takes the values of the first row of an answer.
pub struct FirstRow<'a> {
    columns: &'a [Option<Keep>],
    values: &'a mut Params,
}

impl<'a> FirstRow<'a> {
    pub(super) fn new(columns: &'a [Option<Keep>], values: &'a mut Params) -> Self {
        Self { columns, values }
    }

    /// How many columns the row has at least.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Whether anything needs the value of the column.
    #[inline]
    pub fn wants(&self, column: usize) -> bool {
        matches!(self.columns.get(column), Some(Some(_)))
    }

    /// Copied. No allocation once the buffer has held as long a row.
    #[inline]
    pub fn put(&mut self, column: usize, value: Value<'_>) {
        if let Some(Some(keep)) = self.columns.get(column) {
            self.values.put(keep.place, value);
        }
    }

    /// What is wrong with a value that others compute with, after its name: `"n" is NULL`.
    pub fn fault(&self) -> Option<String> {
        self.columns.iter().flatten().find_map(|keep| {
            let value = self.values.get(keep.place);
            let text = match value {
                _ if !keep.is_number || value.spelled_number().is_some() => return None,
                Value::Null(_) => "NULL".to_owned(),
                Value::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
                _ => "bytes".to_owned(),
            };
            Some(format!("{:?} is {text}, where a number is needed", keep.name))
        })
    }
}

impl Memory {
    fn forget_kept(&mut self) {
        let places = self.kept.len();
        self.kept.reset(places);
        for place in 0..places {
            self.kept.set(place, Value::Null(ValueType::Number));
        }
    }
}
