//! The open loop: events are due at scheduled moments, whether or not the server keeps up.
//!
//! Response time counts from the scheduled moment and service time from the sent one, so that a stall shows in the response
//! times of all events that were due meanwhile (no coordinated omission). Events that are overdue when the last one was due
//! are still sent, for as long again as the schedule lasts. What is left then is dropped, and counts in the response times
//! with how long it waited until then: left out, it would cut off the longest ones.

use super::clock::{now_ns, wait_until};
use super::lane::Lane;
use super::trouble::Stop;
use crate::record::Latency;

/// What became of the arrivals.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    pub ops: u64,
    /// Sent after their moment, because the client was still busy with an earlier one.
    pub late: u64,
    /// Never sent.
    pub dropped: u64,
}

impl Served {
    pub fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.late += other.late;
        self.dropped += other.dropped;
    }
}

/// Sends one event at each moment of `schedule` (ns after `start_ns`); returns not before `length_ns` have passed.
pub fn drive(
    lane: &mut Lane,
    start_ns: u64,
    length_ns: u64,
    schedule: &[u64],
    response: &mut Latency,
    service: &mut Latency,
) -> Result<Served, Stop> {
    let give_up_ns = start_ns + 2 * length_ns;
    let mut served = Served::default();
    let mut now = now_ns();
    for (number, offset_ns) in schedule.iter().enumerate() {
        let due_ns = start_ns + offset_ns;
        if now >= give_up_ns {
            let left = &schedule[number..];
            left.iter()
                .for_each(|offset_ns| response.record(now - start_ns - offset_ns));
            served.dropped = left.len() as u64;
            break;
        }
        if now > due_ns {
            served.late += 1;
        } else {
            wait_until(due_ns);
            now = now_ns();
        }
        let sent_ns = now;
        while !lane.attempt()? {}
        now = now_ns();
        response.record(now - due_ns);
        service.record(now - sent_ns);
        served.ops += 1;
    }
    wait_until(start_ns + length_ns);
    Ok(served)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::arrivals::{ArrivalKind, Arrivals, Extent, schedule};
    use crate::drive::fake::{Bench, FakeConnection};
    use std::time::Duration;

    const LENGTH_NS: u64 = 500_000_000;
    const STALL: Duration = Duration::from_millis(200);

    fn drive_with(stall: Option<(usize, Duration)>, length_ns: u64) -> (Served, Latency, Latency) {
        let constant = Arrivals {
            kind: ArrivalKind::Constant,
            rate: 2000.0,
        };
        let moments = schedule(constant, Extent::Ns(length_ns), 0, 1, [1, 1]);
        let (mut response, mut service) = (Latency::new(), Latency::new());
        let mut bench = Bench::new(FakeConnection {
            stall,
            ..Default::default()
        });
        let served = drive(
            &mut bench.lane(),
            now_ns(),
            length_ns,
            &moments,
            &mut response,
            &mut service,
        )
        .unwrap();
        (served, response, service)
    }

    #[test]
    fn one_stall_shows_in_the_response_times_of_everything_that_queued_behind_it() {
        let (served, response, service) = drive_with(Some((100, STALL)), LENGTH_NS);
        assert_eq!((served.ops, served.dropped), (1000, 0));
        // 200 ms at 2000/s: some 400 events were due meanwhile, and waited 100 ms in the mean.
        assert!(served.late >= 390, "{served:?}");
        let (response, service) = (response.percentiles(), service.percentiles());
        assert!(
            response.max_ns >= 190_000_000 && response.p99_ns >= 180_000_000,
            "{response:?}"
        );
        assert!(response.mean_ns >= 30_000_000, "{response:?}");
        // In service times it is one event of a thousand.
        assert!(
            service.max_ns >= 190_000_000 && service.p99_ns < 50_000_000,
            "{service:?}"
        );
    }

    #[test]
    fn what_cannot_be_sent_in_twice_the_time_is_dropped_and_counts_as_long_as_it_waited() {
        let (served, response, service) = drive_with(Some((10, STALL)), 50_000_000);
        assert_eq!((served.ops, served.dropped), (11, 89));
        assert_eq!((response.count(), service.count()), (100, 11));
        // The last one was due before 50 ms, and the stall ended after 200.
        assert!(response.percentiles().p50_ns >= 150_000_000, "{response:?}");
    }

    #[test]
    fn a_slot_lasts_as_long_as_told_even_when_nothing_is_due() {
        let started = now_ns();
        let (mut bench, mut latency) = (Bench::new(FakeConnection::default()), Latency::new());
        let served = drive(
            &mut bench.lane(),
            started,
            3_000_000,
            &[],
            &mut latency,
            &mut Latency::new(),
        )
        .unwrap();
        assert_eq!(served, Served::default());
        assert!(now_ns() >= started + 3_000_000);
    }
}
