//! One of several values: drawn anew each time, or always the same one for the same key.

use serde::Deserialize;
use serde_json::Value as Json;

use super::expression::Expression;
use super::items::Items;
use crate::workload::constant::ConstantValue;
use crate::workload::scope::{Memory, Scope};
use crate::workload::stream::{Stream, mix};
use crate::workload::values::Number;

/// As received.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub of: Vec<ConstantValue>,
    pub weights: Option<Vec<f64>>,
    /// An expression: the choice depends on its value alone.
    pub per: Option<Json>,
    #[serde(default)]
    pub seed: u64,
}

/// Compiled.
#[derive(Debug, Clone)]
pub struct Choice {
    pub items: Items,
    /// The upper end of each item's share of all 64-bit numbers.
    ends: Vec<u64>,
    per: Option<(Expression, u64)>,
}

impl Spec {
    pub fn check(&self) -> Result<(), String> {
        Items::new(&self.of)?;
        let Some(weights) = &self.weights else { return Ok(()) };
        let is_share = |weight: &f64| *weight >= 0.0 && weight.is_finite();
        if weights.len() != self.of.len()
            || !weights.iter().all(is_share)
            || weights.iter().all(|&weight| weight == 0.0)
        {
            return Err("`weights` has to have a number from 0 on for each of `of`, not all of them 0".into());
        }
        Ok(())
    }
}

impl Choice {
    pub fn compile(spec: &Spec, scope: &Scope) -> Result<Self, String> {
        let per = spec.per.as_ref().map(|per| Expression::compile(per, scope));
        Ok(Self {
            items: Items::new(&spec.of)?,
            ends: ends(spec),
            per: per.transpose()?.map(|per| (per, mix(spec.seed))),
        })
    }

    #[inline]
    pub fn number(&self, stream: &mut Stream, memory: &Memory) -> Number {
        self.items.number(self.index(stream, memory))
    }

    #[inline]
    pub fn index(&self, stream: &mut Stream, memory: &Memory) -> usize {
        let bits = match &self.per {
            None => stream.bits(),
            Some((key, seed)) => mix(seed ^ mix(key.value(memory).integer() as u64)),
        };
        self.ends.partition_point(|&end| end < bits).min(self.ends.len() - 1)
    }
}

fn ends(spec: &Spec) -> Vec<u64> {
    let equal = vec![1.0; spec.of.len()];
    let weights = spec.weights.as_ref().unwrap_or(&equal);
    let total: f64 = weights.iter().sum();
    let mut so_far = 0.0;
    let ends = weights.iter().map(|weight| {
        so_far += weight;
        (so_far / total * 2f64.powi(64)) as u64
    });
    ends.collect()
}

#[cfg(test)]
mod tests {
    use crate::workload::generators::test::{error, integers};
    use serde_json::json;

    fn share(values: &[i64], of: i64) -> f64 {
        values.iter().filter(|&&value| value == of).count() as f64 / values.len() as f64
    }

    #[test]
    fn items_come_as_often_as_their_weights_say() {
        let equal = integers(json!({"gen": "choice", "of": [10, 20, 30]}), 30_000);
        let weighted = integers(
            json!({"gen": "choice", "of": [1, 2, 3, 4], "weights": [0, 7, 2, 1]}),
            30_000,
        );
        for of in [10, 20, 30] {
            assert!((share(&equal, of) - 1.0 / 3.0).abs() < 0.01);
        }
        for (of, expected) in [(1, 0.0), (2, 0.7), (3, 0.2), (4, 0.1)] {
            assert!((share(&weighted, of) - expected).abs() < 0.01, "{of}");
        }
    }

    #[test]
    fn a_key_always_has_the_same_one() {
        let of: Vec<i64> = (0..100).collect();
        let chosen = |seed| {
            integers(
                json!({"gen": "choice", "of": of, "per": ["%", "row", 50], "seed": seed}),
                200,
            )
        };
        let values = chosen(1);
        assert_eq!(values[..50], values[150..]);
        assert_ne!(values, chosen(2));
        let mut different = values[..50].to_vec();
        different.sort_unstable();
        different.dedup();
        assert!(different.len() > 30, "{different:?}");
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        assert!(error(json!({"gen": "choice", "of": []})).contains("`of` is empty"));
        assert!(error(json!({"gen": "choice", "of": [1, "a"]})).contains("numbers alone or texts alone"));
        assert!(error(json!({"gen": "choice", "of": [1], "weights": [0]})).contains("not all of them 0"));
        assert!(error(json!({"gen": "choice", "of": [1, 2], "weights": [1]})).contains("for each of `of`"));
        assert!(error(json!({"gen": "choice", "of": [1], "per": "id"})).contains("refers to \"id\""));
    }
}
