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
use crate::record::{ClientFigures, Errors, HostFigures, Latency, Percentiles, ServerFigures};
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
    pub latency: Latency,
    pub service: Latency,
    pub errors: Errors,
}

impl Total {
    fn add(&mut self, other: &Self) {
        self.latency.add(&other.latency);
        if other.service.count() > 0 {
            self.service.add(&other.service);
        }
        self.errors.add(&other.errors);
    }

    fn clear(&mut self) {
        self.latency.clear();
        if self.service.count() > 0 {
            self.service.clear();
        }
        self.errors = Errors::default();
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
    /// Of every client, for slots and for settling; made once, handed to the clients and taken back.
    recorders: Vec<Recorder>,
    settle_recorders: Vec<Recorder>,
}

/// What all clients did together in one part.
struct Together {
    elapsed_ns: u64,
    served: Served,
    tally: Tally,
    errors: Errors,
    client: ClientFigures,
    embedded: Option<ServerFigures>,
    recorders: Vec<Recorder>,
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
        let recorders = |crew: &Crew| (0..crew.clients()).map(|_| Recorder::default()).collect();
        let of_targets = || targets.iter().map(|_| Total::default()).collect();
        Ok(Self {
            spec,
            totals: of_targets(),
            of_row: of_targets(),
            background_before,
            recorders: recorders(crew),
            settle_recorders: recorders(crew),
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
        let thawed = self.targets[target].thaw();
        thawed.map_err(|failure| self.stopped(row, target, "io", failure.message))?;
        let RowSpec { seed, settle, slot } = self.spec;
        let mut settled = {
            let recorders = std::mem::take(&mut self.settle_recorders);
            self.drive(
                Turn {
                    seed,
                    row,
                    target,
                    part: Part::Settle,
                },
                settle,
                recorders,
            )?
        };
        self.settle_recorders = std::mem::take(&mut settled.recorders);
        let recorders = std::mem::take(&mut self.recorders);

        let meter = &mut self.targets[target].meter;
        let begun = meter.as_mut().map(|meter| meter.begin());
        let mut together = self.drive(
            Turn {
                seed,
                row,
                target,
                part: Part::Slot,
            },
            slot,
            recorders,
        )?;
        let meter = &mut self.targets[target].meter;
        let used = meter.as_mut().zip(begun).map(|(meter, begun)| meter.end(&begun));

        let frozen = self.targets[target].freeze();
        frozen.map_err(|failure| self.stopped(row, target, "io", failure.message))?;
        let latency = self.gather(target, &mut together);
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
    fn drive(&mut self, turn: Turn, part: PartSpec, recorders: Vec<Recorder>) -> Result<Together, Stopped> {
        let clients = self.crew.clients() as u32;
        let schedules: Vec<_> = (0..clients)
            .map(|client| part.schedule(client, clients, [turn.seed, turn.row]))
            .collect();
        let start_ns = now_ns();
        let tasks = schedules
            .into_iter()
            .zip(recorders)
            .zip(0..)
            .map(|((schedule, recorder), client)| {
                let assignment = Assignment {
                    target: turn.target,
                    seed: turn.seed,
                    row: turn.row,
                    part: turn.part,
                    pace: part.pace(client, clients, start_ns, schedule),
                    recorder,
                };
                move |client: &mut Client| client.drive(assignment)
            });
        let outcomes = self.crew.run(tasks);
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

    /// Makes the latencies and errors of a slot those of its target in this row, and the recorders ready for the next slot.
    fn gather(&mut self, target: usize, together: &mut Together) -> Percentiles {
        let of_row = &mut self.of_row[target];
        of_row.clear();
        of_row.errors.add(&together.errors);
        for recorder in &mut together.recorders {
            of_row.latency.add(&recorder.response);
            if recorder.service.count() > 0 {
                of_row.service.add(&recorder.service);
            }
            recorder.clear();
        }
        self.recorders = std::mem::take(&mut together.recorders);
        of_row.latency.percentiles()
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
            recorders: Vec::with_capacity(outcomes.len()),
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
            sum.recorders.push(outcome.recorder);
        }
        sum
    }
}
