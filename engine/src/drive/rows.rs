//! Rows of slots: for each target in turn thaw, settle, read, drive, read, freeze.

use std::collections::BTreeMap;

use serde::Serialize;

use super::client::{Assignment, Client, Outcome, Recorder};
use super::clock::{now_ns, unix_ns};
use super::crew::Crew;
use super::open_loop::Served;
use super::part::PartSpec;
use super::target::Target;
use super::trouble::{Failure, Stop};
use crate::account::{HostMeter, Kinds, kind};
use crate::record::figures::grown;
use crate::record::{ClientFigures, Errors, HostFigures, Percentiles, ServerFigures};
use crate::wire::Tally;
use crate::workload::stream::Part;

/// What all rows of a command have in common.
#[derive(Debug, Clone, Copy)]
pub struct RowSpec {
    pub seed: u64,
    pub settle: PartSpec,
    pub slot: PartSpec,
}

/// A finished row, as answered.
#[derive(Debug, Serialize)]
pub struct Row {
    pub row: u64,
    pub order: Vec<String>,
    pub started_unix_ns: u64,
    pub host: HostFigures,
    pub slots: Vec<Slot>,
}

#[derive(Debug, Serialize)]
pub struct Slot {
    pub target: String,
    pub position: usize,
    /// Operations of the settle part; all else is of the slot alone.
    pub settle_ops: u64,
    pub elapsed_ns: u64,
    pub ops: u64,
    pub statements: u64,
    pub rows: u64,
    pub affected: u64,
    pub errors: Errors,
    #[serde(flatten)]
    pub latency: Percentiles,
    pub late: u64,
    pub dropped: u64,
    #[serde(flatten)]
    pub server: ServerFigures,
    #[serde(flatten)]
    pub client: ClientFigures,
}

/// A row that could not be finished, since a target was lost or could not be frozen or thawed.
#[derive(Debug, Serialize)]
pub struct Stopped {
    pub target: String,
    pub row: u64,
    pub kind: &'static str,
    pub message: String,
}

/// Latencies and errors of one target.
#[derive(Default)]
pub struct Total {
    pub recorded: Recorder,
    pub errors: Errors,
}

impl Total {
    fn add(&mut self, other: &Self) {
        self.recorded.add(&other.recorded);
        self.errors.add(&other.errors);
    }
}

/// Runs the rows of one command.
pub struct RowRunner<'a> {
    spec: RowSpec,
    crew: &'a mut Crew,
    /// The targets of the open test, in its order.
    targets: Vec<&'a mut Target>,
    host: &'a mut HostMeter,
    /// Of each target over all rows that were finished.
    totals: Vec<Total>,
    /// Of each target in the row at hand.
    of_row: Vec<Total>,
    /// CPU time of background work, when the rows began.
    background_before: Vec<Kinds>,
}

/// What all clients did together in one part.
struct Together {
    elapsed_ns: u64,
    served: Served,
    tally: Tally,
    errors: Errors,
    client: ClientFigures,
    embedded: Option<ServerFigures>,
}

impl<'a> RowRunner<'a> {
    /// Looks for new processes of the targets and freezes them all.
    pub fn new(
        spec: RowSpec,
        crew: &'a mut Crew,
        mut targets: Vec<&'a mut Target>,
        host: &'a mut HostMeter,
    ) -> Result<Self, Failure> {
        for target in &mut targets {
            if let Some(meter) = &mut target.meter {
                meter.look_around();
            }
            target.freeze()?;
        }
        let background_before = targets.iter_mut().map(|target| background(target)).collect();
        let of_targets = || targets.iter().map(|_| Total::default()).collect();
        Ok(Self {
            spec,
            totals: of_targets(),
            of_row: of_targets(),
            background_before,
            crew,
            targets,
            host,
        })
    }

    /// Runs one row; the targets are indices, each at most once, in the order in which they take their turns. What a row that
    /// is not finished has measured is forgotten.
    pub fn run(&mut self, row: u64, order: &[usize]) -> Result<Row, Stopped> {
        let started_unix_ns = unix_ns();
        let servers_before = self.servers_cpu_ns(order);
        let before = self.host.read();
        let mut slots = Vec::with_capacity(order.len());
        for (position, &target) in order.iter().enumerate() {
            slots.push(self.turn(row, target, position)?);
        }
        let after = self.host.read();
        let servers_cpu_ns = grown(self.servers_cpu_ns(order), servers_before);
        for &target in order {
            self.totals[target].add(&self.of_row[target]);
        }
        Ok(Row {
            row,
            order: order.iter().map(|&target| self.targets[target].name.clone()).collect(),
            started_unix_ns,
            host: after.since(&before, servers_cpu_ns),
            slots,
        })
    }

