//! When the events of an open loop are due: at moments that do not depend on how fast the server answers.

use rand::{Rng, SeedableRng};
use rand_distr::Exp;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

/// How events arrive, all clients of a role together.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "RawArrivals")]
pub struct Arrivals {
    pub kind: ArrivalKind,
    /// Events per second.
    pub rate: f64,
    /// Events that arrive at once; 1 but for bursts.
    pub size: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalKind {
    /// At equal distances.
    Constant,
    /// At independent, exponentially distributed distances.
    Poisson,
    /// Many at once, at equal distances, the first when the schedule begins.
    Burst,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArrivals {
    kind: ArrivalKind,
    rate: f64,
    size: Option<u32>,
}

/// No client sends that many; more is a mistake of the unit.
const HIGHEST_RATE: f64 = 1e7;

impl TryFrom<RawArrivals> for Arrivals {
    type Error = String;

    fn try_from(RawArrivals { kind, rate, size }: RawArrivals) -> Result<Self, String> {
        if !(rate > 0.0 && rate <= HIGHEST_RATE) {
            return Err(format!(
                "`rate` is {rate}; accepted is a number of events per second above 0, up to {HIGHEST_RATE}"
            ));
        }
        match (kind, size) {
            (ArrivalKind::Burst, None | Some(0)) => {
                Err("a burst needs `size`, events that arrive at once, 1 or more".into())
            }
            (ArrivalKind::Constant | ArrivalKind::Poisson, Some(_)) => {
                Err("`size` is accepted with bursts alone".into())
            }
            _ => Ok(Self {
                kind,
                rate,
                size: size.unwrap_or(1),
            }),
        }
    }
}

/// The arrivals of one client, without end.
///
/// Events of constant arrivals and bursts are dealt out to the clients in turn; those of a Poisson process are a process of
/// each client's own, which together are one of the whole rate.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    clients: u32,
    /// Of the event that is due next, among those of all clients.
    number: u64,
    due_ns: f64,
    /// When the last event was due.
    past_ns: f64,
    random: Xoshiro256PlusPlus,
}

impl Schedule {
    /// `key` seeds the Poisson process, so that all targets have the same arrivals.
    pub fn new(arrivals: Arrivals, client: u32, clients: u32, [seed, role]: [u64; 2]) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed ^ role.rotate_left(32) ^ u64::from(client).rotate_left(48));
        let mut schedule = Self {
            arrivals,
            clients,
            number: u64::from(client),
            due_ns: 0.0,
            past_ns: 0.0,
            random,
        };
        schedule.due_ns = schedule.moment();
        schedule
    }

    /// When the next event is due, in ns on the schedule's own clock.
    pub fn due_ns(&self) -> u64 {
        self.due_ns as u64
    }

    /// How long the schedule is up to the last event and with it, which has its share of a second like all others.
    fn length_ns(&self) -> u64 {
        let events = (self.number + 1).saturating_sub(u64::from(self.clients));
        match self.arrivals.kind {
            ArrivalKind::Constant | ArrivalKind::Burst => (events as f64 * 1e9 / self.arrivals.rate) as u64,
            ArrivalKind::Poisson => self.past_ns as u64,
        }
    }

    /// On to the event after the next one.
    pub fn advance(&mut self) {
        self.number += u64::from(self.clients);
        self.past_ns = self.due_ns;
        self.due_ns = self.moment();
    }

    /// Of the client's events, how many come before the next one.
    fn index(&self) -> u64 {
        self.number / u64::from(self.clients)
    }

    /// How many of the client's events lie between this schedule and one that is behind it.
    fn events_since(&self, behind: &Self) -> u64 {
        self.index() - behind.index()
    }

    /// The moment of event `number`; a Poisson process has it from the moment before.
    fn moment(&mut self) -> f64 {
        let distance_ns = 1e9 / self.arrivals.rate;
        match self.arrivals.kind {
            ArrivalKind::Constant => (self.number as f64 + 0.5) * distance_ns,
            ArrivalKind::Burst => {
                let burst = self.number / u64::from(self.arrivals.size);
                burst as f64 * distance_ns * f64::from(self.arrivals.size)
            }
            ArrivalKind::Poisson => {
                let rate = 1.0 / (distance_ns * f64::from(self.clients));
                let distances = Exp::new(rate).expect("the rate is positive, which is checked on input");
                self.due_ns + self.random.sample(distances)
            }
        }
    }
}

/// What a client has still to send to one target. It goes on from slot to slot: what is overdue at the end of one is sent first
/// in the next.
#[derive(Debug)]
pub struct Queue {
    next: Schedule,
    /// The first event that was not due when the last slot ended.
    ahead: Schedule,
    /// So many events are due in all.
    events: u64,
}

impl Queue {
    pub fn new(schedule: Schedule) -> Self {
        Self {
            ahead: schedule.clone(),
            next: schedule,
            events: u64::MAX,
        }
    }

    /// Of work with an end: so many events; None: without end.
    pub fn bounded(self, events: Option<u64>) -> Self {
        Self {
            events: events.unwrap_or(u64::MAX),
            ..self
        }
    }

