//! A parameter's generator, compiled: numbers, texts and bytes from distributions, sequences, references and templates.

use super::constant::ConstantValue;
use super::data::Stored;
use super::definition::{Continuous, GeneratorDefinition, GeneratorKind, Pick, Templates};
use super::generators::expression;
use super::generators::{
    Choice, Distribution, Expression, Filled, Grid, Items, Present, Sample, Walk, mean_of_fractions,
};
use super::params::Params;
use super::scope::{Known, Memory, Scope};
use super::stream::Stream;
use super::template::Template;
use super::values::{Number, Value, ValueType};

/// One compiled generator: draws its value or values into the slots of a statement.
#[derive(Debug, Clone)]
pub(super) struct Draw {
    source: Source,
    /// Number of values.
    count: usize,
    consecutive: bool,
    /// First slot; `None` when the SQL does not name the parameter and only others refer to it.
    slot: Option<usize>,
    /// Index into `Memory::values` for single numbers.
    value: Option<usize>,
    value_type: ValueType,
    /// A fraction is rounded to a multiple of 1 / this.
    round: Option<f64>,
    /// Share of values that are NULL.
    nulls: f64,
}

#[derive(Debug, Clone)]
enum Source {
    Number(Numbers),
    Text(Template),
    Filled(Filled),
    /// One of several.
    OneOf(Vec<Filled>),
    /// Of texts.
    Choice(Choice),
    Sample(Sample),
    /// So many random ones.
    Bytes(usize),
    Stored(Stored),
    /// What a statement has read, as it is: index into `Memory::kept`.
    Kept(usize),
}

#[derive(Debug, Clone)]
enum Numbers {
    Integer(Integer),
    Float(Float),
    Ref { of: usize, add: i64 },
    Row(Expression),
    Choice(Choice),
    Walk(Walk),
}

#[derive(Debug, Clone)]
enum Integer {
    Distributed(Distribution),
    Grid(Grid),
    Sequence {
        start: i64,
        step: i64,
        counter: Option<usize>,
    },
    Constant(i64),
    Present(Present),
    /// The client's number, from this one on.
    Client(i64),
}

#[derive(Debug, Clone)]
enum Float {
    Uniform { low: f64, high: f64 },
    Gaussian { low: f64, high: f64, iterations: u32 },
    Constant(f64),
}

impl Draw {
    /// Compiles the generator of the parameter `name`, which others may refer to from now on.
    pub fn compile(
        name: &str,
        definition: &GeneratorDefinition,
        slot: Option<usize>,
        scope: &mut Scope,
    ) -> Result<Self, String> {
        if let Some(draw) = Self::handed_on(name, definition, slot, scope) {
            return Ok(draw);
        }
        let (source, natural) = Source::compile(definition, scope)?;
        let value_type = definition.value_type.unwrap_or(natural);
        let is_number = match source {
            Source::Number(_) => true,
            Source::Stored(_) => value_type.is_number(),
            _ => false,
        };
        let remembered = definition.count.is_none() && is_number;
        let value = remembered.then_some(scope.values);
        scope.values += usize::from(remembered);
        scope.known.push(Known {
            name: name.to_owned(),
            value,
            value_type,
            kept: None,
        });
        Ok(Self {
            source,
            count: definition.count.unwrap_or(1) as usize,
            consecutive: definition.consecutive,
            slot,
            value,
            value_type,
            round: definition.round.map(|digits| 10f64.powi(digits.into())),
            nulls: definition.nulls,
        })
    }

    /// What a statement has read, under this name too: others may compute with it.
    fn handed_on(name: &str, definition: &GeneratorDefinition, slot: Option<usize>, scope: &mut Scope) -> Option<Self> {
        let GeneratorKind::Ref { of, .. } = &definition.kind else {
            return None;
        };
        let known = scope
            .find(of)
            .filter(|known| known.kept.is_some() && definition.hands_on())?;
        let known = Known {
            name: name.to_owned(),
            ..known.clone()
        };
        let source = Source::Kept(known.kept?);
        scope.known.push(known);
        Some(Self {
            source,
            count: 1,
            consecutive: false,
            slot,
            value: None,
            value_type: ValueType::Number,
            round: None,
            nulls: definition.nulls,
        })
    }

