//! The stretch of time in which a client drives a server: one part of a row, or a slice.

/// One part of a row, on the monotonic clock and on that of the schedule.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub start_ns: u64,
    pub length_ns: u64,
    /// What the schedule's clock says at the start.
    pub clock_ns: u64,
}

impl Span {
    #[inline]
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.length_ns
    }

    /// What the schedule's clock says at a moment of the monotonic one.
    #[inline]
    pub fn clock_at(&self, now_ns: u64) -> u64 {
        self.clock_ns + now_ns.saturating_sub(self.start_ns)
    }

    /// The moment of the monotonic clock, of something that is still to come.
    #[inline]
    pub fn moment_of(&self, clock_ns: u64) -> u64 {
        self.start_ns + clock_ns.saturating_sub(self.clock_ns)
    }
}
