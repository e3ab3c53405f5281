//! CPU: what a thread owes for its work between two reads from a socket, and how that is burned.

use std::cell::Cell;
use std::hint::black_box;

use crate::bursts::Bursts;
use crate::page::{Page, add};

/// Rounds of arithmetic between two looks at the clock: some 100 ns, the cost of a look.
const ROUNDS: u64 = 64;

/// What is owed is burned when it is worth so much. A burn hides 0.05 to 0.1 µs of what the request would have cost anyway, which
/// is nothing beside this, but a sixth of 5 % of a request of 6 µs.
const SHORTEST_BURN_NS: f64 = 4_000.0;

/// Where a thread stands, on its own CPU clock, since its last read ended.
#[derive(Debug, Clone, Copy)]
struct Stint {
    /// That of the page when the last read ended; 0: there was none.
    epoch: u64,
    ended_ns: u64,
    /// All its work in that epoch.
    worked_ns: u64,
    /// To be burned; under 0, more has been burned than was asked for.
    due_ns: f64,
}

thread_local! {
    static STINT: Cell<Stint> = const { Cell::new(Stint::NEW) };
}

impl Stint {
    const NEW: Self = Self {
        epoch: 0,
        ended_ns: 0,
        worked_ns: 0,
        due_ns: 0.0,
    };

    /// A read ended. Returns the thread's work since the one before; of what lies in bursts it now owes a share. None when that
    /// read was in another epoch, or before this process was forked.
    fn advance(&mut self, epoch: u64, now_ns: u64, share: f64, bursts: Bursts) -> Option<u64> {
        let work_ns = now_ns
            .checked_sub(self.ended_ns)
            .filter(|_| epoch == self.epoch && epoch != 0);
        self.due_ns = match work_ns {
            Some(work_ns) if share > 0.0 => self.due_ns + share * bursts.share_of(self.worked_ns, work_ns) as f64,
            _ => 0.0,
        };
        self.worked_ns = work_ns.map_or(0, |work_ns| self.worked_ns + work_ns);
        self.epoch = epoch;
        self.ended_ns = now_ns;
        work_ns
    }

    /// Whether what is owed is worth a burn; less is left for later.
    fn is_due(&self) -> bool {
        self.due_ns >= SHORTEST_BURN_NS
    }

    /// All up to `now_ns` was burned. What is too much is taken off the next due, so that the share holds on average,
    /// however coarse the clock.
    fn pay(&mut self, now_ns: u64) -> u64 {
        let burned_ns = now_ns.saturating_sub(self.ended_ns);
        self.due_ns -= burned_ns as f64;
        self.ended_ns = now_ns;
        burned_ns
    }
}

/// For use after each read from a socket. One look at the clock is the price of being preloaded, with any share; all else is
/// counted as burned.
pub fn after_read(page: &Page, _bytes: u64) {
    add(&page.reads, 1);
    let Some(now_ns) = thread_ns() else { return };
    let mut stint = STINT.get();
    if let Some(work_ns) = stint.advance(page.epoch(), now_ns, page.cpu_share(), page.cpu_bursts()) {
        add(&page.work_ns, work_ns);
    }
    if stint.is_due() {
        let burned_ns = stint.pay(burn(now_ns, stint.due_ns));
        add(&page.burned_ns, burned_ns);
    }
    STINT.set(stint);
}

