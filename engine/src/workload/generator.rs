//! Generators of parameter values: distributions over `low..=high`, sequences, references and text templates.
//!
//! The distributions are those of sysbench (1.0.20, `sb_rand.c`), so that results can be compared with its own.

use rand_distr::{Distribution as _, Zipf};

use super::definition::{ConstantValue, GeneratorDefinition, GeneratorKind};
use super::params::Params;
use super::stream::Stream;
use super::text::list;

/// What generators remember between draws.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// Latest value of every parameter of the event.
    pub values: Vec<i64>,
    /// How many values each sequence has given to this client.
    pub counters: Vec<u64>,
    /// Clients that share the sequences.
    pub clients: u64,
}

/// Where a parameter can be found by those that refer to it.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub name: String,
    /// Index into `Memory::values`; `None` when the parameter is not a single integer.
    pub value: Option<usize>,
}

/// Numbers the parameters and sequences of a program or table while it is compiled.
#[derive(Debug, Default)]
pub(super) struct Scope {
    known: Vec<Known>,
    values: usize,
    counters: usize,
}

impl Scope {
    pub fn memory(&self, clients: u32) -> Memory {
        Memory {
            values: vec![0; self.values],
            counters: vec![0; self.counters],
            clients: u64::from(clients),
        }
    }

    /// The memory of the latest parameter called `name`.
    fn resolve(&self, name: &str) -> Result<usize, String> {
        match self.known.iter().rfind(|known| known.name == name) {
            Some(Known { value: Some(value), .. }) => Ok(*value),
            Some(_) => Err(format!(
                "`of` names {name:?}, which is a text or a list; accepted is a single integer"
            )),
            None => Err(format!(
                "`of` names {name:?}; accepted is an earlier parameter: {}",
                list(self.known.iter().map(|known| known.name.as_str()))
            )),
        }
    }
}

/// One compiled generator: draws its value or values into the slots of a statement.
#[derive(Debug, Clone)]
pub(super) struct Draw {
    source: Source,
    /// Number of values.
    count: usize,
    consecutive: bool,
    /// First slot; `None` when the SQL does not name the parameter and only others refer to it.
    slot: Option<usize>,
    /// Index into `Memory::values` for single integers.
    value: Option<usize>,
}

#[derive(Debug, Clone)]
enum Source {
    Integer(Integer),
    Text(Template),
}

#[derive(Debug, Clone)]
enum Integer {
    Distributed(Distribution),
    Sequence { start: i64, step: i64, counter: usize },
    Constant(i64),
    Ref { of: usize, add: i64 },
}

impl Draw {
    /// Compiles the generator of the parameter `name`, which others may refer to from now on.
    pub fn compile(
        name: &str,
        definition: &GeneratorDefinition,
        slot: Option<usize>,
        scope: &mut Scope,
    ) -> Result<Self, String> {
        let source = Source::compile(&definition.kind, scope)?;
        let remembered = definition.count.is_none() && matches!(source, Source::Integer(_));
        let value = remembered.then_some(scope.values);
        scope.values += usize::from(remembered);
        scope.known.push(Known {
            name: name.to_owned(),
            value,
        });
        Ok(Self {
            source,
            count: definition.count.unwrap_or(1) as usize,
            consecutive: definition.consecutive,
            slot,
            value,
        })
    }

    #[inline]
    pub fn draw(&self, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        match &self.source {
            Source::Integer(integer) => self.draw_integers(integer, stream, memory, params),
            Source::Text(template) => {
                if let Some(slot) = self.slot {
                    params.set_text(slot, |texts| template.write(stream, texts));
                }
            }
        }
    }

    #[inline]
    fn draw_integers(&self, integer: &Integer, stream: &mut Stream, memory: &mut Memory, params: &mut Params) {
        let first = integer.draw(stream, memory);
        if let Some(value) = self.value {
            memory.values[value] = first;
        }
        let Some(slot) = self.slot else { return };
        params.set_integer(slot, first);
        for offset in 1..self.count {
            let value = if self.consecutive {
                first.wrapping_add(offset as i64)
            } else {
                integer.draw(stream, memory)
            };
            params.set_integer(slot + offset, value);
        }
    }
}

impl Source {
    fn compile(kind: &GeneratorKind, scope: &mut Scope) -> Result<Self, String> {
        let integer = match kind {
            GeneratorKind::Text { template } => return Ok(Self::Text(Template::new(template))),
            GeneratorKind::Constant {
                value: ConstantValue::Text(text),
            } => return Ok(Self::Text(Template::literal(text))),
            GeneratorKind::Constant {
                value: ConstantValue::Integer(value),
            } => Integer::Constant(*value),
            GeneratorKind::Ref { of, add } => Integer::Ref {
                of: scope.resolve(of)?,
                add: *add,
            },
            GeneratorKind::Sequence { start, step } => {
                scope.counters += 1;
                Integer::Sequence {
                    start: *start,
                    step: *step,
                    counter: scope.counters - 1,
                }
            }
            distributed => Integer::Distributed(Distribution::compile(distributed)?),
        };
        Ok(Self::Integer(integer))
    }
}

