//! Random walks: a value that moves a little with every step, one walk for each key.
//!
//! Any step of a walk can be had without those before it. Its value is found by halving: between two steps that are known
//! the middle is their mean plus chance, with the variance of a random walk that ends at both (a Brownian bridge).

use serde::Deserialize;
use serde_json::Value as Json;

use super::expression::Expression;
use crate::workload::scope::{Memory, Scope};
use crate::workload::stream::mix;
use crate::workload::values::Number;

/// As received. `key` and `step` are expressions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub step: Json,
    pub key: Option<Json>,
    /// Standard deviation of one step.
    #[serde(default = "one")]
    pub sd: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// At step 0; by default anywhere from `low` to `high`, or 0 where one of these is missing.
    pub start: Option<f64>,
    #[serde(default)]
    pub seed: u64,
}

fn one() -> f64 {
    1.0
}

/// Compiled.
#[derive(Debug, Clone)]
pub struct Walk {
    step: Expression,
    key: Option<Expression>,
    sd: f64,
    bounds: Bounds,
    start: Option<f64>,
    seed: u64,
}

/// A walk that comes to a bound turns round.
#[derive(Debug, Clone, Copy)]
enum Bounds {
    None,
    Low(f64),
    High(f64),
    Both { low: f64, width: f64 },
}

impl Spec {
    pub fn check(&self) -> Result<(), String> {
        if !(self.sd >= 0.0 && self.sd.is_finite()) {
            return Err(format!("`sd` is {}; accepted is 0 or more", self.sd));
        }
        match (self.low, self.high) {
            (Some(low), Some(high)) if low >= high => {
                Err(format!("`low` is {low} and `high` is {high}; accepted is low < high"))
            }
            _ => Ok(()),
        }
    }
}

impl Walk {
    pub fn compile(spec: &Spec, scope: &Scope) -> Result<Self, String> {
        let key = spec.key.as_ref().map(|key| Expression::compile(key, scope));
        Ok(Self {
            step: Expression::compile(&spec.step, scope)?,
            key: key.transpose()?,
            sd: spec.sd,
            bounds: Bounds::new(spec.low, spec.high),
            start: spec.start,
            seed: mix(spec.seed),
        })
    }

    #[inline]
    pub fn draw(&self, memory: &Memory) -> Number {
        let key = self.key.as_ref().map_or(0, |key| key.value(memory).integer());
        let step = self.step.value(memory).integer().max(0);
        let seed = mix(self.seed ^ mix(key as u64));
        let start = self.start.unwrap_or_else(|| self.bounds.anywhere(seed));
        Number::Float(self.bounds.keep(start + self.sd * way(seed, step as u64)))
    }
}

impl Bounds {
    fn new(low: Option<f64>, high: Option<f64>) -> Self {
        match (low, high) {
            (None, None) => Self::None,
            (Some(low), None) => Self::Low(low),
            (None, Some(high)) => Self::High(high),
            (Some(low), Some(high)) => Self::Both { low, width: high - low },
        }
    }

    fn anywhere(self, seed: u64) -> f64 {
        match self {
            Self::Both { low, width } => low + width * fraction(mix(seed)),
            _ => 0.0,
        }
    }

    fn keep(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Low(low) => low + (value - low).abs(),
            Self::High(high) => high - (value - high).abs(),
            Self::Both { low, width } => {
                let turned = (value - low).rem_euclid(2.0 * width);
                low + if turned > width { 2.0 * width - turned } else { turned }
            }
        }
    }
}

/// How far a walk of steps with a standard deviation of 1 has come: the sum of its first `steps` steps.
fn way(seed: u64, steps: u64) -> f64 {
    if steps == 0 {
        return 0.0;
    }
    let (mut before, mut after) = (0, 1);
    let (mut way_before, mut way_after) = (0.0, chance(seed, 1));
    while after < steps {
        let length = after as f64;
        (before, way_before) = (after, way_after);
        after *= 2;
        way_after += length.sqrt() * chance(seed, after);
    }
    while after > steps {
        let middle = before + (after - before) / 2;
        let spread = ((after - before) as f64).sqrt() / 2.0;
        let way_middle = (way_before + way_after) / 2.0 + spread * chance(seed, middle);
        if middle <= steps {
            (before, way_before) = (middle, way_middle);
        } else {
            (after, way_after) = (middle, way_middle);
        }
        if before == steps {
            return way_before;
        }
    }
    way_after
}