/// Keeps the CPU busy until the thread's clock is `due_ns` past `began_ns`; returns what it then says.
fn burn(began_ns: u64, due_ns: f64) -> u64 {
    let mut latest_ns = began_ns;
    while (latest_ns.saturating_sub(began_ns) as f64) < due_ns {
        for round in 0..ROUNDS {
            black_box(round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        let Some(now_ns) = thread_ns() else { break };
        latest_ns = now_ns;
    }
    latest_ns
}

/// The calling thread's CPU time.
fn thread_ns() -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills in `time`.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    let ns = (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64);
    (!failed).then_some(ns)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    const ALWAYS: Bursts = Bursts {
        burst_ns: 0,
        every_ns: 0,
        phase_ns: 0,
    };

    #[test]
    fn a_share_of_the_work_between_reads_is_owed() {
        let mut stint = Stint::NEW;
        assert_eq!(stint.advance(1, 5_000, 0.1, ALWAYS), None, "nobody knows since when");
        assert_eq!(stint.advance(1, 15_000, 0.1, ALWAYS), Some(10_000));
        assert_eq!(stint.due_ns, 1_000.0);
        assert_eq!(stint.pay(16_300), 1_300);
        assert_eq!(
            stint.advance(1, 36_300, 0.1, ALWAYS),
            Some(20_000),
            "what was burned is no work"
        );
        assert_eq!(stint.due_ns, 1_700.0, "300 ns were too much");
    }

    #[test]
    fn work_under_other_shares_is_owed_nothing() {
        let mut stint = Stint::NEW;
        stint.advance(1, 1_000, 1.0, ALWAYS);
        stint.advance(1, 2_000, 1.0, ALWAYS);
        assert_eq!(stint.advance(2, 900_000, 1.0, ALWAYS), None);
        assert_eq!(stint.due_ns, 0.0);
        assert_eq!(stint.advance(2, 901_000, 0.0, ALWAYS), Some(1_000));
        assert_eq!(stint.due_ns, 0.0, "work is known without a share, too");
    }

    #[test]
    fn in_bursts_a_share_of_the_work_in_them_is_owed() {
        let bursts = Bursts {
            burst_ns: 50_000,
            every_ns: 500_000,
            phase_ns: 200_000,
        };
        let mut stint = Stint::NEW;
        let (mut now_ns, mut burned_ns) = (0, 0);
        stint.advance(1, now_ns, 1.0, bursts);
        let mut burned_at = Vec::new();
        for request in 0..100 {
            now_ns += 10_000;
            stint.advance(1, now_ns, 1.0, bursts);
            if stint.is_due() {
                now_ns += stint.due_ns as u64;
                burned_ns += stint.pay(now_ns);
                burned_at.push(request);
            }
        }
        assert_eq!(
            burned_ns, 100_000,
            "a tenth of the work, which what was burned is none of"
        );
        assert_eq!(burned_at, [30, 31, 32, 33, 34, 80, 81, 82, 83, 84]);
        stint.advance(2, now_ns + 1, 1.0, bursts);
        assert_eq!(stint.worked_ns, 0, "the next epoch has a clock of its own");
    }

    #[test]
    fn the_clock_of_a_forked_process_starts_anew() {
        let mut stint = Stint::NEW;
        stint.advance(1, 5_000_000, 1.0, ALWAYS);
        assert_eq!(stint.advance(1, 1_000, 1.0, ALWAYS), None);
        assert_eq!(stint.due_ns, 0.0);
    }

    #[test]
    fn over_many_reads_the_share_is_met_by_a_coarse_clock() {
        let mut stint = Stint::NEW;
        let (mut now_ns, mut burned_ns, mut work_ns) = (0, 0, 0);
        for read in 0..100_000 {
            now_ns += 10_000 + read % 7_000;
            work_ns += stint.advance(1, now_ns, 0.01, ALWAYS).unwrap_or(0);
            if stint.is_due() {
                now_ns += stint.due_ns as u64 / 1_000 * 1_000 + 1_000;
                burned_ns += stint.pay(now_ns);
            }
        }
        let share = burned_ns as f64 / work_ns as f64;
        assert!((share - 0.01).abs() < 1e-4, "{share}");
    }

    #[test]
    fn what_short_requests_owe_is_burned_in_one_piece() {
        let mut stint = Stint::NEW;
        let (mut now_ns, mut burned_ns) = (0, Vec::new());
        stint.advance(1, now_ns, 0.05, ALWAYS);
        for _ in 0..40 {
            now_ns += 6_000;
            stint.advance(1, now_ns, 0.05, ALWAYS);
            if stint.is_due() {
                now_ns += stint.due_ns as u64;
                burned_ns.push(stint.pay(now_ns));
            }
        }
        assert_eq!(burned_ns, [4_200, 4_200], "14 requests owe 300 ns each");
    }

    #[test]
    fn outside_bursts_nothing_is_burned() {
        let page = Page::new(1, 1.0, 0.0);
        page.set_bursts(Bursts {
            burst_ns: 1,
            every_ns: u64::MAX / 4,
            phase_ns: 1,
        });
        after_read(&page, 1);
        burn(thread_ns().unwrap(), 2e6);
        after_read(&page, 1);
        assert!(page.work_ns.load(Ordering::Relaxed) >= 2_000_000);
        assert_eq!(page.burned_ns.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_burned_shows_on_the_clock_and_in_the_page() {
        let page = Page::new(1, 1.0, 0.0);
        after_read(&page, 1);
        let began_ns = thread_ns().unwrap();
        burn(began_ns, 2e6);
        assert!(thread_ns().unwrap() >= began_ns + 2_000_000);
        after_read(&page, 1);
        let (work_ns, burned_ns) = (
            page.work_ns.load(Ordering::Relaxed),
            page.burned_ns.load(Ordering::Relaxed),
        );
        assert_eq!(page.reads.load(Ordering::Relaxed), 2);
        assert!(work_ns >= 2_000_000 && burned_ns >= work_ns, "{work_ns} {burned_ns}");
    }
}
