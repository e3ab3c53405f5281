//! The open loop: events are due at scheduled moments, whether or not the server keeps up.
//!
//! Response time counts from the scheduled moment and service time from the sent one, so that a stall shows in the response
//! times of all events that were due meanwhile (no coordinated omission). The schedule has a clock of its own, which counts
//! only the time in which its target is driven and goes on from one part of a row to the next, and so does what is overdue.

pub mod arrivals;
pub mod company;
pub mod span;

pub use arrivals::{Arrivals, Queue, Schedule};
pub use company::{Company, Member};
pub use span::Span;

use crate::drive::clock::now_ns;
use crate::drive::lane::Lane;
use crate::drive::roles::Turn;
use crate::drive::trouble::Stop;
use crate::record::Latency;

/// How often a client that has nothing to send looks whether the others have ended.
const LOOK_NS: u64 = 50_000;

/// What became of the arrivals.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    pub ops: u64,
    /// Events that fell due.
    pub scheduled: u64,
    /// Sent after their moment, because the client was still busy with an earlier one.
    pub late: u64,
    /// Due and not yet sent at the end.
    pub overdue: u64,
}

impl Served {
    pub fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.scheduled += other.scheduled;
        self.late += other.late;
        self.overdue += other.overdue;
    }
}

/// How a client keeps to its schedule.
pub struct Pacing<'a> {
    pub span: Span,
    /// Until a moment of the monotonic clock.
    pub wait: fn(u64),
    /// At work with an end.
    pub turn: Option<Turn<'a>>,
}

/// Waits are left to whoever can be woken until so shortly before their end.
const LAST_WAIT_NS: u64 = 100_000;

impl Pacing<'_> {
    /// Whether nothing more will ever be sent.
    #[inline]
    fn is_over(&mut self, now: u64) -> bool {
        let wait = self.wait;
        self.turn.as_mut().is_some_and(|turn| {
            turn.rest(now, wait);
            turn.is_over()
        })
    }

    /// Waits until this moment; work with an end may be over before.
    fn wait_until(&self, moment_ns: u64) {
        if let Some(turn) = &self.turn
            && turn.joint.wait_for_end(moment_ns.saturating_sub(LAST_WAIT_NS))
        {
            return;
        }
        (self.wait)(moment_ns);
    }

    /// Whether what is due may be sent before this moment.
    fn is_let(&mut self, until_ns: u64) -> bool {
        self.turn.as_mut().is_none_or(|turn| turn.is_let(until_ns))
    }

    /// An event has ended now; the schedule up to it and with it is so long.
    fn done(&mut self, schedule_ns: u64, now: u64) {
        if let Some(turn) = &mut self.turn {
            turn.joint.note_schedule(turn.role, schedule_ns);
            turn.done_by(schedule_ns, now);
        }
    }
}

