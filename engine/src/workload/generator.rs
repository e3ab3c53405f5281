//! Generators of parameter values: distributions over `low..=high`, sequences, references and text templates.
//!
//! The distributions are those of sysbench (1.0.20, `sb_rand.c`), so that results can be compared with its own.

use rand_distr::{Distribution as _, StandardNormal, Zipf};

use super::constant::ConstantValue;
use super::data::Stored;
use super::definition::{Continuous, GeneratorDefinition, GeneratorKind, Pick, Templates};
use super::generators::{Choice, Expression, Filled, Grid, Items, Present, Sample, Walk};
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

    #[inline]
    pub fn draw(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        match (&self.source, self.slot) {
            (Source::Number(numbers), slot) => self.draw_numbers(numbers, slot, stream, memory, params),
            (Source::Stored(stored), slot) => self.draw_stored(stored, slot, stream, memory, params),
            (_, None) => {}
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
            (Source::Bytes(length), Some(slot)) => params.set_bytes(slot, |bytes| write_random(*length, stream, bytes)),
        }
        // Drawn after the value, and only where there are any: what else is drawn does not depend on it.
        if let Some(slot) = self.slot
            && self.nulls > 0.0
            && stream.fraction() < self.nulls
        {
            params.set(slot, Value::Null(self.value_type));
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

    #[inline]
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
            GeneratorKind::Row { expr } => Numbers::Row(Expression::compile(expr, scope)?),
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
    #[inline]
    fn draw(&self, stream: &mut Stream, memory: &mut Memory) -> Number {
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

/// A random integer of `low..=high`.
#[derive(Debug, Clone)]
enum Distribution {
    Uniform { low: i64, high: i64 },
    Zipfian { low: i64, high: i64, zipf: Zipf<f64> },
    Pareto { low: i64, high: i64, power: f64 },
    Gaussian { low: i64, high: i64, iterations: u32 },
    Special(Special),
    Exponential { low: i64, high: i64, parameter: f64 },
    TruncatedGaussian { low: i64, high: i64, parameter: f64 },
}

impl Distribution {
    fn compile(kind: &GeneratorKind) -> Result<Self, String> {
        Ok(match *kind {
            GeneratorKind::Uniform { low, high } => Self::Uniform { low, high },
            GeneratorKind::Zipfian { low, high, exponent } => Self::Zipfian {
                low,
                high,
                zipf: Zipf::new(width(low, high), exponent)
                    .map_err(|error| format!("exponent {exponent} over {low}..{high}: {error}"))?,
            },
            GeneratorKind::Pareto { low, high, h } => Self::Pareto {
                low,
                high,
                power: h.ln() / (1.0 - h).ln(),
            },
            GeneratorKind::Gaussian {
                low,
                high,
                parameter: Some(parameter),
                ..
            } => Self::TruncatedGaussian { low, high, parameter },
            GeneratorKind::Gaussian {
                low, high, iterations, ..
            } => Self::Gaussian { low, high, iterations },
            GeneratorKind::Special {
                low,
                high,
                iterations,
                percent,
                hot_percent,
            } => Self::Special(Special {
                low,
                high,
                iterations,
                hot_width: (width(low, high) * percent / 100.0).max(1.0),
                hot_share: hot_percent / 100.0,
            }),
            GeneratorKind::Exponential { low, high, parameter } => Self::Exponential { low, high, parameter },
            GeneratorKind::Sequence { .. }
            | GeneratorKind::Constant { .. }
            | GeneratorKind::Ref { .. }
            | GeneratorKind::Row { .. }
            | GeneratorKind::Present { .. }
            | GeneratorKind::Choice(_)
            | GeneratorKind::Sample(_)
            | GeneratorKind::Grid(_)
            | GeneratorKind::Walk(_)
            | GeneratorKind::Field { .. }
            | GeneratorKind::Data { .. }
            | GeneratorKind::Bytes { .. }
            | GeneratorKind::Continuous(_)
            | GeneratorKind::Text { .. } => return Err("not a distribution".into()),
        })
    }

    #[inline]
    fn draw(&self, stream: &mut Stream) -> i64 {
        match self {
            Self::Uniform { low, high } => stream.integer(*low, *high),
            Self::Zipfian { low, high, zipf } => offset(*low, *high, zipf.sample(stream.random()) - 1.0),
            Self::Pareto { low, high, power } => {
                offset(*low, *high, width(*low, *high) * stream.fraction().powf(*power))
            }
            Self::Gaussian { low, high, iterations } => {
                offset(*low, *high, width(*low, *high) * mean_of_fractions(*iterations, stream))
            }
            Self::Special(special) => special.draw(stream),
            Self::TruncatedGaussian { low, high, parameter } => {
                offset(*low, *high, width(*low, *high) * truncated_gaussian(*parameter, stream))
            }
            Self::Exponential { low, high, parameter } => {
                offset(*low, *high, width(*low, *high) * exponential(*parameter, stream))
            }
        }
    }
}

/// Sysbench's "special": a share of the values is uniform inside a hot zone in the middle, the rest is gaussian.
#[derive(Debug, Clone)]
struct Special {
    low: i64,
    high: i64,
    iterations: u32,
    hot_width: f64,
    hot_share: f64,
}

impl Special {
    fn draw(&self, stream: &mut Stream) -> i64 {
        let width = width(self.low, self.high);
        let position = if stream.fraction() < self.hot_share {
            (width - self.hot_width) / 2.0 + self.hot_width * stream.fraction()
        } else {
            width * mean_of_fractions(self.iterations, stream)
        };
        offset(self.low, self.high, position)
    }
}

/// Number of integers in `low..=high`.
fn width(low: i64, high: i64) -> f64 {
    high.wrapping_sub(low) as u64 as f64 + 1.0
}

/// The integer `position` (rounded down) after `low`, and never after `high`.
#[inline]
fn offset(low: i64, high: i64, position: f64) -> i64 {
    let most = high.wrapping_sub(low) as u64;
    low.wrapping_add((position as u64).min(most) as i64)
}

/// The mean of `iterations` uniform fractions: close to a normal distribution around one half.
fn mean_of_fractions(iterations: u32, stream: &mut Stream) -> f64 {
    let sum: f64 = (0..iterations).map(|_| stream.fraction()).sum();
    sum / f64::from(iterations)
}

/// Of [0, 1), a normal distribution around one half whose ends are `parameter` standard deviations away; what lies beyond is
/// drawn again. Source: pgbench, `getGaussianRand`.
fn truncated_gaussian(parameter: f64, stream: &mut Stream) -> f64 {
    loop {
        let deviations: f64 = StandardNormal.sample(stream.random());
        if (-parameter..parameter).contains(&deviations) {
            return (deviations + parameter) / (2.0 * parameter);
        }
    }
}

/// Of [0, 1), cut off where the density has fallen to exp(-parameter) of what it is at 0. Source: pgbench, `getExponentialRand`.
fn exponential(parameter: f64, stream: &mut Stream) -> f64 {
    let cut = (-parameter).exp();
    let fraction = 1.0 - stream.fraction();
    -(cut + (1.0 - cut) * fraction).ln() / parameter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::stream::Part;
    use serde_json::{Value as Json, json};

    const DRAWS: usize = 200_000;

    /// Draws from a lone generator.
    fn drawn(generator: Json, draws: usize) -> Vec<i64> {
        let definition = GeneratorDefinition::parse(generator, "test").unwrap();
        let mut scope = Scope::default();
        let draw = Draw::compile("x", &definition, Some(0), &mut scope).unwrap();
        let mut memory = scope.memory(1);
        let mut stream = Stream::new(42, 0, 0, Part::Slot);
        let mut params = Params::new();
        (0..draws)
            .map(|_| {
                params.reset(1);
                draw.draw(&mut stream, &mut memory, &mut params);
                match params.get(0) {
                    Value::Integer(value) => value,
                    other => panic!("{other:?}"),
                }
            })
            .collect()
    }

    fn mean(values: &[i64]) -> f64 {
        values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64
    }

    fn deviation(values: &[i64]) -> f64 {
        let mean = mean(values);
        (values.iter().map(|&value| (value as f64 - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    fn share(values: &[i64], inside: impl Fn(i64) -> bool) -> f64 {
        values.iter().filter(|&&value| inside(value)).count() as f64 / values.len() as f64
    }

    fn assert_near(actual: f64, expected: f64, tolerance: f64) {
        assert!(
            (actual - expected).abs() <= tolerance,
            "{actual} is not {expected} ± {tolerance}"
        );
    }

    #[test]
    fn uniform_has_the_moments_of_the_uniform_distribution() {
        let values = drawn(json!({"gen": "uniform", "low": 1, "high": 1_000_000}), DRAWS);
        assert_near(mean(&values), 500_000.5, 3_000.0);
        assert_near(deviation(&values), 1e6 / 12f64.sqrt(), 2_000.0);
        assert!(values.iter().all(|value| (1..=1_000_000).contains(value)));
    }

    #[test]
    fn zipfian_frequencies_fall_with_rank_to_the_power_of_the_exponent() {
        let rows = 1_000_000;
        let values = drawn(json!({"gen": "zipfian", "low": 1, "high": rows}), DRAWS);
        let total: f64 = (1..=rows).map(|rank| (rank as f64).powf(-0.8)).sum();
        for rank in [1i64, 2, 5, 20] {
            let expected = (rank as f64).powf(-0.8) / total;
            let error = (expected / DRAWS as f64).sqrt();
            assert_near(share(&values, |value| value == rank), expected, 4.0 * error);
        }
        let tail: f64 = (200_001..=rows).map(|rank| (rank as f64).powf(-0.8)).sum();
        assert_near(share(&values, |value| value > 200_000), tail / total, 0.005);
        assert!(values.iter().all(|value| (1..=rows).contains(value)));
    }

    #[test]
    fn zipfian_of_a_few_values_with_the_low_end_hottest() {
        let values = drawn(json!({"gen": "zipfian", "low": 10, "high": 12, "exponent": 1.0}), DRAWS);
        for (value, expected) in [(10, 6.0 / 11.0), (11, 3.0 / 11.0), (12, 2.0 / 11.0)] {
            assert_near(share(&values, |drawn| drawn == value), expected, 0.006);
        }
    }

    #[test]
    fn pareto_has_the_distribution_function_of_its_formula() {
        let values = drawn(json!({"gen": "pareto", "low": 1, "high": 1_000_000}), DRAWS);
        // P(value <= x) = (x/n)^(ln(1-h)/ln(h)); with h = 0.2 four fifths lie in the first fifth.
        assert_near(share(&values, |value| value <= 200_000), 0.8, 0.005);
        assert_near(
            share(&values, |value| value <= 10_000),
            0.01f64.powf(0.8f64.ln() / 0.2f64.ln()),
            0.005,
        );
    }

    #[test]
    fn a_truncated_gaussian_is_that_of_pgbench() {
        let values = drawn(
            json!({"gen": "gaussian", "low": 1, "high": 1000, "parameter": 4.0}),
            DRAWS,
        );
        // One and two standard deviations around the middle, which is 1/8 of the width to either side for each.
        for (deviations, expected) in [(1, 0.682_69), (2, 0.954_50)] {
            let reach = 125 * deviations;
            let inside = share(&values, |drawn| (501 - reach..=500 + reach).contains(&drawn));
            assert_near(inside, expected / 0.999_937, 0.005);
        }
        assert!(values.iter().all(|value| (1..=1000).contains(value)));
    }

    #[test]
    fn exponential_is_that_of_pgbench() {
        let values = drawn(
            json!({"gen": "exponential", "low": 1, "high": 100, "parameter": 5.0}),
            DRAWS,
        );
        for value in [1, 2, 50, 100] {
            let at = |edge: i64| (-5.0 * edge as f64 / 100.0).exp();
            let expected = (at(value - 1) - at(value)) / (1.0 - (-5f64).exp());
            assert_near(
                share(&values, |drawn| drawn == value),
                expected,
                4.0 * (expected / DRAWS as f64).sqrt(),
            );
        }
        assert!(values.iter().all(|value| (1..=100).contains(value)));
    }

    #[test]
    fn gaussian_is_the_mean_of_twelve_uniforms() {
        let values = drawn(json!({"gen": "gaussian", "low": 1, "high": 1_000_000}), DRAWS);
        assert_near(mean(&values), 500_000.5, 1_000.0);
        assert_near(deviation(&values), 1e6 / 12.0, 1_000.0);
    }

    #[test]
    fn special_puts_its_hot_share_into_the_middle() {
        let values = drawn(json!({"gen": "special", "low": 1, "high": 1_000_000}), DRAWS);
        let hot = share(&values, |value| (495_001..=505_000).contains(&value));
        // The gaussian quarter adds its own 4.8 % inside the hot zone.
        assert_near(hot, 0.75 + 0.25 * 0.048, 0.005);
        assert!(values.iter().any(|value| *value < 300_000) && values.iter().any(|value| *value > 700_000));
    }

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
