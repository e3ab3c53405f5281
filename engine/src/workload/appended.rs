//! Rows that go on where the load of a table has ended: which positions come next, over all clients of a target.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

/// As received.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// What is counted together, as a rule the name of the table.
    pub of: String,
    /// The first position.
    pub from: u64,
    /// A row depends on this and its position alone.
    pub seed: u64,
}

/// How many rows were appended to one table.
pub type Counter = Arc<AtomicU64>;

/// The counters of a target. They last as long as the target does, since its tables keep what was appended.
#[derive(Debug, Clone, Default)]
pub struct Appended(Arc<Mutex<HashMap<String, Counter>>>);

impl Appended {
    pub fn counter(&self, of: &str) -> Counter {
        let mut counters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counters.entry(of.to_owned()).or_default().clone()
    }
}

impl Position {
    /// The first of the next `rows` positions, which nobody else gets.
    #[inline]
    pub(super) fn take(&self, counter: &Counter, rows: usize) -> u64 {
        self.from + counter.fetch_add(rows as u64, Ordering::Relaxed)
    }
}
