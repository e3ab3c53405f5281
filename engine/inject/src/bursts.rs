//! When CPU is added: all the time, or in bursts that come back after so much of a thread's own work.

/// The first `burst_ns` of every `every_ns`, the first of which began `phase_ns` before the thread's work did; without
/// `every_ns`, all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bursts {
    pub burst_ns: u64,
    pub every_ns: u64,
    pub phase_ns: u64,
}

impl Bursts {
    /// How much of the work that follows the first `worked_ns` of a thread lies in bursts.
    ///
    /// The clock is the thread's work alone: it stands still while a server is frozen or waits, and CPU that is burned does
    /// not move it, so that `burst_ns / every_ns` of all work is in bursts, however long a request takes.
    pub fn share_of(self, worked_ns: u64, work_ns: u64) -> u64 {
        if self.every_ns == 0 {
            return work_ns;
        }
        self.up_to(worked_ns + work_ns) - self.up_to(worked_ns)
    }

    /// Work in bursts, from the beginning of the period in which the thread's work began.
    fn up_to(self, worked_ns: u64) -> u64 {
        let at_ns = worked_ns + self.phase_ns % self.every_ns;
        let burst_ns = self.burst_ns.min(self.every_ns);
        at_ns / self.every_ns * burst_ns + (at_ns % self.every_ns).min(burst_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: Bursts = Bursts {
        burst_ns: 50,
        every_ns: 500,
        phase_ns: 0,
    };

    #[test]
    fn without_a_period_all_work_counts() {
        assert_eq!(Bursts::default().share_of(123, 45), 45);
    }

    #[test]
    fn work_counts_as_far_as_it_lies_in_a_burst() {
        assert_eq!(TENTH.share_of(0, 20), 20);
        assert_eq!(TENTH.share_of(40, 20), 10, "the burst ends meanwhile");
        assert_eq!(TENTH.share_of(60, 400), 0);
        assert_eq!(TENTH.share_of(490, 20), 10, "the next one begins meanwhile");
        assert_eq!(TENTH.share_of(10, 5_000), 500, "a long request has its share of all");
    }

    #[test]
    fn a_phase_moves_the_bursts() {
        let late = Bursts { phase_ns: 480, ..TENTH };
        assert_eq!(
            (late.share_of(0, 20), late.share_of(20, 50), late.share_of(70, 10)),
            (0, 50, 0)
        );
    }

    #[test]
    fn pieces_add_up_to_the_whole() {
        let odd = Bursts { phase_ns: 123, ..TENTH };
        let (mut worked, mut counted) = (0, 0);
        for piece in (1..2_000).map(|number| number % 37) {
            counted += odd.share_of(worked, piece);
            worked += piece;
        }
        assert_eq!(counted, odd.share_of(0, worked));
        assert!(
            (counted as f64 / worked as f64 - 0.1).abs() < 0.01,
            "{counted} of {worked}"
        );
    }

    #[test]
    fn what_makes_no_sense_is_all_the_time_at_most() {
        let whole = Bursts {
            burst_ns: 900,
            every_ns: 500,
            phase_ns: 7_777,
        };
        assert_eq!(whole.share_of(250, 1_000), 1_000);
    }
}
