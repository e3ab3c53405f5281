//! What one client has to do of work with an end, and its turn at it: one slice.

use super::joint::Joint;
use super::seats::Seat;
use crate::drive::clock::now_ns;
use crate::drive::open_loop::Span;

/// A client's part of the work on one target. It goes on from slice to slice.
#[derive(Debug)]
pub struct Errand {
    /// None: until the others have done theirs.
    left: Option<u64>,
    /// Of the operation that waits for another role.
    number: Option<u64>,
}

/// A slice of it.
pub struct Turn<'a> {
    pub errand: &'a mut Errand,
    pub joint: &'a Joint,
    pub role: usize,
    pub span: Span,
}

impl Errand {
    pub fn begin(joint: &Joint, seat: &Seat) -> Self {
        let left = joint.share_of(seat);
        if left == Some(0) {
            joint.finish(seat.role, 0);
        }
        Self { left, number: None }
    }

    /// How many operations there are; None: as many as there is time for.
    pub fn left(&self) -> Option<u64> {
        self.left
    }
}

impl Turn<'_> {
    /// Whether the client has nothing more to do in all of the work.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.errand.left == Some(0) || self.joint.is_over()
    }

    /// When a closed loop's next operation begins, now at the earliest; None: not in this turn.
    #[inline]
    pub fn begin(&mut self, now: u64) -> Option<u64> {
        if now >= self.span.end_ns() || self.is_over() {
            return None;
        }
        if !self.joint.is_tied(self.role) {
            return Some(now);
        }
        self.is_let(self.span.end_ns()).then(now_ns)
    }

    /// Waits until the roles that it depends on let the client do its next operation; false: not before this moment, or never.
    #[inline]
    pub fn is_let(&mut self, until_ns: u64) -> bool {
        if !self.joint.is_tied(self.role) {
            return true;
        }
        let (joint, role) = (self.joint, self.role);
        let number = *self.errand.number.get_or_insert_with(|| joint.take_number(role));
        joint.wait_for_others(role, number, until_ns)
    }

    /// An operation has ended now.
    #[inline]
    pub fn done(&mut self, now: u64) {
        if self.joint.is_tied(self.role) {
            self.errand.number = None;
            self.joint.note_done(self.role);
        }
        if let Some(left) = &mut self.errand.left {
            *left -= 1;
            if *left == 0 {
                self.joint.finish(self.role, self.span.clock_at(now));
            }
        }
    }
}
