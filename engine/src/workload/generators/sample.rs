//! Values of a set, none of them twice in a draw.

use serde::Deserialize;

use super::items::Items;
use crate::workload::constant::ConstantValue;
use crate::workload::params::Params;
use crate::workload::scope::Memory;
use crate::workload::stream::Stream;
use crate::workload::text::write_integer;
use crate::workload::values::{Number, ValueType};

/// As received.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub of: Of,
    /// The first integer of the set, when `of` is its size.
    #[serde(default)]
    pub start: i64,
    /// A text in which `{}` stands for the drawn integer.
    pub template: Option<String>,
}

/// The size of a set of integers, or its values.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "`of` must be a number of values or a list of them")]
pub enum Of {
    Size(u64),
    Values(Vec<ConstantValue>),
}

/// Compiled.
#[derive(Debug, Clone)]
pub struct Sample {
    size: u64,
    set: Set,
}

#[derive(Debug, Clone)]
enum Set {
    From(i64),
    Items(Items),
    Filled { start: i64, parts: Vec<String> },
}

/// Up to so many, looking at all values drawn so far is faster than a set of them.
const FEW: usize = 64;

impl Spec {
    pub fn is_text(&self) -> bool {
        let texts = matches!(&self.of, Of::Values(values) if matches!(values.first(), Some(ConstantValue::Text(_))));
        texts || self.template.is_some()
    }

    pub fn check(&self, count: u32) -> Result<(), String> {
        let size = match &self.of {
            Of::Size(size) => *size,
            Of::Values(_) if self.template.is_some() => {
                return Err("`template` is for integers; `of` has the values themselves".into());
            }
            Of::Values(values) => Items::new(values)?.len() as u64,
        };
        if u64::from(count) > size {
            return Err(format!(
                "`count` is {count}, and `of` has {size} values, of which none is drawn twice"
            ));
        }
        Ok(())
    }
}

impl Sample {
    pub fn compile(spec: &Spec) -> Result<Self, String> {
        Ok(match (&spec.of, &spec.template) {
            (Of::Values(values), _) => {
                let items = Items::new(values)?;
                Self {
                    size: items.len() as u64,
                    set: Set::Items(items),
                }
            }
            (Of::Size(size), None) => Self {
                size: *size,
                set: Set::From(spec.start),
            },
            (Of::Size(size), Some(template)) => {
                let parts = template.split("{}").map(str::to_owned).collect();
                Self {
                    size: *size,
                    set: Set::Filled {
                        start: spec.start,
                        parts,
                    },
                }
            }
        })
    }

    pub fn natural_type(&self) -> ValueType {
        match &self.set {
            Set::Filled { .. } | Set::Items(Items::Texts(_)) => ValueType::Text,
            Set::Items(items) if items.is_float() => ValueType::Float8,
            _ => ValueType::Integer,
        }
    }

    /// Draws `count` values into the slots from `slot` on. Source of the method: R. Floyd, in J. Bentley, "Programming
    /// Pearls: A Sample of Brilliance", CACM 30 (1987).
    pub fn draw(
        &self,
        count: usize,
        slot: usize,
        value_type: ValueType,
        stream: &mut Stream,
        memory: &mut Memory,
        params: &mut Params,
    ) {
        memory.forget_taken();
        let first = self.size - count as u64;
        for offset in 0..count {
            let most = first + offset as u64;
            let mut drawn = stream.integer(0, most as i64) as u64;
            if !memory.take(drawn, count <= FEW) {
                drawn = most;
                memory.take(drawn, count <= FEW);
            }
            self.put(drawn, slot + offset, value_type, params);
        }
    }

    fn put(&self, drawn: u64, slot: usize, value_type: ValueType, params: &mut Params) {
        let number = match &self.set {
            Set::From(start) => Number::Integer(start.wrapping_add(drawn as i64)),
            Set::Items(items @ Items::Numbers(_)) => items.number(drawn as usize),
            Set::Items(items) => return params.set_text(slot, |out| out.extend_from_slice(items.text(drawn as usize))),
            Set::Filled { start, parts } => {
                return params.set_text(slot, |out| fill(parts, start.wrapping_add(drawn as i64), out));
            }
        };
        params.set(slot, value_type.value(number));
    }
}

fn fill(parts: &[String], number: i64, out: &mut Vec<u8>) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            write_integer(number, out);
        }
        out.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::generators::test::{draws, error};
    use serde_json::json;
    use std::collections::HashMap;

    #[test]
    fn no_value_comes_twice_and_all_come_equally_often() {
        for (size, count) in [(5, 2), (5, 5), (300, 100)] {
            let mut seen: HashMap<String, u32> = HashMap::new();
            let drawn = draws(json!({"gen": "sample", "of": size, "start": 10, "count": count}), 3_000);
            for mut values in drawn {
                values
                    .iter()
                    .for_each(|value| *seen.entry(value.clone()).or_default() += 1);
                values.sort_unstable();
                values.dedup();
                assert_eq!(values.len(), count);
            }
            assert_eq!(seen.len(), size);
            let expected = 3_000.0 * count as f64 / size as f64;
            assert!(
                seen.values()
                    .all(|&times| (f64::from(times) - expected).abs() < 5.0 * expected.sqrt()),
                "{seen:?}"
            );
            assert!(seen.contains_key("Integer(10)") && seen.contains_key(&format!("Integer({})", 9 + size)));
        }
    }

    #[test]
    fn texts_are_made_of_numbers_or_given() {
        let made = draws(json!({"gen": "sample", "of": 2, "template": "host_{}!", "count": 2}), 1);
        let mut first = made[0].clone();
        first.sort_unstable();
        assert_eq!(first, ["host_0!", "host_1!"]);
        let given = draws(json!({"gen": "sample", "of": ["a", "b", "c"], "count": 3}), 1);
        let mut first = given[0].clone();
        first.sort_unstable();
        assert_eq!(first, ["a", "b", "c"]);
    }

    #[test]
    fn mistakes_say_what_is_accepted() {
        assert!(error(json!({"gen": "sample", "of": 2, "count": 3})).contains("`of` has 2 values"));
        assert!(error(json!({"gen": "sample", "of": 0})).contains("`of` has 0 values"));
        assert!(error(json!({"gen": "sample", "of": "x"})).contains("`of` must be"));
        assert!(error(json!({"gen": "sample", "of": ["x"], "template": "{}"})).contains("`template` is for integers"));
    }
}