    /// When the next event is due or was due, in ns on the schedule's own clock.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.next.due_ns()
    }

    /// How long the schedule of the events is that have been sent.
    pub fn length_ns(&self) -> u64 {
        self.next.length_ns()
    }

    /// The next event has been sent.
    #[inline]
    pub fn sent(&mut self) {
        self.next.advance();
    }

    /// A slot has ended at this moment of the schedule's clock: the events that fell due in it, and those that are overdue now.
    pub fn close_slot(&mut self, clock_ns: u64) -> (u64, u64) {
        let before = self.ahead.clone();
        let is_due = |ahead: &Schedule| ahead.due_ns() < clock_ns && ahead.index() < self.events;
        while is_due(&self.ahead) || self.ahead.number < self.next.number {
            self.ahead.advance();
        }
        (self.ahead.events_since(&before), self.ahead.events_since(&self.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn arrivals(json: Json) -> Result<Arrivals, String> {
        serde_json::from_value(json).map_err(|error| error.to_string())
    }

    fn first(arrivals_json: Json, client: u32, clients: u32, count: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(arrivals(arrivals_json).unwrap(), client, clients, [7, 0]);
        let mut next = || {
            let due_ns = schedule.due_ns();
            schedule.advance();
            due_ns
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn constant_arrivals_and_bursts_are_dealt_out_to_the_clients() {
        let constant = json!({"kind": "constant", "rate": 1000});
        let mut all: Vec<u64> = (0..3)
            .flat_map(|client| first(constant.clone(), client, 3, 3))
            .collect();
        all.sort_unstable();
        assert_eq!(
            all,
            (0..9).map(|number| number * 1_000_000 + 500_000).collect::<Vec<_>>()
        );

        let burst = json!({"kind": "burst", "rate": 1000, "size": 4});
        assert_eq!(first(burst.clone(), 0, 2, 4), [0, 0, 4_000_000, 4_000_000]);
        assert_eq!(first(burst.clone(), 0, 2, 4), first(burst, 1, 2, 4));
    }

    #[test]
    fn a_schedule_is_as_long_as_its_events_of_all_clients_take_at_their_rate() {
        for kind in [
            json!({"kind": "constant", "rate": 8}),
            json!({"kind": "burst", "rate": 8, "size": 4}),
        ] {
            let length_of = |client| {
                let mut queue = Queue::new(Schedule::new(arrivals(kind.clone()).unwrap(), client, 4, [7, 0]));
                (0..6).for_each(|_| queue.sent());
                queue.length_ns()
            };
            assert_eq!((0..4).map(length_of).max(), Some(3_000_000_000), "{kind}");
        }
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_depend_on_the_key_alone() {
        let poisson = arrivals(json!({"kind": "poisson", "rate": 5000})).unwrap();
        let schedule = |role, client| Schedule::new(poisson, client, 2, [7, role]);
        assert_eq!(schedule(1, 0).due_ns(), schedule(1, 0).due_ns());
        assert_ne!(schedule(1, 0).due_ns(), schedule(2, 0).due_ns());
        assert_ne!(schedule(1, 0).due_ns(), schedule(1, 1).due_ns());
        let moments = first(json!({"kind": "poisson", "rate": 5000}), 0, 2, 10_000);
        let distances: Vec<f64> = moments.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        // half of the rate is this client's
        assert!((mean / 400_000.0 - 1.0).abs() < 0.05, "{mean}");
        let variance = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / distances.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.05);
    }

    #[test]
    fn a_queue_tells_what_fell_due_and_what_is_overdue() {
        let every_ms = arrivals(json!({"kind": "constant", "rate": 1000})).unwrap();
        let mut queue = Queue::new(Schedule::new(every_ms, 0, 1, [1, 1]));
        (0..3).for_each(|_| queue.sent());
        assert_eq!(queue.close_slot(10_000_000), (10, 7));
        (0..8).for_each(|_| queue.sent());
        assert_eq!(queue.due_ns(), 11_500_000);
        assert_eq!(queue.close_slot(12_000_000), (2, 1));
        queue.sent();
        assert_eq!(queue.close_slot(12_000_000), (0, 0));
    }

    #[test]
    fn of_a_bounded_queue_nothing_is_due_after_its_last_event() {
        let every_ms = arrivals(json!({"kind": "constant", "rate": 1000})).unwrap();
        let mut queue = Queue::new(Schedule::new(every_ms, 1, 2, [1, 1])).bounded(Some(3));
        queue.sent();
        assert_eq!(queue.close_slot(10_000_000), (3, 2));
        (0..2).for_each(|_| queue.sent());
        assert_eq!(queue.close_slot(20_000_000), (0, 0));
        // Events 1, 3 and 5 of both clients, at 1.5, 3.5 and 5.5 ms: six events of 1 ms each.
        assert_eq!(queue.length_ns(), 6_000_000);
    }

    #[test]
    fn wrong_arrivals_are_told_what_is_accepted() {
        for (json, expected) in [
            (
                json!({"kind": "constant", "rate": 0}),
                "`rate` is 0; accepted is a number of events per second above 0",
            ),
            (json!({"kind": "constant", "rate": 1e12}), "up to 10000000"),
            (json!({"kind": "burst", "rate": 5}), "a burst needs `size`"),
            (
                json!({"kind": "poisson", "rate": 5, "size": 2}),
                "`size` is accepted with bursts alone",
            ),
            (
                json!({"kind": "often", "rate": 5}),
                "expected one of `constant`, `poisson`, `burst`",
            ),
        ] {
            let error = arrivals(json).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
