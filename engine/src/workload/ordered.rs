//! A JSON object whose members keep the order in which they were written: parameters are drawn and columns filled in it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Members of a JSON object, in order, no name twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordered<T>(Vec<(String, T)>);

impl<T> Ordered<T> {
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OrderedVisitor(PhantomData))
    }
}

struct OrderedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OrderedVisitor<T> {
    type Value = Ordered<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, T)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format!("{name:?} is given twice")));
            }
            let value = map
                .next_value()
                .map_err(|error| A::Error::custom(format!("{name:?}: {error}")))?;
            members.push((name, value));
        }
        Ok(Ordered(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_written_order() {
        let ordered: Ordered<i64> = serde_json::from_str(r#"{"z": 1, "a": 2, "m": 3}"#).unwrap();
        let names: Vec<_> = ordered.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["z", "a", "m"]);
    }

    #[test]
    fn keeps_the_written_order_through_a_value() {
        let value: serde_json::Value = serde_json::from_str(r#"{"z": 1, "a": 2}"#).unwrap();
        let ordered: Ordered<i64> = serde_json::from_value(value).unwrap();
        assert_eq!(ordered.iter().next(), Some(("z", &1)));
    }

    #[test]
    fn refuses_a_name_given_twice() {
        let error = serde_json::from_str::<Ordered<i64>>(r#"{"z": 1, "z": 2}"#).unwrap_err();
        assert!(error.to_string().contains("\"z\" is given twice"), "{error}");
    }
}
