//! The one clock of the drive loops (CLOCK_MONOTONIC, read without a system call), and waiting for a moment of it.

use crate::account::process::clock_ns;

/// Sleeps end this early and the rest is spun, because waking up takes about that long.
const SPIN_NS: u64 = 20_000;

/// Monotonic time in ns.
#[inline]
pub fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

/// Time since 1970 in ns.
pub fn unix_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME).unwrap_or(0)
}

/// Waits until `moment_ns` of the monotonic clock: sleeps to an absolute deadline, then spins shortly.
pub fn wait_until(moment_ns: u64) {
    if now_ns() + SPIN_NS < moment_ns {
        sleep_until(moment_ns - SPIN_NS);
    }
    while now_ns() < moment_ns {
        std::hint::spin_loop();
    }
}

/// Sleeps until `moment_ns` or a little later, without using the CPU meanwhile.
pub fn sleep_until(moment_ns: u64) {
    let time = libc::timespec {
        tv_sec: (moment_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (moment_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `time` outlives the call. Interrupted by a signal it is called again; the deadline is absolute.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

/// Lets sleeps of this thread end on time instead of up to 50 µs later.
pub fn use_precise_timers() {
    // SAFETY: takes numbers alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_never_ends_early() {
        for wait_ns in [0, 5_000, 300_000] {
            let moment = now_ns() + wait_ns;
            wait_until(moment);
            assert!(now_ns() >= moment);
        }
        wait_until(0);
    }
}
