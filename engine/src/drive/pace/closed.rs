//! The closed loop: the next event starts when the last one has ended, and one reading of the clock is both moments.

use crate::drive::clock::now_ns;
use crate::drive::lane::Lane;
use crate::drive::roles::Turn;
use crate::drive::trouble::Stop;
use crate::record::Latency;

/// When a client's share of a slot is over.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// At this moment of the monotonic clock, but not before `least_ops`.
    Until { moment_ns: u64, least_ops: u64 },
    /// After so many operations.
    Ops(u64),
}

impl Bound {
    #[inline]
    fn is_reached(&self, ops: u64, now_ns: u64) -> bool {
        match *self {
            Self::Until { moment_ns, least_ops } => now_ns >= moment_ns && ops >= least_ops,
            Self::Ops(most) => ops >= most,
        }
    }
}

/// Runs events until the bound; returns how many went well. An event that failed is repeated, and its latency is the time
/// of all attempts: so long the client waited. That goes on beyond the bound, since those that are still being repeated then
/// are the ones that waited longest.
pub fn drive(lane: &mut Lane, bound: Bound, latency: &mut Latency) -> Result<u64, Stop> {
    let mut ops = 0;
    let mut now = now_ns();
    let mut began = now;
    let mut is_pending = false;
    while is_pending || !bound.is_reached(ops, now) {
        is_pending = !lane.attempt()?;
        now = now_ns();
        if !is_pending {
            latency.record(now - began);
            lane.responded(now - began);
            ops += 1;
            began = now;
        }
    }
    Ok(ops)
}

/// Runs events for one turn at work with an end; as `drive`, but time in which a client waits for another role is no part of
/// a latency: the server had nothing to do with it.
pub fn drive_turn(lane: &mut Lane, turn: &mut Turn, latency: &mut Latency) -> Result<u64, Stop> {
    let mut ops = 0;
    let mut now = now_ns();
    while let Some(began) = turn.begin(now) {
        while !lane.attempt()? {}
        now = now_ns();
        latency.record(now - began);
        lane.responded(now - began);
        turn.done(now);
        ops += 1;
    }
    Ok(ops)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fake::{Bench, FakeConnection};
    use crate::wire::ErrorClass;
    use std::time::Duration;

    #[test]
    fn ends_at_the_moment_but_not_before_the_least_operations() {
        let mut bench = Bench::new(FakeConnection::default());
        let mut latency = Latency::new();
        let moment_ns = now_ns() + 2_000_000;
        let ops = drive(
            &mut bench.lane(),
            Bound::Until {
                moment_ns,
                least_ops: 1,
            },
            &mut latency,
        )
        .unwrap();
        assert!(now_ns() >= moment_ns && ops > 100, "{ops}");
        assert_eq!(latency.count(), ops);

        let passed = Bound::Until {
            moment_ns: 0,
            least_ops: 7,
        };
        assert_eq!(drive(&mut bench.lane(), passed, &mut latency).unwrap(), 7);
        assert_eq!(drive(&mut bench.lane(), Bound::Ops(5), &mut latency).unwrap(), 5);
    }

    #[test]
    fn failed_events_are_repeated_and_not_counted_as_operations() {
        let mut bench = Bench::new(FakeConnection {
            fail: vec![
                (1, ErrorClass::Deadlock),
                (2, ErrorClass::Deadlock),
                (5, ErrorClass::Other),
            ],
            ..Default::default()
        });
        let mut latency = Latency::new();
        let mut lane = bench.lane();
        assert_eq!(drive(&mut lane, Bound::Ops(4), &mut latency).unwrap(), 4);
        assert_eq!(lane.trouble.errors.count(ErrorClass::Deadlock), 2);
        assert_eq!(lane.trouble.errors.count(ErrorClass::Other), 1);
        drop(lane);
        assert_eq!(
            (bench.connection.executions, bench.connection.rollbacks, latency.count()),
            (7, 3, 4)
        );
    }

    #[test]
    fn a_lost_connection_ends_the_loop() {
        let fail = vec![(2, ErrorClass::LostConnection)];
        let mut bench = Bench::new(FakeConnection {
            fail,
            ..Default::default()
        });
        let stop = drive(&mut bench.lane(), Bound::Ops(9), &mut Latency::new()).unwrap_err();
        assert_eq!(stop.kind(), "lost_connection");
    }

    #[test]
    fn an_event_that_is_being_repeated_at_the_end_is_not_left_out() {
        const STALL: Duration = Duration::from_secs(2);
        let mut bench = Bench::new(FakeConnection {
            stall: Some((3, STALL)),
            fail: vec![(3, ErrorClass::LockTimeout), (4, ErrorClass::LockTimeout)],
            ..Default::default()
        });
        let mut latency = Latency::new();
        let passed = Bound::Until {
            moment_ns: 0,
            least_ops: 3,
        };
        assert_eq!(drive(&mut bench.lane(), passed, &mut latency).unwrap(), 3);
        // The fourth fails twice, and the moment passes while it waits, however late it is begun.
        let soon = Bound::Until {
            moment_ns: now_ns() + 1_500_000_000,
            least_ops: 0,
        };
        let ops = drive(&mut bench.lane(), soon, &mut latency).unwrap();
        assert_eq!((ops, bench.connection.executions), (1, 6));
        assert!(latency.percentiles().max_ns >= STALL.as_nanos() as u64);
    }
}
