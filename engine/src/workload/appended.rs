//! Rows that go on where the load of a table has ended, and that are deleted from its oldest end: which come next, over all
//! clients of a target.

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
    #[serde(default)]
    pub from: u64,
    /// A row depends on this and its position alone.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub end: End,
}

/// At which end of a table rows come or go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    #[default]
    Newest,
    /// Rows are deleted here.
    Oldest,
}

/// How many rows were appended to a table, and deleted from its oldest end.
#[derive(Debug, Default)]
pub struct Ends {
    appended: AtomicU64,
    deleted: AtomicU64,
}

/// Of one table, or of each of several equal ones.
pub type EndsOfTables = Vec<Arc<Ends>>;

/// The ends of all tables of a target, by name and number. They last as long as the target does, since its tables do.
#[derive(Debug, Clone, Default)]
pub struct Appended(Arc<Mutex<EndsByTable>>);

type EndsByTable = HashMap<(String, u32), Arc<Ends>>;

impl Appended {
    pub fn ends(&self, of: &str, table: u32) -> Arc<Ends> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((of.to_owned(), table)).or_default().clone()
    }
}

impl Ends {
    /// Positions of the rows that are there: from the first to the one before the second. Rows count from when their statement
    /// is sent.
    #[inline]
    pub(super) fn present(&self, loaded: u64) -> (u64, u64) {
        let newest = loaded + self.appended.load(Ordering::Relaxed);
        (self.deleted.load(Ordering::Relaxed).min(newest), newest)
    }
}

impl Position {
    /// The first of the next `rows` positions, which nobody else gets.
    #[inline]
    pub(super) fn take(&self, ends: &Ends, rows: usize) -> u64 {
        match self.end {
            End::Newest => self.from + ends.appended.fetch_add(rows as u64, Ordering::Relaxed),
            End::Oldest => ends.deleted.fetch_add(rows as u64, Ordering::Relaxed),
        }
    }
}