    /// Numbers are drawn in line, the rest aside: on a core shared with the server, all that is called has to be fetched anew.
    #[inline(always)]
    pub fn draw(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        match &self.source {
            Source::Number(numbers) => self.draw_numbers(numbers, self.slot, stream, memory, params),
            _ => self.draw_other(stream, memory, params),
        }
        // Drawn after the value, and only where there are any: what else is drawn does not depend on it.
        if let Some(slot) = self.slot
            && self.nulls > 0.0
            && stream.fraction() < self.nulls
        {
            params.set(slot, Value::Null(self.value_type));
        }
    }

    #[inline(never)]
    fn draw_other(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        match (&self.source, self.slot) {
            (Source::Stored(stored), slot) => self.draw_stored(stored, slot, stream, memory, params),
            (Source::Number(_), _) | (_, None) => {}
            (Source::Text(template), Some(slot)) => self.put(slot, params, |texts| template.write(stream, texts)),
            (Source::Filled(filled), Some(slot)) => self.put(slot, params, |texts| filled.write(stream, memory, texts)),
            (Source::OneOf(all), Some(slot)) => {
                let index = stream.integer(0, all.len() as i64 - 1) as usize;
                self.put(slot, params, |texts| all[index].write(stream, memory, texts));
            }
            (Source::Choice(choice), Some(slot)) => {
                let index = choice.index(stream, memory);
                self.put(slot, params, |texts| texts.extend_from_slice(choice.items.text(index)));
            }
            (Source::Sample(sample), Some(slot)) => {
                sample.draw(self.count, slot, self.value_type, stream, memory, params);
            }
            (Source::Kept(kept), Some(slot)) => params.put(slot, memory.kept.get(*kept)),
            (Source::Bytes(length), Some(slot)) => params.set_bytes(slot, |bytes| write_random(*length, stream, bytes)),
        }
    }

    /// As text or as bytes.
    #[inline]
    fn put(&self, slot: usize, params: &mut Params, write: impl FnOnce(&mut Vec<u8>)) {
        match self.value_type {
            ValueType::Text => params.set_text(slot, write),
            _ => params.set_bytes(slot, write),
        }
    }

    #[inline(always)]
    fn draw_numbers(
        &self,
        numbers: &Numbers,
        slot: Option<usize>,
        stream: &mut Stream,
        memory: &mut Memory,
        params: &mut Params,
    ) {
        let first = self.rounded(numbers.draw(stream, memory));
        if let Some(value) = self.value {
            memory.values[value] = first;
        }
        let Some(slot) = slot else { return };
        params.set(slot, self.value_type.value(first));
        if self.count > 1 {
            self.draw_list(numbers, (slot, first), stream, memory, params);
        }
    }

    /// What comes after the first number.
    #[inline(never)]
    fn draw_list(
        &self,
        numbers: &Numbers,
        (slot, first): (usize, Number),
        stream: &mut Stream,
        memory: &mut Memory,
        params: &mut Params,
    ) {
        for offset in 1..self.count {
            let number = if self.consecutive {
                first.plus(offset as i64)
            } else {
                self.rounded(numbers.draw(stream, memory))
            };
            params.set(slot + offset, self.value_type.value(number));
        }
    }

    fn draw_stored(
        &self,
        stored: &Stored,
        slot: Option<usize>,
        stream: &mut Stream,
        memory: &mut Memory,
        params: &mut Params,
    ) {
        let first = stored.draw(stream, &memory.fields);
        if let (Some(value), Some(number)) = (self.value, first.number()) {
            memory.values[value] = number;
        }
        let Some(slot) = slot else { return };
        params.put(slot, first);
        for offset in 1..self.count {
            params.put(slot + offset, stored.draw(stream, &memory.fields));
        }
    }

