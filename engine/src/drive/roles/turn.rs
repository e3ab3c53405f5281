//! What one client has to do of work with an end, and its turn at it: one slice.

use super::joint::Joint;
use super::seats::Seat;
use crate::drive::clock::now_ns;
use crate::drive::pace::open_loop::Span;

/// A client's part of the work on one target. It goes on from slice to slice.
#[derive(Debug)]
pub struct Errand {
    /// None: until the others have done theirs.
    left: Option<u64>,
    /// Of the operation that waits for another role.
    number: Option<u64>,
    /// All is done, and the schedule is over only then.
    rests_until_ns: Option<u64>,
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
        Self {
            left,
            number: None,
            rests_until_ns: None,
        }
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
        self.done_by(0, now);
    }

    /// An operation has ended now; the schedule with it is so long, and the work no shorter: what is due at the beginning of a second
    /// has all of that second.
    #[inline]
    pub fn done_by(&mut self, schedule_ns: u64, now: u64) {
        if self.joint.is_tied(self.role) {
            self.errand.number = None;
            self.joint.note_done(self.role);
        }
        if let Some(left) = &mut self.errand.left {
            *left -= 1;
            if *left == 0 {
                self.joint.note_finished(self.role, self.span.clock_at(now));
                self.errand.rests_until_ns = Some(schedule_ns);
                self.rest(now, |_| ());
            }
        }
    }

    /// Once all is done: waits for the end of the schedule, or of the turn where that comes first.
    pub fn rest(&mut self, now: u64, wait: impl Fn(u64)) {
        let Some(until_ns) = self.errand.rests_until_ns else {
            return;
        };
        let end_ns = self.span.end_ns();
        let mut clock_ns = self.span.clock_at(now);
        if clock_ns < until_ns && now < end_ns {
            wait(self.span.moment_of(until_ns).min(end_ns));
            clock_ns = self.span.clock_at(now_ns());
        }
        if clock_ns >= until_ns {
            self.errand.rests_until_ns = None;
            self.joint.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::roles::{Role, Seats, Share};
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    const LEAD: u64 = 3;
    const A_MINUTE_NS: u64 = 60_000_000_000;

    fn role(name: &str, clients: u32, share: Share<usize>) -> Role {
        Role {
            name: Some(name.into()),
            clients,
            arrivals: None,
            counted: true,
            share,
        }
    }

    fn follower_of_first(operations: u64) -> Seats {
        let bounded = |operations, follows, lead| Share {
            operations: Some(operations),
            follows,
            lead,
        };
        Seats {
            roles: vec![
                role("leader", 2, bounded(5001, None, None)),
                role("follower", 1, bounded(operations, Some(0), Some(LEAD))),
                role("other", 1, Share::default()),
            ],
        }
    }

    /// Drives all clients for slices of this length until the work is over; what each role has done. `look`: at the beginning
    /// of each operation, with the role and with what all have done so far.
    fn drive(seats: &Seats, slice_ns: u64, look: impl Fn(usize, &[AtomicU64; 3]) + Sync) -> [u64; 3] {
        let joint = Joint::of(seats, 0);
        let done: [AtomicU64; 3] = Default::default();
        let mut errands: Vec<_> = (0..seats.clients())
            .map(|client| Errand::begin(&joint, &seats.seat(client)))
            .collect();
        while !joint.is_over() {
            let span = Span {
                start_ns: now_ns(),
                length_ns: slice_ns,
                clock_ns: 0,
            };
            std::thread::scope(|scope| {
                for (errand, client) in errands.iter_mut().zip(0..) {
                    let role = seats.seat(client).role;
                    let (joint, done, look) = (&joint, &done, &look);
                    scope.spawn(move || {
                        let mut turn = Turn {
                            errand,
                            joint,
                            role,
                            span,
                        };
                        while turn.begin(now_ns()).is_some() {
                            look(role, done);
                            done[role].fetch_add(1, SeqCst);
                            turn.done(now_ns());
                        }
                    });
                }
            });
        }
        done.map(AtomicU64::into_inner)
    }

    #[test]
    fn a_follower_comes_after_its_leader_and_holds_it_when_that_is_too_far_ahead() {
        for slice_ns in [200_000, A_MINUTE_NS] {
            let done = drive(&follower_of_first(5001), slice_ns, |role, done| {
                let [leader, follower] = [0, 1].map(|role| done[role].load(SeqCst));
                match role {
                    0 => assert!(leader < follower + LEAD + 1, "{leader} and {follower}"),
                    1 => assert!(leader > follower, "{leader} and {follower}"),
                    _ => {}
                }
            });
            assert_eq!(done[..2], [5001, 5001]);
            assert!(done[2] > 0);
        }
    }

    #[test]
    fn a_follower_that_has_done_all_holds_nobody() {
        assert_eq!(drive(&follower_of_first(7), A_MINUTE_NS, |_, _| ())[..2], [5001, 7]);
    }

    #[test]
    fn whoever_waits_is_woken_when_another_client_stops() {
        let seats = follower_of_first(5001);
        let joint = Joint::of(&seats, 0);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| joint.wait_for_others(1, 0, now_ns() + A_MINUTE_NS));
            joint.break_off();
            assert!(!waiting.join().unwrap());
        });
        assert!(joint.is_over());
    }
}
