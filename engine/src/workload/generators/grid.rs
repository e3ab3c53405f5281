//! Integers at equal distances: at random, or spread so that the first few already lie all over the range.

use serde::Deserialize;

use crate::workload::scope::{Memory, Scope};
use crate::workload::stream::Stream;

/// As received: `low`, `low + step` … up to `high` at the most.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub low: i64,
    pub high: i64,
    #[serde(default = "one")]
    pub step: i64,
    #[serde(default)]
    pub order: Order,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    #[default]
    Random,
    Spread,
}

fn one() -> i64 {
    1
}

/// Compiled.
#[derive(Debug, Clone)]
pub struct Grid {
    low: i64,
    step: i64,
    /// The number of steps to the last one.
    last: i64,
    /// When the order is `Spread`.
    counter: Option<Option<usize>>,
}

impl Spec {
    pub fn check(&self) -> Result<(), String> {
        if self.low > self.high {
            return Err(format!(
                "`low` is {} and `high` is {}; accepted is low <= high",
                self.low, self.high
            ));
        }
        if self.step < 1 {
            return Err(format!("`step` is {}; accepted is 1 or more", self.step));
        }
        Ok(())
    }
}

impl Grid {
    pub fn compile(spec: &Spec, scope: &mut Scope) -> Self {
        Self {
            low: spec.low,
            step: spec.step,
            last: spec.high.wrapping_sub(spec.low) / spec.step,
            counter: (spec.order == Order::Spread).then(|| scope.add_counter()),
        }
    }

    #[inline]
    pub fn draw(&self, stream: &mut Stream, memory: &mut Memory) -> i64 {
        let steps = match self.counter {
            None => stream.integer(0, self.last),
            Some(counter) => spread(memory.next_index(counter, stream), self.last as u64) as i64,
        };
        self.low.wrapping_add(steps.wrapping_mul(self.step))
    }
}

/// One of 0..=`last`: the fractions of multiples of the golden ratio fill a range evenly, however many there are.
fn spread(index: u64, last: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let fraction = index.wrapping_mul(GOLDEN);
    ((u128::from(fraction) * (u128::from(last) + 1)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use crate::workload::generators::test::{error, integers};
    use serde_json::json;

    #[test]
    fn values_lie_on_the_grid() {
        let mut values = integers(json!({"gen": "grid", "low": 5, "high": 26, "step": 10}), 1_000);
        values.sort_unstable();
        values.dedup();
        assert_eq!(values, [5, 15, 25]);
        assert_eq!(integers(json!({"gen": "grid", "low": 5, "high": 5}), 1), [5]);
    }

    #[test]
    fn values_that_are_spread_come_from_all_parts_of_the_range() {
        let values = integers(json!({"gen": "grid", "low": 0, "high": 999_999, "order": "spread"}), 64);
        let mut parts: Vec<_> = values[..16].iter().map(|value| value / 125_000).collect();
        parts.sort_unstable();
        parts.dedup();
        assert_eq!(parts, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        assert!(error(json!({"gen": "grid", "low": 2, "high": 1})).contains("accepted is low <= high"));
        assert!(error(json!({"gen": "grid", "low": 1, "high": 2, "step": 0})).contains("`step` is 0"));
    }
}
