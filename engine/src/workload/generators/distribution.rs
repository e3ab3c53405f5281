//! Distributions of integers, those of sysbench (1.0.20, `sb_rand.c`) and pgbench, so that results can be compared with theirs.

use rand_distr::{Distribution as _, StandardNormal, Zipf};

use crate::workload::definition::GeneratorKind;
use crate::workload::stream::Stream;

/// A random integer of `low..=high`.
#[derive(Debug, Clone)]
pub enum Distribution {
    Uniform { low: i64, high: i64 },
    Zipfian { low: i64, high: i64, zipf: Zipf<f64> },
    Pareto { low: i64, high: i64, power: f64 },
    Gaussian { low: i64, high: i64, iterations: u32 },
    Special(Special),
    Exponential { low: i64, high: i64, parameter: f64 },
    TruncatedGaussian { low: i64, high: i64, parameter: f64 },
}

impl Distribution {
    pub fn compile(kind: &GeneratorKind) -> Result<Self, String> {
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
            | GeneratorKind::Client { .. }
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

    #[inline(always)]
    pub fn draw(&self, stream: &mut Stream) -> i64 {
        match self {
            Self::Uniform { low, high } => stream.integer(*low, *high),
            _ => self.draw_uneven(stream),
        }
    }

    #[inline(never)]
    fn draw_uneven(&self, stream: &mut Stream) -> i64 {
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
pub struct Special {
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
pub fn mean_of_fractions(iterations: u32, stream: &mut Stream) -> f64 {
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
    use crate::workload::generators::test::integers as drawn;
    use serde_json::json;

    const DRAWS: usize = 200_000;

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
}