    #[inline]
    fn rounded(&self, number: Number) -> Number {
        match (self.round, number) {
            (Some(unit), Number::Float(value)) => Number::Float((value * unit).round() / unit),
            _ => number,
        }
    }
}

impl Source {
    /// And the type of its values where none is said.
    fn compile(definition: &GeneratorDefinition, scope: &mut Scope) -> Result<(Self, ValueType), String> {
        let stored_type = definition.value_type.unwrap_or(ValueType::Text);
        let numbers = match &definition.kind {
            GeneratorKind::Field { index } => return Ok((Self::Stored(Stored::Field(*index)), stored_type)),
            GeneratorKind::Data {
                file,
                rows,
                pick,
                exponent,
            } => {
                let exponent = (*pick == Pick::Zipfian).then_some(*exponent);
                return Ok((
                    Self::Stored(Stored::drawn(file, *rows, exponent, stored_type)?),
                    stored_type,
                ));
            }
            GeneratorKind::Text { template } => {
                let source = match template {
                    Templates::Several(all) => {
                        let all = all.iter().map(|template| Filled::compile(template, scope));
                        Self::OneOf(all.collect::<Result<_, String>>()?)
                    }
                    Templates::One(template) => match Filled::compile(template, scope)? {
                        filled if filled.has_values() => Self::Filled(filled),
                        _ => Self::Text(Template::new(template)),
                    },
                };
                return Ok((source, ValueType::Text));
            }
            GeneratorKind::Choice(spec) => {
                let choice = Choice::compile(spec, scope)?;
                return Ok(match choice.items {
                    Items::Texts(_) => (Self::Choice(choice), ValueType::Text),
                    _ if choice.items.is_float() => (Self::Number(Numbers::Choice(choice)), ValueType::Float8),
                    _ => (Self::Number(Numbers::Choice(choice)), ValueType::Integer),
                });
            }
            GeneratorKind::Sample(spec) => {
                let sample = Sample::compile(spec)?;
                let natural = sample.natural_type();
                return Ok((Self::Sample(sample), natural));
            }
            GeneratorKind::Walk(spec) => {
                return Ok((
                    Self::Number(Numbers::Walk(Walk::compile(spec, scope)?)),
                    ValueType::Float8,
                ));
            }
            GeneratorKind::Grid(spec) => Numbers::Integer(Integer::Grid(Grid::compile(spec, scope))),
            GeneratorKind::Bytes { length } => return Ok((Self::Bytes(*length as usize), ValueType::Bytes)),
            GeneratorKind::Constant {
                value: ConstantValue::Text(text),
            } => return Ok((Self::Text(Template::literal(text)), ValueType::Text)),
            GeneratorKind::Constant {
                value: ConstantValue::Integer(value),
            } => Numbers::Integer(Integer::Constant(*value)),
            GeneratorKind::Constant {
                value: ConstantValue::Float(value),
            } => Numbers::Float(Float::Constant(*value)),
            GeneratorKind::Continuous(continuous) => Numbers::Float(Float::compile(*continuous)),
            GeneratorKind::Ref { of, add } => {
                let (of, value_type) = scope.resolve(of)?;
                return Ok((Self::Number(Numbers::Ref { of, add: *add }), value_type));
            }
            GeneratorKind::Row { expr } => {
                let numbers = Numbers::Row(Expression::compile(expr, scope)?);
                let reads = expression::names(expr).iter().any(|name| scope.is_read(name));
                let natural = if reads { ValueType::Number } else { ValueType::Integer };
                return Ok((Self::Number(numbers), natural));
            }
            GeneratorKind::Client { .. } if scope.has_rows() => {
                return Err("the rows of a table have no client; accepted is any other generator".into());
            }
            GeneratorKind::Client { start } => Numbers::Integer(Integer::Client(*start)),
            GeneratorKind::Sequence { start, step } => Numbers::Integer(Integer::Sequence {
                start: *start,
                step: *step,
                counter: scope.add_counter(),
            }),
            GeneratorKind::Present { of, loaded, start } => Numbers::Integer(Integer::Present(Present {
                ends: scope.add_ends(of),
                loaded: *loaded,
                start: *start,
            })),
            distributed => Numbers::Integer(Integer::Distributed(Distribution::compile(distributed)?)),
        };
        let natural = match numbers {
            Numbers::Float(_) => ValueType::Float8,
            _ => ValueType::Integer,
        };
        Ok((Self::Number(numbers), natural))
    }
}

