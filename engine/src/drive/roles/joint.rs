//! Work with an end that the roles of a test do together on one target: how far each has come, who waits for whom, and
//! whether it is over.
//!
//! Some roles have so many operations to do. The others go on until these have done theirs. A role may follow another: it does
//! its n-th operation after the n-th of that one, which may have to wait when it is too far ahead.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

use super::bell::Bell;
use super::seats::{Role, Seat, Seats, share};

#[derive(Debug)]
pub struct Joint {
    roles: Vec<Progress>,
    /// Clients that still have operations to do; of bounded roles.
    busy: AtomicU32,
    /// Clients that are in the midst of an operation while their target rests.
    paused: AtomicU32,
    /// A client has stopped: there is no point in waiting for it.
    is_broken: AtomicBool,
    end: Bell,
}

/// Of one role.
#[derive(Debug, Default)]
struct Progress {
    operations: Option<u64>,
    follows: Option<usize>,
    /// Roles that follow this one, and by how many operations it may be ahead of each.
    followers: Vec<(usize, u64)>,
    /// Whether another role waits for it, or it for another.
    is_tied: bool,
    begun: AtomicU64,
    done: AtomicU64,
    changed: Bell,
    /// Clients that still have operations to do.
    busy: AtomicU32,
    finished_ns: AtomicU64,
    schedule_ns: AtomicU64,
}

impl Joint {
    /// `operations`: of a test whose clients are all alike.
    pub fn of(seats: &Seats, operations: u64) -> Self {
        let progress_of = |role: &Role| Progress {
            operations: if seats.are_named() {
                role.share.operations
            } else {
                Some(operations)
            },
            follows: role.share.follows,
            busy: AtomicU32::new(role.clients),
            ..Progress::default()
        };
        let mut roles: Vec<_> = seats.roles.iter().map(progress_of).collect();
        for (follower, role) in seats.roles.iter().enumerate() {
            let Some(leader) = role.share.follows else { continue };
            roles[follower].is_tied = true;
            roles[leader].is_tied = true;
            roles[leader]
                .followers
                .extend(role.share.lead.map(|lead| (follower, lead)));
        }
        let bounded = seats.roles.iter().zip(&roles);
        let busy = bounded.filter(|(_, progress)| progress.operations.is_some());
        Self {
            busy: AtomicU32::new(busy.map(|(role, _)| role.clients).sum()),
            roles,
            paused: AtomicU32::new(0),
            is_broken: AtomicBool::new(false),
            end: Bell::default(),
        }
    }

    /// All that is to be done has been done, or never will be.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.busy.load(SeqCst) == 0 || self.is_broken.load(SeqCst)
    }

    /// The operations of a client; None: it goes on until the others have done theirs.
    pub fn share_of(&self, seat: &Seat) -> Option<u64> {
        let operations = self.roles[seat.role].operations;
        operations.map(|operations| share(operations, seat.number, seat.clients))
    }

    #[inline]
    pub fn is_tied(&self, role: usize) -> bool {
        self.roles[role].is_tied
    }

    /// The number of the role's next operation, from 0, which no other client gets.
    pub fn take_number(&self, role: usize) -> u64 {
        self.roles[role].begun.fetch_add(1, SeqCst)
    }

    /// Waits until operation `number` of a role may begin; false: not before this moment, or never.
    pub fn wait_for_others(&self, role: usize, number: u64, until_ns: u64) -> bool {
        let progress = &self.roles[role];
        let after = progress.follows.map(|leader| (leader, number + 1));
        let behind = progress.followers.iter().map(|&(follower, lead)| {
            let least = (number + 1).saturating_sub(lead);
            // One that has done all of its operations comes no nearer.
            (follower, least.min(self.roles[follower].operations.unwrap_or(u64::MAX)))
        });
        after.into_iter().chain(behind).all(|(other, least)| {
            let other = &self.roles[other];
            let is_there = || other.done.load(SeqCst) >= least;
            other.changed.wait(until_ns, || is_there() || self.is_over());
            is_there()
        })
    }

    /// Waits until all is over; false: not before this moment.
    pub fn wait_for_end(&self, until_ns: u64) -> bool {
        self.end.wait(until_ns, || self.is_over())
    }

    /// A client of a role that is tied has done an operation.
    pub fn note_done(&self, role: usize) {
        self.roles[role].done.fetch_add(1, SeqCst);
        self.roles[role].changed.ring();
    }

    /// How long the schedule is of what a client of an open loop has sent.
    pub fn note_schedule(&self, role: usize, clock_ns: u64) {
        self.roles[role].schedule_ns.fetch_max(clock_ns, SeqCst);
    }

    /// A client has done all its operations. To be called once by each client that has a share.
    pub fn finish(&self, role: usize, clock_ns: u64) {
        self.note_finished(role, clock_ns);
        self.leave();
    }

    /// A client has done all its operations, and their schedule goes on.
    pub fn note_finished(&self, role: usize, clock_ns: u64) {
        self.roles[role].finished_ns.fetch_max(clock_ns, SeqCst);
        self.roles[role].busy.fetch_sub(1, SeqCst);
    }

    /// Nobody has to wait for it any more.
    pub fn leave(&self) {
        if self.busy.fetch_sub(1, SeqCst) == 1 {
            self.ring_all();
        }
    }

    /// A client has stopped for good.
    pub fn break_off(&self) {
        self.is_broken.store(true, SeqCst);
        self.ring_all();
    }

    /// A client's turn has ended in a pause of its operation.
    pub fn note_paused(&self) {
        self.paused.fetch_add(1, SeqCst);
    }

    /// It goes on.
    pub fn note_resumed(&self) {
        self.paused.fetch_sub(1, SeqCst);
    }

    /// Whether a client has an operation to end before its target may be left.
    pub fn has_paused(&self) -> bool {
        self.paused.load(SeqCst) > 0 && !self.is_broken.load(SeqCst)
    }

    /// When a bounded role had done its operations (None: it has not), on the work's clock, and how long the schedule is of those
    /// that it has done.
    pub fn ends_of(&self, role: usize) -> Option<(Option<u64>, u64)> {
        let progress = &self.roles[role];
        let is_done = progress.busy.load(SeqCst) == 0;
        let finished_ns = is_done.then(|| progress.finished_ns.load(SeqCst));
        progress
            .operations
            .map(|_| (finished_ns, progress.schedule_ns.load(SeqCst)))
    }

    fn ring_all(&self) {
        self.end.ring();
        self.roles.iter().for_each(|role| role.changed.ring());
    }
}
