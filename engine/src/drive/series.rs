//! Second by second: what happened in each second of the time in which a target was driven.
//!
//! A thread of its own looks at the clients' counters and at the server's account when a second is over. It is there only where
//! a series was asked for, for parts that last.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde::Serialize;

use super::clock::{now_ns, unix_ns};
use super::live::{Live, Seen};
use crate::account::ServerMeter;
use crate::account::server::Begun;
use crate::record::ServerFigures;

const SECOND_NS: u64 = 1_000_000_000;

/// One second of a target's driven time. The last one is shorter; one in which nobody got a CPU to look is longer.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Second {
    pub second: u64,
    pub elapsed_ns: u64,
    /// When the target was driven: moments since 1970 and lengths, in ns. Several where it was frozen in between.
    pub pieces: Vec<[u64; 2]>,
    pub ops: u64,
    pub rows: u64,
    pub affected: u64,
    pub errors: u64,
    pub slowest_ns: u64,
    pub server_cpu_ns: Option<u64>,
    pub server_background_cpu_ns: Option<u64>,
    pub server_read_bytes: Option<u64>,
    pub server_write_bytes: Option<u64>,
    /// By role.
    #[serde(skip)]
    pub roles: Vec<SecondOfRole>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SecondOfRole {
    pub ops: u64,
    pub slowest_ns: u64,
}

/// A target's seconds; they go on from part to part.
#[derive(Debug, Default)]
struct Course {
    driven_ns: u64,
    under_way: Second,
    ready: Vec<Second>,
}

/// All that had been done in a part when somebody looked.
#[derive(Debug, Default, Clone)]
struct Look {
    at_ns: u64,
    at_unix_ns: u64,
    seen: Seen,
    server: ServerFigures,
}

impl Course {
    /// Adds what was done between two looks; a second that is over is ready.
    fn add(&mut self, before: &Look, now: &Look) {
        let elapsed_ns = now.at_ns - before.at_ns;
        let used = now.server.since(&before.server);
        let is_new = self.under_way.elapsed_ns == 0;
        let second = &mut self.under_way;
        second.elapsed_ns += elapsed_ns;
        second.pieces.push([before.at_unix_ns, elapsed_ns]);
        second.ops += now.seen.ops - before.seen.ops;
        second.rows += now.seen.rows - before.seen.rows;
        second.affected += now.seen.affected - before.seen.affected;
        second.errors += now.seen.errors - before.seen.errors;
        second.slowest_ns = second.slowest_ns.max(now.seen.slowest_ns);
        add_roles(&mut second.roles, &before.seen, &now.seen);
        let sum = |so_far: Option<u64>, more: Option<u64>| if is_new { more } else { Some(so_far? + more?) };
        second.server_cpu_ns = sum(second.server_cpu_ns, used.server_cpu_ns);
        second.server_background_cpu_ns = sum(second.server_background_cpu_ns, used.server_background_cpu_ns);
        second.server_read_bytes = sum(second.server_read_bytes, used.server_read_bytes);
        second.server_write_bytes = sum(second.server_write_bytes, used.server_write_bytes);
        self.driven_ns += elapsed_ns;
        if self.driven_ns >= (self.under_way.second + 1) * SECOND_NS {
            self.close();
        }
    }

    fn close(&mut self) {
        let next = Second {
            second: (self.driven_ns / SECOND_NS).max(self.under_way.second + 1),
            ..Second::default()
        };
        self.ready.push(std::mem::replace(&mut self.under_way, next));
    }

    fn left_of_second_ns(&self) -> u64 {
        ((self.under_way.second + 1) * SECOND_NS).saturating_sub(self.driven_ns)
    }
}

fn add_roles(roles: &mut Vec<SecondOfRole>, before: &Seen, now: &Seen) {
    roles.resize_with(now.roles.len().max(roles.len()), SecondOfRole::default);
    for (role, (second, seen)) in roles.iter_mut().zip(&now.roles).enumerate() {
        second.ops += seen.ops - before.roles.get(role).map_or(0, |earlier| earlier.ops);
        second.slowest_ns = second.slowest_ns.max(seen.slowest_ns);
    }
}

/// Looks on while clients drive.
#[derive(Debug)]
pub struct Watch {
    lives: Vec<Arc<Live>>,
    courses: Vec<Course>,
    last: Look,
}

/// Wakes the thread that looks on, when there is nothing more to be seen.
#[derive(Default)]
struct End {
    is_there: Mutex<bool>,
    bell: Condvar,
}

impl End {
    fn ring(&self) {
        *self.is_there.lock().expect("nobody panics with it") = true;
        self.bell.notify_one();
    }

    /// Whether it has come within this time.
    fn came_within(&self, ns: u64) -> bool {
        let guard = self.is_there.lock().expect("nobody panics with it");
        let waited = self
            .bell
            .wait_timeout_while(guard, Duration::from_nanos(ns), |is_there| !*is_there);
        *waited.expect("nobody panics with it").0
    }
}

impl Watch {
    pub fn new(lives: Vec<Arc<Live>>, targets: usize) -> Self {
        Self {
            lives,
            courses: (0..targets).map(|_| Course::default()).collect(),
            last: Look::default(),
        }
    }