    /// What somebody who reads the figures has to know about them.
    pub fn accounting_notes(&self) -> Vec<String> {
        let meters = self.targets.iter().filter_map(|target| target.meter.as_ref());
        let mut notes: Vec<String> = meters.flat_map(|meter| meter.notes()).collect();
        notes.sort();
        notes.dedup();
        notes
    }

    /// Latencies and errors so far, with the target's name.
    pub fn totals(&self) -> impl Iterator<Item = (&str, &Total)> {
        self.targets.iter().map(|target| target.name.as_str()).zip(&self.totals)
    }

    /// CPU time of background work by kind over all rows, settle parts included, by target; of targets with an account.
    pub fn background(&mut self) -> BTreeMap<String, Kinds> {
        let targets = self.targets.iter_mut().zip(&self.background_before);
        let with_account = targets.filter(|(target, _)| target.meter.is_some());
        with_account
            .map(|(target, before)| (target.name.clone(), kind::grown(&background(target), before)))
            .collect()
    }

    /// Cumulative, wrapping.
    fn servers_cpu_ns(&mut self, order: &[usize]) -> u64 {
        let mut sum = 0u64;
        for &target in order {
            let meter = self.targets[target].meter.as_mut();
            sum = sum.wrapping_add(meter.and_then(|meter| meter.cpu_ns()).unwrap_or(0));
        }
        sum
    }

    /// One target's turn. A target that was lost stays thawed, so that it can be looked at and killed.
    fn turn(&mut self, row: u64, target: usize, position: usize) -> Result<Slot, Stopped> {
        // A slot that was stopped has left there what it recorded.
        self.crew.visit(|client| client.slot.clear());
        let thawed = self.targets[target].thaw();
        thawed.map_err(|failure| self.stopped(row, target, "io", failure.message))?;
        let RowSpec { seed, settle, slot } = self.spec;
        let turn = |part| Turn {
            seed,
            row,
            target,
            part,
        };
        let settled = self.drive(turn(Part::Settle), settle)?;

        let meter = &mut self.targets[target].meter;
        let begun = meter.as_mut().map(|meter| meter.begin());
        let together = self.drive(turn(Part::Slot), slot)?;
        let meter = &mut self.targets[target].meter;
        let used = meter.as_mut().zip(begun).map(|(meter, begun)| meter.end(&begun));

        let frozen = self.targets[target].freeze();
        frozen.map_err(|failure| self.stopped(row, target, "io", failure.message))?;
        let latency = self.gather(target, &together.errors);
        Ok(Slot {
            target: self.targets[target].name.clone(),
            position,
            settle_ops: settled.served.ops,
            elapsed_ns: together.elapsed_ns,
            ops: together.served.ops,
            statements: together.tally.statements,
            rows: together.tally.rows,
            affected: together.tally.affected,
            errors: together.errors,
            latency,
            late: together.served.late,
            dropped: together.served.dropped,
            server: together.embedded.or(used).unwrap_or_default(),
            client: together.client,
        })
    }

    /// Has all clients drive one part, and waits for the last of them.
    fn drive(&mut self, turn: Turn, part: PartSpec) -> Result<Together, Stopped> {
        let clients = self.crew.clients() as u32;
        let schedules: Vec<_> = (0..clients)
            .map(|client| part.schedule(client, clients, [turn.seed, turn.row]))
            .collect();
        let start_ns = now_ns();
        let outcomes = self.crew.run(|client| {
            let schedule = schedules[client as usize].clone();
            let assignment = Assignment {
                target: turn.target,
                seed: turn.seed,
                row: turn.row,
                part: turn.part,
                pace: part.pace(client, clients, start_ns, schedule),
            };
            move |client: &mut Client| client.drive(assignment)
        });
        let elapsed_ns = now_ns() - start_ns;
        let outcomes: Result<Vec<Outcome>, Stop> = outcomes.into_iter().collect();
        outcomes
            .map(|outcomes| Together::of(outcomes, elapsed_ns))
            .map_err(|stop| self.stopped(turn.row, turn.target, stop.kind(), stop.0.message))
    }