/// Sends what is due or overdue, from the start of the part until its end and that of all others in it. An event that failed is
/// repeated, and the time of all attempts is its own.
pub fn drive(
    lane: &mut Lane,
    mut pacing: Pacing,
    queue: &mut Queue,
    member: &mut Member,
    (response, service): (&mut Latency, &mut Latency),
) -> Result<Served, Stop> {
    let span = pacing.span;
    let end_ns = span.end_ns();
    let mut served = Served::default();
    let mut now = now_ns();
    loop {
        let is_over = pacing.is_over(now);
        if now >= end_ns || is_over {
            member.end();
            if is_over || member.is_last() {
                break;
            }
        }
        let due_ns = queue.due_ns();
        let is_late = span.clock_at(now) > due_ns;
        let look = if now < end_ns { end_ns } else { now + LOOK_NS };
        if !is_late {
            let due = span.moment_of(due_ns);
            pacing.wait_until(due.min(look));
            now = now_ns();
            if look <= due || now < due {
                continue;
            }
        }
        let is_let = pacing.is_let(look);
        now = now_ns();
        if !is_let {
            continue;
        }
        let sent_ns = now;
        while !lane.attempt()? {}
        now = now_ns();
        queue.sent();
        let response_ns = span.clock_at(now).saturating_sub(due_ns);
        response.record(response_ns);
        lane.responded(response_ns);
        service.record(now - sent_ns);
        served.ops += 1;
        served.late += u64::from(is_late);
        pacing.done(queue.length_ns(), now);
    }
    (served.scheduled, served.overdue) = queue.close_slot(span.clock_at(now));
    Ok(served)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::clock::wait_until;
    use crate::drive::fake::{Bench, FakeConnection};
    use crate::test_tree::wait_for;
    use std::time::Duration;

    const LENGTH_NS: u64 = 500_000_000;
    const STALL: Duration = Duration::from_millis(200);

    /// A client that is alone, at 2000 events per second.
    struct Client {
        bench: Bench,
        queue: Queue,
        response: Latency,
        service: Latency,
        clock_ns: u64,
    }

    impl Client {
        fn stalled(stall: Option<(usize, Duration)>) -> Self {
            let arrivals = serde_json::from_str(r#"{"kind": "constant", "rate": 2000}"#).unwrap();
            Self {
                bench: Bench::new(FakeConnection {
                    stall,
                    ..Default::default()
                }),
                queue: Queue::new(Schedule::new(arrivals, 0, 1, [1, 1])),
                response: Latency::new(),
                service: Latency::new(),
                clock_ns: 0,
            }
        }

        fn drive(&mut self, length_ns: u64, company: &Company) -> Served {
            let start_ns = now_ns();
            let span = Span {
                start_ns,
                length_ns,
                clock_ns: self.clock_ns,
            };
            let recorded = (&mut self.response, &mut self.service);
            let (lane, queue) = (&mut self.bench.lane(), &mut self.queue);
            let pacing = Pacing {
                span,
                wait: wait_until,
                turn: None,
            };
            let served = drive(lane, pacing, queue, &mut company.member(), recorded).unwrap();
            self.clock_ns += now_ns() - start_ns;
            served
        }
    }

    #[test]
    fn one_stall_shows_in_the_response_times_of_everything_that_queued_behind_it() {
        let mut client = Client::stalled(Some((100, STALL)));
        let served = client.drive(LENGTH_NS, &Company::of(1));
        assert!(served.scheduled >= 1000, "{served:?}");
        assert_eq!(served.ops + served.overdue, served.scheduled);
        // 200 ms at 2000/s: some 400 events were due meanwhile, and waited 100 ms in the mean.
        assert!(served.late >= 390, "{served:?}");
        let (response, service) = (client.response.percentiles(), client.service.percentiles());
        assert!(
            response.max_ns >= 190_000_000 && response.p99_ns >= 180_000_000,
            "{response:?}"
        );
        assert!(response.mean_ns >= 30_000_000, "{response:?}");
        // In service times it is one event of a thousand.
        assert!(
            service.max_ns >= 190_000_000 && service.mean_ns * 10 < response.mean_ns,
            "{service:?}"
        );
    }

    #[test]
    fn what_is_overdue_is_sent_in_the_next_slot_and_time_between_slots_does_not_count() {
        let mut client = Client::stalled(Some((10, STALL)));
        let first = client.drive(50_000_000, &Company::of(1));
        // The slot ended with what was under way, after some 205 ms.
        assert!((1..=11).contains(&first.ops), "{first:?}");
        assert_eq!(first.overdue, first.scheduled - first.ops);
        std::thread::sleep(STALL);
        let second = client.drive(50_000_000, &Company::of(1));
        assert_eq!(
            first.scheduled + second.scheduled,
            first.ops + second.ops + second.overdue
        );
        assert!(second.late >= first.overdue - second.overdue, "{second:?}");
        let longest_ns = client.response.percentiles().max_ns;
        // With the time between the slots it would have been longer than both slots.
        assert!((190_000_000..=client.clock_ns).contains(&longest_ns), "{longest_ns}");
    }

    #[test]
    fn events_go_on_being_sent_until_the_last_client_has_ended() {
        wait_for("a client that gets a CPU while the other one has it", || {
            let company = Company::of(2);
            let served = std::thread::scope(|scope| {
                let other = company.member();
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(60));
                    drop(other);
                });
                Client::stalled(None).drive(5_000_000, &company)
            });
            assert!(served.ops + served.overdue >= 119, "{served:?}");
            served.ops > 20
        });
    }
}
