//! The closed loop of events in which the client pauses between statements, as in a transaction that stays open.
//!
//! Only work with an end has such events. A pause goes on from slice to slice, and only time in which its target is driven counts
//! for it. When all work is done, whoever pauses goes on at once, so that no transaction stays behind.

use crate::drive::clock::now_ns;
use crate::drive::lane::{Lane, Pause};
use crate::drive::pace::open_loop::Member;
use crate::drive::roles::Turn;
use crate::drive::trouble::Stop;
use crate::record::Latency;

/// How often a client that pauses looks whether the others have ended, when the slice is over.
const LOOK_NS: u64 = 50_000;

/// Waits for what is left of a pause; false: the slice has ended before, for all clients. An operation of another one may wait for a
/// lock that this one holds, and could not end if the pause did not go on.
fn wait(pause: &mut Pause, turn: &Turn, member: &mut Member) -> bool {
    let end_ns = turn.span.end_ns();
    while pause.left_ns > 0 {
        let began = now_ns();
        if began >= end_ns {
            member.end();
            if member.is_last() {
                return false;
            }
        }
        let look = if began < end_ns { end_ns } else { began + LOOK_NS };
        let until = began + pause.left_ns;
        pause.left_ns = match turn.joint.wait_for_end(until.min(look)) {
            true => 0,
            false => until.saturating_sub(now_ns()),
        };
    }
    true
}

/// Runs events for one turn, beginning with the one that the last turn has left in a pause; as `closed::drive_turn`. A latency is
/// the time of the event's statements, without its pauses.
pub fn drive(
    lane: &mut Lane,
    turn: &mut Turn,
    member: &mut Member,
    left: &mut Option<Pause>,
    latency: &mut Latency,
) -> Result<u64, Stop> {
    let mut ops = 0;
    loop {
        let begin = |turn: &mut Turn| turn.begin(now_ns()).map(|_| Pause::default());
        let Some(mut event) = left
            .take()
            .inspect(|_| turn.joint.note_resumed())
            .or_else(|| begin(turn))
        else {
            return Ok(ops);
        };
        while wait(&mut event, turn, member) {
            let began = now_ns();
            let outcome = lane.attempt_rest(&mut event)?;
            let now = now_ns();
            event.spent_ns += now - began;
            if outcome == Some(true) {
                latency.record(event.spent_ns);
                lane.responded(event.spent_ns);
                turn.done(now);
                ops += 1;
                break;
            }
        }
        if event.left_ns > 0 {
            turn.joint.note_paused();
            *left = Some(event);
            return Ok(ops);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::fake::{Bench, FakeConnection};
    use crate::drive::pace::open_loop::{Company, Span};
    use crate::drive::roles::{Errand, Joint, Role, Seats, Share};
    use crate::wire::ErrorClass;
    use serde_json::json;

    const PAUSE_NS: u64 = 600_000_000;

    /// A role that works until another has done its one operation, which nobody does here.
    fn seats() -> Seats {
        let role = |name: &str, operations| Role {
            name: Some(name.into()),
            clients: 1,
            arrivals: None,
            counted: true,
            share: Share {
                operations,
                ..Share::default()
            },
        };
        Seats {
            roles: vec![role("holder", None), role("other", Some(1))],
        }
    }

    fn bench(fail: Vec<(usize, ErrorClass)>) -> Bench {
        let test = json!({"name": "t", "transaction": true, "statements": [
            {"name": "read", "sql": "", "pause_ns": PAUSE_NS}, {"name": "again", "sql": ""}]});
        Bench::of(
            test,
            FakeConnection {
                fail,
                ..FakeConnection::default()
            },
        )
    }

    /// One slice of so many ns, of a client that is alone; the operations done in it.
    fn slice(bench: &mut Bench, joint: &Joint, left: &mut Option<Pause>, length_ns: u64, latency: &mut Latency) -> u64 {
        slice_in(&Company::of(1), bench, joint, left, length_ns, latency)
    }

    fn slice_in(
        company: &Company,
        bench: &mut Bench,
        joint: &Joint,
        left: &mut Option<Pause>,
        length_ns: u64,
        latency: &mut Latency,
    ) -> u64 {
        let mut errand = Errand::begin(joint, &seats().seat(0));
        let span = Span {
            start_ns: now_ns(),
            length_ns,
            clock_ns: 0,
        };
        let mut turn = Turn {
            errand: &mut errand,
            joint,
            role: 0,
            span,
        };
        drive(&mut bench.lane(), &mut turn, &mut company.member(), left, latency).unwrap()
    }

    #[test]
    fn a_pause_goes_on_from_slice_to_slice_and_time_between_them_does_not_count() {
        let (mut bench, joint, mut left) = (bench(vec![]), Joint::of(&seats(), 0), None);
        let mut latency = Latency::new();
        assert_eq!(slice(&mut bench, &joint, &mut left, PAUSE_NS / 3, &mut latency), 0);
        assert_eq!(bench.connection.edges, [("BEGIN", 0)]);
        assert!(joint.has_paused());
        std::thread::sleep(std::time::Duration::from_nanos(2 * PAUSE_NS));
        let left_ns = left.as_ref().unwrap().left_ns;
        assert!(left_ns > 0 && left_ns <= PAUSE_NS * 2 / 3, "{left_ns}");
        let began = now_ns();
        assert_eq!(slice(&mut bench, &joint, &mut left, PAUSE_NS, &mut latency), 1);
        assert!(now_ns() - began >= left_ns);
        assert_eq!(bench.connection.edges, [("BEGIN", 0), ("COMMIT", 2), ("BEGIN", 2)]);
        assert_eq!(latency.count(), 1);
        assert!(
            latency.percentiles().max_ns < PAUSE_NS / 3,
            "a response time is without pauses"
        );
    }

    #[test]
    fn when_all_is_done_whoever_pauses_goes_on_at_once() {
        let (mut bench, joint, mut left) = (bench(vec![]), Joint::of(&seats(), 0), None);
        slice(&mut bench, &joint, &mut left, PAUSE_NS / 3, &mut Latency::new());
        joint.finish(1, 0);
        assert!(joint.is_over() && joint.has_paused());
        assert_eq!(slice(&mut bench, &joint, &mut left, PAUSE_NS, &mut Latency::new()), 1);
        assert_eq!(bench.connection.edges, [("BEGIN", 0), ("COMMIT", 2)]);
        assert!(!joint.has_paused());
    }

    #[test]
    fn a_pause_goes_on_for_as_long_as_another_client_has_not_ended() {
        let (mut bench, joint, mut left) = (bench(vec![]), Joint::of(&seats(), 0), None);
        let company = Company::of(2);
        let mut latency = Latency::new();
        let ops = std::thread::scope(|scope| {
            let other = company.member();
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_nanos(2 * PAUSE_NS));
                drop(other);
            });
            slice_in(&company, &mut bench, &joint, &mut left, 1_000_000, &mut latency)
        });
        assert_eq!(ops, 1);
        assert!(left.is_none() && !joint.has_paused());
    }

    #[test]
    fn an_event_that_fails_after_its_pause_is_begun_anew() {
        let (mut bench, joint, mut left) = (bench(vec![(1, ErrorClass::Deadlock)]), Joint::of(&seats(), 0), None);
        let ops = slice(&mut bench, &joint, &mut left, 5 * PAUSE_NS / 2, &mut Latency::new());
        assert_eq!((ops, bench.connection.rollbacks), (1, 1));
        assert_eq!(bench.connection.edges[..3], [("BEGIN", 0), ("BEGIN", 2), ("COMMIT", 4)]);
    }
}
