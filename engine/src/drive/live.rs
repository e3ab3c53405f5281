//! What a client has done so far in a part, for whoever looks on while it works.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::account::ThreadMeter;
use crate::record::ServerFigures;

/// Written by its client alone, with plain stores, so that being watched costs it next to nothing.
#[derive(Debug)]
pub struct Live {
    ops: AtomicU64,
    rows: AtomicU64,
    affected: AtomicU64,
    errors: AtomicU64,
    slowest_ns: AtomicU64,
    thread: ThreadMeter,
    /// Whether its operations are operations of the test.
    counted: bool,
    role: usize,
}

/// Sums over clients since the part began; the slowest response since anybody looked.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub ops: u64,
    pub rows: u64,
    pub affected: u64,
    pub errors: u64,
    pub slowest_ns: u64,
    /// By role.
    pub roles: Vec<SeenOfRole>,
}

#[derive(Debug, Default, Clone, Copy)]
pub struct SeenOfRole {
    pub ops: u64,
    pub slowest_ns: u64,
}

impl Live {
    /// To be called in the client's own thread.
    pub fn of_this_thread(counted: bool, role: usize) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            ops: zero(),
            rows: zero(),
            affected: zero(),
            errors: zero(),
            slowest_ns: zero(),
            thread: ThreadMeter::of_this_thread(),
            counted,
            role,
        }
    }

    /// After an event; rows so far.
    #[inline]
    pub fn attempted(&self, went_well: bool, rows: u64, affected: u64) {
        let count = if went_well { &self.ops } else { &self.errors };
        count.store(count.load(Relaxed) + 1, Relaxed);
        self.rows.store(rows, Relaxed);
        self.affected.store(affected, Relaxed);
    }

    #[inline]
    pub fn responded(&self, elapsed_ns: u64) {
        // Looking first: a new slowest response is rare.
        if elapsed_ns > self.slowest_ns.load(Relaxed) {
            self.slowest_ns.fetch_max(elapsed_ns, Relaxed);
        }
    }

    /// Before a part, while its client rests.
    pub fn begin_anew(&self) {
        for count in [&self.ops, &self.rows, &self.affected, &self.errors, &self.slowest_ns] {
            count.store(0, Relaxed);
        }
    }

    /// Adds this client's to those of others.
    pub fn add_to(&self, seen: &mut Seen) {
        let (ops, slowest_ns) = (self.ops.load(Relaxed), self.slowest_ns.swap(0, Relaxed));
        seen.ops += if self.counted { ops } else { 0 };
        seen.rows += self.rows.load(Relaxed);
        seen.affected += self.affected.load(Relaxed);
        seen.errors += self.errors.load(Relaxed);
        seen.slowest_ns = seen.slowest_ns.max(slowest_ns);
        if seen.roles.len() <= self.role {
            seen.roles.resize_with(self.role + 1, SeenOfRole::default);
        }
        let of_role = &mut seen.roles[self.role];
        of_role.ops += ops;
        of_role.slowest_ns = of_role.slowest_ns.max(slowest_ns);
    }

    /// What its thread has used so far, for an embedded server.
    pub fn as_server(&self) -> ServerFigures {
        self.thread.seen_by_others()
    }
}
