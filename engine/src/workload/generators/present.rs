//! A random row of those that a table has at the moment.

use crate::workload::scope::Memory;
use crate::workload::stream::Stream;

/// Its value: `start` for the first row that was loaded, and so on.
#[derive(Debug, Clone)]
pub struct Present {
    /// Index into `Memory::ends`.
    pub ends: usize,
    /// Rows that were loaded.
    pub loaded: u64,
    pub start: i64,
}

impl Present {
    /// Of a table that has no rows, the next one that it would get.
    #[inline]
    pub fn draw(&self, stream: &mut Stream, memory: &Memory) -> i64 {
        let (oldest, next) = memory.ends_of(self.ends).present(self.loaded);
        let last = next.saturating_sub(1).max(oldest);
        self.start.wrapping_add(stream.integer(oldest as i64, last as i64))
    }
}