    /// Does `drive` while somebody looks on; without a meter the server is in the clients' threads.
    pub fn over<T>(
        &mut self,
        target: usize,
        mut meter: Option<(&mut ServerMeter, &Begun)>,
        drive: impl FnOnce() -> T,
    ) -> T {
        self.lives.iter().for_each(|live| live.begin_anew());
        let Self { lives, courses, last } = self;
        let server = match meter {
            Some(_) => nothing_used(),
            None => threads(lives),
        };
        *last = Look {
            at_ns: now_ns(),
            at_unix_ns: unix_ns(),
            seen: Seen::default(),
            server,
        };
        let (end, course) = (End::default(), &mut courses[target]);
        std::thread::scope(|scope| {
            let looking_on = scope.spawn(|| {
                while !end.came_within(course.left_of_second_ns()) {
                    let server = match &mut meter {
                        Some((meter, begun)) => meter.end(begun),
                        None => threads(lives),
                    };
                    let now = look(lives, server);
                    course.add(last, &now);
                    *last = now;
                }
            });
            let outcome = drive();
            end.ring();
            let _ = looking_on.join();
            outcome
        })
    }

    /// Adds the rest of a part that took so long; `used`: by a server with an account.
    pub fn finish(&mut self, target: usize, used: Option<ServerFigures>) {
        let now = look(&self.lives, used.unwrap_or_else(|| threads(&self.lives)));
        self.courses[target].add(&self.last, &now);
        self.last = now;
    }

    /// Seconds that are over, by target; with `all` those that are not as well.
    pub fn take(&mut self, all: bool) -> Vec<(usize, Vec<Second>)> {
        let take = |(target, course): (usize, &mut Course)| {
            if all && course.under_way.elapsed_ns > 0 {
                course.close();
            }
            (target, std::mem::take(&mut course.ready))
        };
        let taken = self.courses.iter_mut().enumerate().map(take);
        taken.filter(|(_, seconds)| !seconds.is_empty()).collect()
    }
}

fn look(lives: &[Arc<Live>], server: ServerFigures) -> Look {
    let mut seen = Seen::default();
    lives.iter().for_each(|live| live.add_to(&mut seen));
    Look {
        at_ns: now_ns(),
        at_unix_ns: unix_ns(),
        seen,
        server,
    }
}

fn threads(lives: &[Arc<Live>]) -> ServerFigures {
    let all = lives.iter().map(|live| live.as_server());
    all.reduce(|sum, one| sum.plus(&one)).unwrap_or_default()
}

/// Where the figures of an interval begin.
fn nothing_used() -> ServerFigures {
    ServerFigures {
        server_cpu_ns: Some(0),
        server_background_cpu_ns: Some(0),
        server_read_bytes: Some(0),
        server_write_bytes: Some(0),
        ..ServerFigures::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_NS: u64 = SECOND_NS / 2;

    fn look_at(at_ns: u64, ops: u64, slowest_ns: u64, cpu_ns: u64) -> Look {
        let server = ServerFigures {
            server_cpu_ns: Some(cpu_ns),
            ..ServerFigures::default()
        };
        let seen = Seen {
            ops,
            slowest_ns,
            ..Seen::default()
        };
        Look {
            at_ns,
            at_unix_ns: 1000 + at_ns,
            seen,
            server,
        }
    }

    #[test]
    fn seconds_are_of_driven_time_and_go_on_from_part_to_part() {
        let mut course = Course::default();
        for begin_ns in [77, 5 * SECOND_NS, 9 * SECOND_NS] {
            // Whatever the clock says: the target was frozen in between.
            course.add(&look_at(begin_ns, 0, 0, 0), &look_at(begin_ns + HALF_NS, 10, 5, 1000));
        }
        let first = &course.ready[0];
        assert_eq!((course.ready.len(), first.second, first.elapsed_ns), (1, 0, SECOND_NS));
        assert_eq!((first.ops, first.slowest_ns, first.server_cpu_ns), (20, 5, Some(2000)));
        assert_eq!(first.pieces, [[1077, HALF_NS], [1000 + 5 * SECOND_NS, HALF_NS]]);
        assert_eq!((course.under_way.second, course.under_way.ops), (1, 10));
        assert_eq!((course.left_of_second_ns(), first.server_read_bytes), (HALF_NS, None));
    }

    #[test]
    fn a_second_in_which_nobody_could_look_is_longer_and_those_after_it_have_their_numbers() {
        let mut course = Course::default();
        course.add(&look_at(0, 0, 0, 0), &look_at(7 * HALF_NS, 1, 1, 1));
        assert_eq!((course.ready[0].second, course.ready[0].elapsed_ns), (0, 7 * HALF_NS));
        assert_eq!(course.under_way.second, 3);
    }

    #[test]
    fn what_clients_do_is_seen_while_they_do_it() {
        let live = Arc::new(Live::of_this_thread(true, 0));
        let mut watch = Watch::new(vec![live.clone()], 1);
        live.attempted(true, 99, 0); // of an earlier part
        watch.over(0, None, || {
            live.attempted(true, 3, 0);
            live.attempted(false, 3, 2);
            live.responded(50);
            // Two seconds longer than need be, for a watcher that has to wait for a CPU.
            std::thread::sleep(Duration::from_millis(3100));
            live.attempted(true, 4, 2);
            live.responded(20);
        });
        watch.finish(0, None);
        let seconds = watch.take(true).remove(0).1;
        let seen: Vec<_> = seconds
            .iter()
            .map(|one| (one.second, one.ops, one.rows, one.affected, one.errors, one.slowest_ns))
            .collect();
        let silent = |second| (second, 0, 0, 0, 0, 0);
        assert_eq!(seen[0], (0, 1, 3, 2, 1, 50));
        let (last, between) = seen[1..].split_last().unwrap();
        assert_eq!(*last, (last.0, 1, 1, 0, 0, 20));
        assert!(between.iter().all(|one| *one == silent(one.0)), "{seen:?}");
        assert!(watch.take(true).is_empty());
    }
}
