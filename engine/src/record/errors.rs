//! Errors of a slot, counted by class, with one example text of each class.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::SerializeMap;

use crate::wire::{ErrorClass, WireError};

const CLASSES: [(ErrorClass, &str); 7] = [
    (ErrorClass::Deadlock, "deadlock"),
    (ErrorClass::Serialization, "serialization"),
    (ErrorClass::DuplicateKey, "duplicate_key"),
    (ErrorClass::LockTimeout, "lock_timeout"),
    (ErrorClass::NoRow, "no_row"),
    (ErrorClass::LostConnection, "lost_connection"),
    (ErrorClass::Other, "other"),
];

fn slot_of(class: ErrorClass) -> usize {
    CLASSES
        .iter()
        .position(|(known, _)| *known == class)
        .unwrap_or(CLASSES.len() - 1)
}

/// Serialises as the counts that are not zero, by class name.
#[derive(Debug, Default, Clone)]
pub struct Errors {
    counts: [u64; CLASSES.len()],
    examples: [Option<String>; CLASSES.len()],
}

impl Errors {
    pub fn note(&mut self, error: &WireError) {
        let slot = slot_of(error.class);
        self.counts[slot] += 1;
        self.examples[slot].get_or_insert_with(|| error.message.clone());
    }

    pub fn count(&self, class: ErrorClass) -> u64 {
        self.counts[slot_of(class)]
    }

    pub fn add(&mut self, other: &Errors) {
        for slot in 0..CLASSES.len() {
            self.counts[slot] += other.counts[slot];
            if self.examples[slot].is_none() {
                self.examples[slot].clone_from(&other.examples[slot]);
            }
        }
    }

    /// One example text of every class seen, by class name.
    pub fn examples(&self) -> BTreeMap<&'static str, &str> {
        let named = CLASSES.iter().zip(&self.examples);
        named
            .filter_map(|((_, name), text)| Some((*name, text.as_deref()?)))
            .collect()
    }
}

impl Serialize for Errors {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for ((_, name), count) in CLASSES.iter().zip(self.counts).filter(|(_, count)| *count > 0) {
            map.serialize_entry(name, &count)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_class_and_keeps_the_first_text() {
        let mut errors = Errors::default();
        for text in ["first", "second"] {
            errors.note(&WireError {
                class: ErrorClass::Deadlock,
                message: text.into(),
            });
        }
        let mut sum = Errors::default();
        sum.add(&errors);
        assert_eq!(serde_json::to_string(&sum).unwrap(), r#"{"deadlock":2}"#);
        assert_eq!(sum.examples(), BTreeMap::from([("deadlock", "first")]));
        assert_eq!(sum.count(ErrorClass::Other), 0);
    }

    #[test]
    fn class_names_are_those_of_the_wire() {
        for (class, name) in CLASSES {
            assert_eq!(serde_json::to_value(class).unwrap(), name);
        }
    }
}
