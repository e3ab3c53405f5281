//! Waiting for what another client does, without using the CPU meanwhile: with an embedded server that would be the server's.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::drive::clock::now_ns;

#[derive(Debug, Default)]
pub struct Bell {
    /// Ringing is a system call, and there is mostly nobody to hear it.
    waiting: AtomicU32,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Bell {
    /// Waits until `is_ready`, which is looked at each time the bell rings, or until this moment of the monotonic clock;
    /// whether it was ready.
    pub fn wait(&self, until_ns: u64, is_ready: impl Fn() -> bool) -> bool {
        if is_ready() {
            return true;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, SeqCst);
        // Looked at again only now: from here on nobody rings without being heard.
        let outcome = loop {
            if is_ready() {
                break true;
            }
            let left_ns = until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                break false;
            }
            let waited = self.rung.wait_timeout(guard, Duration::from_nanos(left_ns));
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        self.waiting.fetch_sub(1, SeqCst);
        outcome
    }

    /// To be called after what others wait for has changed.
    pub fn ring(&self) {
        if self.waiting.load(SeqCst) > 0 {
            // Whoever has looked and not yet fallen asleep holds the lock.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.rung.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    #[test]
    fn waiting_ends_with_the_bell_or_at_its_moment() {
        let (bell, is_ready) = (Bell::default(), AtomicBool::new(false));
        let soon = now_ns() + 2_000_000;
        assert!(!bell.wait(soon, || is_ready.load(SeqCst)));
        assert!(now_ns() >= soon);
        std::thread::scope(|scope| {
            let heard = scope.spawn(|| bell.wait(now_ns() + 60_000_000_000, || is_ready.load(SeqCst)));
            while bell.waiting.load(SeqCst) == 0 {
                std::thread::yield_now();
            }
            is_ready.store(true, SeqCst);
            bell.ring();
            assert!(heard.join().unwrap());
        });
    }

    #[test]
    fn no_ring_is_missed_by_two_that_take_turns() {
        const TURNS: u64 = 20_000;
        let (bell, turn) = (Bell::default(), AtomicU64::new(0));
        let play = |parity: u64| {
            for number in (parity..TURNS).step_by(2) {
                assert!(bell.wait(now_ns() + 60_000_000_000, || turn.load(SeqCst) == number));
                turn.store(number + 1, SeqCst);
                bell.ring();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| play(0));
            scope.spawn(|| play(1));
        });
        assert_eq!(turn.load(SeqCst), TURNS);
    }
}
