//! What the clients of a slot did: all together, and those of each role.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::joint::Joint;
use super::seats::Seats;
use crate::drive::client::{Client, Outcome, Recorder};
use crate::drive::crew::Crew;
use crate::drive::pace::open_loop::Served;
use crate::record::{ClientFigures, Errors, Percentiles, ServerFigures};
use crate::wire::Tally;

/// What all clients did in one part.
#[derive(Default)]
pub struct Together {
    pub elapsed_ns: u64,
    pub all: Done,
    /// By role, where there are roles.
    pub roles: Vec<Done>,
    pub client: ClientFigures,
    pub embedded: Option<ServerFigures>,
}

#[derive(Default)]
pub struct Done {
    /// Of all clients: `ops` of those roles alone that are counted.
    pub served: Served,
    pub tally: Tally,
    pub errors: Errors,
}

impl Together {
    pub fn of(outcomes: Vec<Outcome>, seats: &Seats, elapsed_ns: u64) -> Self {
        let mut sum = Self {
            elapsed_ns,
            ..Self::default()
        };
        if seats.are_named() {
            sum.roles.resize_with(seats.roles.len(), Done::default);
        }
        for (mut outcome, client) in outcomes.into_iter().zip(0..) {
            let role = seats.seat(client).role;
            if let Some(done) = sum.roles.get_mut(role) {
                done.add(&outcome);
            }
            if !seats.roles[role].counted {
                outcome.served.ops = 0;
            }
            sum.all.add(&outcome);
            sum.client = sum.client.plus(&outcome.client);
            sum.embedded = match (sum.embedded, outcome.server) {
                (Some(so_far), Some(of_client)) => Some(so_far.plus(&of_client)),
                (so_far, of_client) => so_far.or(of_client),
            };
        }
        sum
    }

    /// Adds the next slice of the same work.
    pub fn add(&mut self, next: &Self) {
        self.elapsed_ns += next.elapsed_ns;
        self.all.add_done(&next.all);
        for (role, of_next) in self.roles.iter_mut().zip(&next.roles) {
            role.add_done(of_next);
        }
        self.client = self.client.plus(&next.client);
        self.embedded = self.embedded.zip(next.embedded).map(|(sum, more)| sum.plus(&more));
    }
}

impl Done {
    fn add(&mut self, outcome: &Outcome) {
        self.add_parts(&outcome.served, &outcome.tally, &outcome.errors);
    }

    fn add_done(&mut self, next: &Self) {
        self.add_parts(&next.served, &next.tally, &next.errors);
        self.served.overdue = next.served.overdue; // what waited before was sent in this slice, or waits still
    }

    fn add_parts(&mut self, served: &Served, tally: &Tally, errors: &Errors) {
        self.served.add(served);
        self.tally.statements += tally.statements;
        self.tally.rows += tally.rows;
        self.tally.affected += tally.affected;
        self.errors.add(errors);
    }
}

/// Latencies and errors of one target.
#[derive(Default)]
pub struct Total {
    /// Of the roles that are counted.
    pub recorded: Recorder,
    /// By role, where there are roles.
    pub roles: Vec<Recorder>,
    pub errors: Errors,
}

impl Total {
    pub fn of(seats: &Seats) -> Self {
        let mut total = Self::default();
        if seats.are_named() {
            total.roles.resize_with(seats.roles.len(), Recorder::default);
        }
        total
    }

    pub fn add(&mut self, other: &Self) {
        self.recorded.add(&other.recorded);
        for (role, of_other) in self.roles.iter_mut().zip(&other.roles) {
            role.add(of_other);
        }
        self.errors.add(&other.errors);
    }

    pub fn clear(&mut self) {
        self.errors = Errors::default();
        self.recorded.clear();
        self.roles.iter_mut().for_each(Recorder::clear);
    }

    /// Adds what the crew's clients have recorded of a slot, or of a slice of one.
    pub fn add_slot(&mut self, crew: &mut Crew, seats: &Seats, errors: &Errors) {
        self.errors.add(errors);
        crew.visit(|client: &mut Client| {
            let role = client.seat.role;
            if let Some(recorded) = self.roles.get_mut(role) {
                recorded.add(&client.slot);
            }
            if seats.roles[role].counted {
                self.recorded.add(&client.slot);
            }
        });
    }
}

/// What a slot tells of one role.
#[derive(Debug, Serialize)]
pub struct RoleSlot {
    ops: u64,
    statements: u64,
    rows: u64,
    affected: u64,
    errors: Errors,
    #[serde(flatten)]
    response: Percentiles,
    #[serde(flatten)]
    open: Option<OpenSlot>,
    /// Of work with an end: when it had done its operations, on the work's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_ns: Option<u64>,
    /// How long the schedule of these operations is.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_ns: Option<u64>,
}

/// What only a role with arrivals has.
#[derive(Debug, Serialize)]
struct OpenSlot {
    service_mean_ns: u64,
    service_p50_ns: u64,
    service_p95_ns: u64,
    service_p99_ns: u64,
    service_max_ns: u64,
    scheduled: u64,
    late: u64,
    overdue: u64,
}

/// The roles of a slot, by name in their order.
#[derive(Debug)]
pub struct RoleSlots(Vec<(String, RoleSlot)>);

impl RoleSlots {
    /// None of a test without roles.
    pub fn of(seats: &Seats, together: Vec<Done>, total: &Total) -> Option<Self> {
        let roles = seats.roles.iter().zip(together).zip(&total.roles);
        let slots = roles.filter_map(|((role, done), recorded)| {
            let open = role.arrivals.map(|_| OpenSlot::of(&done.served, recorded));
            let slot = RoleSlot {
                ops: done.served.ops,
                statements: done.tally.statements,
                rows: done.tally.rows,
                affected: done.tally.affected,
                errors: done.errors,
                response: recorded.response.percentiles(),
                open,
                finished_ns: None,
                schedule_ns: None,
            };
            Some((role.name.clone()?, slot))
        });
        seats.are_named().then(|| Self(slots.collect()))
    }

    /// Adds when each role has come to the end of its work.
    pub fn with_ends(mut self, joint: &Joint) -> Self {
        for (index, (_, slot)) in self.0.iter_mut().enumerate() {
            let ends = joint.ends_of(index);
            slot.finished_ns = ends.and_then(|(finished_ns, _)| finished_ns);
            slot.schedule_ns = ends.filter(|_| slot.open.is_some()).map(|(_, schedule_ns)| schedule_ns);
        }
        self
    }
}

impl OpenSlot {
    fn of(served: &Served, recorded: &Recorder) -> Self {
        let service = recorded.service.percentiles();
        Self {
            service_mean_ns: service.mean_ns,
            service_p50_ns: service.p50_ns,
            service_p95_ns: service.p95_ns,
            service_p99_ns: service.p99_ns,
            service_max_ns: service.max_ns,
            scheduled: served.scheduled,
            late: served.late,
            overdue: served.overdue,
        }
    }
}

impl Serialize for RoleSlots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, slot) in &self.0 {
            map.serialize_entry(name, slot)?;
        }
        map.end()
    }
}

/// Histograms of a target's roles over all rows, by name.
pub fn histograms(seats: &Seats, total: &Total) -> BTreeMap<String, BTreeMap<&'static str, String>> {
    let named = seats.roles.iter().zip(&total.roles);
    let of_role = named.filter_map(|(role, recorded)| {
        let mut texts = BTreeMap::from([("latency", recorded.response.to_base64())]);
        if role.arrivals.is_some() {
            texts.insert("service", recorded.service.to_base64());
        }
        Some((role.name.clone()?, texts))
    });
    of_role.collect()
}