impl Numbers {
    #[inline(always)]
    fn draw(&self, stream: &mut Stream, memory: &mut Memory) -> Number {
        match self {
            Self::Integer(Integer::Distributed(distribution)) => Number::Integer(distribution.draw(stream)),
            _ => self.draw_other(stream, memory),
        }
    }

    #[inline(never)]
    fn draw_other(&self, stream: &mut Stream, memory: &mut Memory) -> Number {
        match self {
            Self::Integer(integer) => Number::Integer(integer.draw(stream, memory)),
            Self::Ref { of, add } => memory.values[*of].plus(*add),
            Self::Row(expression) => expression.value(memory),
            Self::Choice(choice) => choice.number(stream, memory),
            Self::Walk(walk) => walk.draw(memory),
            Self::Float(float) => Number::Float(float.draw(stream)),
        }
    }
}

impl Integer {
    #[inline]
    fn draw(&self, stream: &mut Stream, memory: &mut Memory) -> i64 {
        match self {
            Self::Distributed(distribution) => distribution.draw(stream),
            Self::Grid(grid) => grid.draw(stream, memory),
            Self::Constant(value) => *value,
            Self::Present(present) => present.draw(stream, memory),
            Self::Client(start) => start.wrapping_add(i64::from(stream.client())),
            Self::Sequence { start, step, counter } => {
                let index = memory.next_index(*counter, stream);
                start.wrapping_add(step.wrapping_mul(index as i64))
            }
        }
    }
}

impl Float {
    fn compile(continuous: Continuous) -> Self {
        match continuous {
            Continuous::Uniform { low, high } => Self::Uniform { low, high },
            Continuous::Gaussian { low, high, iterations } => Self::Gaussian { low, high, iterations },
        }
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Self::Uniform { low, high } => low + (high - low) * stream.fraction(),
            Self::Gaussian { low, high, iterations } => low + (high - low) * mean_of_fractions(iterations, stream),
            Self::Constant(value) => value,
        }
    }
}

fn write_random(length: usize, stream: &mut Stream, out: &mut Vec<u8>) {
    for at in (0..length).step_by(8) {
        let bytes = stream.bits().to_le_bytes();
        out.extend_from_slice(&bytes[..8.min(length - at)]);
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::stream::Part;
    use serde_json::json;

    #[test]
    fn sequences_of_several_clients_never_meet() {
        let definition =
            GeneratorDefinition::parse(json!({"gen": "sequence", "start": 10, "step": 5}), "test").unwrap();
        let mut scope = Scope::default();
        let draw = Draw::compile("x", &definition, Some(0), &mut scope).unwrap();
        let mut params = Params::new();
        params.reset(1);
        let mut values = Vec::new();
        for client in 0..3 {
            let mut memory = scope.memory(3);
            for row in 0..4 {
                let mut stream = Stream::new(1, row, client, Part::Slot);
                draw.draw(&mut stream, &mut memory, &mut params);
                match params.get(0) {
                    Value::Integer(value) => values.push(value),
                    other => panic!("{other:?}"),
                }
            }
        }
        values.sort_unstable();
        assert_eq!(values, (0..12).map(|index| 10 + 5 * index).collect::<Vec<_>>());
    }
}