impl Integer {
    #[inline]
    fn draw(&self, stream: &mut Stream, memory: &mut Memory) -> i64 {
        match self {
            Self::Distributed(distribution) => distribution.draw(stream),
            Self::Constant(value) => *value,
            Self::Ref { of, add } => memory.values[*of].wrapping_add(*add),
            Self::Sequence { start, step, counter } => {
                let drawn = &mut memory.counters[*counter];
                let index = drawn
                    .wrapping_mul(memory.clients)
                    .wrapping_add(u64::from(stream.client()));
                *drawn += 1;
                start.wrapping_add(step.wrapping_mul(index as i64))
            }
        }
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
            GeneratorKind::Gaussian { low, high, iterations } => Self::Gaussian { low, high, iterations },
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
            GeneratorKind::Sequence { .. }
            | GeneratorKind::Constant { .. }
            | GeneratorKind::Ref { .. }
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

/// A text with places for random digits and letters.
#[derive(Debug, Clone)]
struct Template {
    text: Vec<u8>,
    digits: Vec<usize>,
    letters: Vec<usize>,
}

impl Template {
    fn new(template: &str) -> Self {
        let places = |mark: u8| {
            (0..template.len())
                .filter(|&at| template.as_bytes()[at] == mark)
                .collect()
        };
        Self {
            text: template.as_bytes().to_vec(),
            digits: places(b'#'),
            letters: places(b'@'),
        }
    }

    fn literal(text: &str) -> Self {
        Self {
            text: text.as_bytes().to_vec(),
            digits: Vec::new(),
            letters: Vec::new(),
        }
    }

    #[inline]
    fn write(&self, stream: &mut Stream, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.text);
        let text = &mut out[start..];
        for places in self.digits.chunks(16) {
            for (&place, digit) in places.iter().zip(sixteen_digits(stream.bits())) {
                text[place] = digit;
            }
        }
        for places in self.letters.chunks(8) {
            let mut bits = stream.bits();
            for &place in places {
                // 26 letters out of the next 8 bits, rounded down; the low bits move up for the next letter.
                let wide = u128::from(bits) * 26;
                text[place] = b'a' + (wide >> 64) as u8;
                bits = wide as u64;
            }
        }
    }
}

/// Sixteen decimal digits as text from 64 random bits (bias below 10^16 / 2^64).
#[inline]
fn sixteen_digits(bits: u64) -> [u8; 16] {
    let number = ((u128::from(bits) * 10_000_000_000_000_000) >> 64) as u64;
    let mut digits = [0; 16];
    digits[..8].copy_from_slice(&eight_digits(number / 100_000_000));
    digits[8..].copy_from_slice(&eight_digits(number % 100_000_000));
    digits
}

/// The eight digits of a number below 10^8, all at once: the number is split in lanes of 4, 2 and 1 digits; the
/// multiplications divide every lane by 100 and by 10.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - 100 * hundreds) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - 10 * tens) << 8);
    (ones + 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Value;
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
                    Value::Text(_) => panic!("a text"),
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
                    Value::Text(_) => panic!("a text"),
                }
            }
        }
        values.sort_unstable();
        assert_eq!(values, (0..12).map(|index| 10 + 5 * index).collect::<Vec<_>>());
    }

    #[test]
    fn templates_keep_their_text_and_fill_their_places_evenly() {
        let template = Template::new("é##########-@@@@@@@@@@");
        let mut stream = Stream::new(3, 0, 0, Part::Slot);
        let mut counts = [0u32; 256];
        for _ in 0..10_000 {
            let mut text = Vec::new();
            template.write(&mut stream, &mut text);
            let text = String::from_utf8(text).unwrap();
            assert!(text.starts_with('é') && text.as_bytes()[12] == b'-', "{text}");
            text.bytes().for_each(|byte| counts[byte as usize] += 1);
        }
        assert!(
            (b'0'..=b'9').all(|digit| (9_500..10_500).contains(&counts[digit as usize])),
            "{counts:?}"
        );
        assert!(
            (b'a'..=b'z').all(|letter| (3_500..4_200).contains(&counts[letter as usize])),
            "{counts:?}"
        );
    }

    #[test]
    fn eight_digits_are_those_of_the_number() {
        for number in [0, 9, 10, 99, 100, 9_999, 10_000, 12_345_678, 99_999_999] {
            assert_eq!(eight_digits(number), *format!("{number:08}").as_bytes());
        }
    }
}