/// Of a mean of 0 and a standard deviation of 1, near enough to normal: the sum of four uniform numbers. It is the same on
/// every host to the last bit.
#[inline]
fn chance(seed: u64, of: u64) -> f64 {
    let bits = mix(seed ^ mix(of));
    let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
    // The variance of one is (2^32 - 1) / 12, of four of them a third of that number.
    (sum as f64 - 2.0 * 65_535.0) / ((2f64.powi(32) - 1.0) / 3.0).sqrt()
}

fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::generators::test::{error, floats};
    use serde_json::json;

    #[test]
    fn steps_have_their_standard_deviation_and_do_not_depend_on_each_other() {
        let steps: Vec<f64> = (0..4096).map(|step| way(7, step + 1) - way(7, step)).collect();
        let mean_of = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        assert!(mean_of(&mut steps.iter().copied()).abs() < 0.05);
        assert!((mean_of(&mut steps.iter().map(|step| step * step)) - 1.0).abs() < 0.08);
        let neighbours = mean_of(&mut steps.windows(2).map(|pair| pair[0] * pair[1]));
        assert!(neighbours.abs() < 0.06, "{neighbours}");
    }

    #[test]
    fn the_way_grows_with_the_root_of_the_steps() {
        for steps in [3, 64, 1000] {
            let squares: f64 = (0..4000).map(|seed| way(mix(seed), steps).powi(2)).sum::<f64>() / 4000.0;
            assert!((squares / steps as f64 - 1.0).abs() < 0.1, "{squares} after {steps}");
        }
    }

    #[test]
    fn each_key_has_a_walk_of_its_own_within_the_bounds() {
        let walk =
            json!({"gen": "walk", "key": ["%", "row", 2], "step": ["/", "row", 2], "sd": 5.0, "low": 0, "high": 20});
        let values = floats(walk, 4000);
        assert!(values.iter().all(|value| (0.0..=20.0).contains(value)));
        assert!(values.iter().any(|value| *value < 1.0) && values.iter().any(|value| *value > 19.0));
        assert!(values.chunks(2).filter(|pair| (pair[0] - pair[1]).abs() > 1.0).count() > 1000);
        let far = values
            .windows(3)
            .filter(|three| (three[2] - three[0]).abs() > 18.0)
            .count();
        assert!(far < 20, "{far}");
    }

    #[test]
    fn walks_start_where_they_are_told() {
        let start = |more: serde_json::Value| {
            let mut walk = json!({"gen": "walk", "step": "row"});
            walk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            floats(walk, 1)[0]
        };
        assert_eq!(start(json!({})), 0.0);
        assert_eq!(start(json!({"start": 3, "low": 1})), 3.0);
        assert_ne!(
            start(json!({"low": 1, "high": 9})),
            start(json!({"low": 1, "high": 9, "seed": 2}))
        );
        assert_eq!(
            floats(
                json!({"gen": "walk", "step": "row", "sd": 0, "start": -4, "low": -1}),
                3
            ),
            [2.0; 3]
        );
        assert_eq!(
            floats(json!({"gen": "walk", "step": "row", "sd": 0, "start": 4, "high": 1}), 3),
            [-2.0; 3]
        );
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        assert!(error(json!({"gen": "walk"})).contains("missing field `step`"));
        assert!(error(json!({"gen": "walk", "step": "row", "sd": -1})).contains("`sd` is -1"));
        assert!(error(json!({"gen": "walk", "step": "row", "low": 1, "high": 1})).contains("accepted is low < high"));
    }
}