    fn stopped(&self, row: u64, target: usize, kind: &'static str, message: String) -> Stopped {
        Stopped {
            target: self.targets[target].name.clone(),
            row,
            kind,
            message,
        }
    }

    /// Makes the latencies and errors of a slot those of its target in this row.
    fn gather(&mut self, target: usize, errors: &Errors) -> Percentiles {
        let of_row = &mut self.of_row[target];
        of_row.errors.clone_from(errors);
        of_row.recorded.clear();
        self.crew.visit(|client| of_row.recorded.add(&client.slot));
        of_row.recorded.response.percentiles()
    }
}

/// CPU time of background work so far; nothing without an account.
fn background(target: &mut Target) -> Kinds {
    let meter = target.meter.as_mut();
    meter.map(|meter| meter.background()).unwrap_or_default()
}

/// Which part of which target's turn.
#[derive(Clone, Copy)]
struct Turn {
    seed: u64,
    row: u64,
    target: usize,
    part: Part,
}

impl Together {
    fn of(outcomes: Vec<Outcome>, elapsed_ns: u64) -> Self {
        let mut sum = Self {
            elapsed_ns,
            served: Served::default(),
            tally: Tally::default(),
            errors: Errors::default(),
            client: ClientFigures::default(),
            embedded: None,
        };
        for outcome in outcomes {
            sum.served.add(&outcome.served);
            sum.tally.statements += outcome.tally.statements;
            sum.tally.rows += outcome.tally.rows;
            sum.tally.affected += outcome.tally.affected;
            sum.errors.add(&outcome.errors);
            sum.client = sum.client.plus(&outcome.client);
            sum.embedded = match (sum.embedded, outcome.server) {
                (Some(so_far), Some(of_client)) => Some(so_far.plus(&of_client)),
                (so_far, of_client) => so_far.or(of_client),
            };
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::client::Goal;
    use crate::drive::fake::{FakeWire, point_program};
    use crate::drive::freeze::{FreezeSpec, Freezer};
    use crate::drive::part::PartExtent;
    use crate::wire::ErrorClass;
    use crate::workload::Mode;
    use std::sync::Arc;

    const SETTLE_OPS: u64 = 2;
    const SLOT_OPS: u64 = 4;

    /// A target whose connections are lost in the execution of this number.
    fn target_lost_at(execution: usize) -> Target {
        let wire = FakeWire::failing(vec![(execution, ErrorClass::LostConnection)]);
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        Target::new("a".into(), Arc::new(wire), None, freezer)
    }

    fn crew_of(clients: u32, target: &Target) -> Crew {
        let goals = [Goal {
            name: target.name.clone(),
            wire: target.wire.clone(),
            program: Arc::new(point_program()),
        }];
        Crew::assemble(clients, move |number| Client::connect(number, Mode::Prepared, &goals)).unwrap()
    }

    /// The operations are those of each client.
    fn rows_of(clients: u32) -> RowSpec {
        let part = |ops: u64| PartSpec {
            extent: PartExtent::Ops(ops * u64::from(clients)),
            arrivals: None,
        };
        RowSpec {
            seed: 1,
            settle: part(SETTLE_OPS),
            slot: part(SLOT_OPS),
        }
    }

    #[test]
    fn after_a_row_that_was_stopped_all_clients_drive_the_next_one() {
        let (in_settle_part, in_slot) = (1, SETTLE_OPS as usize + 2);
        for (clients, lost_at) in [(1, in_settle_part), (1, in_slot), (3, in_settle_part), (3, in_slot)] {
            let mut target = target_lost_at(lost_at);
            let mut crew = crew_of(clients, &target);
            let mut host = HostMeter::new(&[]);
            let mut runner = RowRunner::new(rows_of(clients), &mut crew, vec![&mut target], &mut host).unwrap();
            assert_eq!(runner.run(1, &[0]).unwrap_err().kind, "lost_connection");
            let row = runner.run(2, &[0]).unwrap();
            let (slot, (_, total)) = (&row.slots[0], runner.totals().next().unwrap());
            // Latencies of the row that was stopped are not among them.
            let actual = [slot.settle_ops, slot.ops, total.recorded.response.count()];
            let expected = [SETTLE_OPS, SLOT_OPS, SLOT_OPS].map(|ops| ops * u64::from(clients));
            assert_eq!(actual, expected, "{clients} clients, lost at {lost_at}");
        }
    }
}
