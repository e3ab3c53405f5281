//! Rows of slots: for each target in turn thaw, settle, read, drive, read, freeze.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::client::{Assignment, Client, Outcome, Pace, WorkSlice};
use super::clock::{now_ns, unix_ns};
use super::contender::Target;
use super::crew::Crew;
use super::part::{PartExtent, PartSpec};
use super::roles::together::{self, RoleSlots};
use super::roles::{Joint, Seat, Seats, Together, Total};
use super::series::{Second, SecondOfRole, Watch};
use super::trouble::{Failure, Stop};
use crate::account::{HostMeter, Kinds, ServerMeter, kind};
use crate::drive::pace::open_loop::{Company, Span};
use crate::record::figures::grown;
use crate::record::{ClientFigures, Errors, HostFigures, Percentiles, ServerFigures, SettleFigures};
use crate::workload::stream::Part;

/// What all rows of a command have in common.
#[derive(Debug, Clone, Copy)]
pub struct RowSpec {
    pub seed: u64,
    pub settle: PartSpec,
    /// Of a target that had the last turn, too: no other has been driven since then.
    pub settle_again: PartSpec,
    pub slot: PartSpec,
    /// Whether the seconds of slots are told.
    pub series: bool,
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
    /// Operations of the settle part; all but these and `settle` is of the slot alone.
    pub settle_ops: u64,
    #[serde(flatten)]
    pub settle: SettleFigures,
    pub elapsed_ns: u64,
    pub ops: u64,
    pub statements: u64,
    pub rows: u64,
    pub affected: u64,
    pub errors: Errors,
    #[serde(flatten)]
    pub latency: Percentiles,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<RoleSlots>,
    /// Of work with an end; 0: it was not sliced.
    #[serde(skip_serializing_if = "is_zero")]
    pub slices: u64,
    /// It was not done when it had lasted as long as it may.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    #[serde(flatten)]
    pub server: ServerFigures,
    #[serde(flatten)]
    pub client: ClientFigures,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A row that could not be finished, since a target was lost or could not be frozen or thawed.
#[derive(Debug, Serialize)]
pub struct Stopped {
    pub target: String,
    pub row: u64,
    pub kind: &'static str,
    pub message: String,
}

/// Takes seconds as they come.
pub type Tell<'a> = &'a mut dyn FnMut(Vec<SecondOf>);

/// Runs the rows of one command.
pub struct RowRunner<'a> {
    pub(super) spec: RowSpec,
    pub(super) crew: &'a mut Crew,
    pub(super) seats: &'a Seats,
    /// The targets of the open test, in its order.
    pub(super) targets: Vec<&'a mut Target>,
    host: &'a mut HostMeter,
    /// Of each target over all rows that were finished.
    totals: Vec<Total>,
    /// Of each target in the row at hand.
    pub(super) of_row: Vec<Total>,
    /// For how long each target has been driven: the clock of the roles' schedules.
    clocks_ns: Vec<u64>,
    /// CPU time of background work, when the rows began.
    background_before: Vec<Kinds>,
    /// What each target had read and written when its last slot ended, or the rows began.
    bytes_before: Vec<SettleFigures>,
    /// The target that had the last turn, if that ended as it should.
    last: Option<usize>,
    watch: Option<Watch>,
}

/// A second of a target's driven time, as answered.
#[derive(Debug, Serialize)]
pub struct SecondOf {
    pub target: String,
    #[serde(flatten)]
    pub second: Second,
    /// By name, where there are roles.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, SecondOfRole>,
}

impl<'a> RowRunner<'a> {
    /// Looks for new processes of the targets and freezes them all. Arrivals begin anew.
    pub fn new(
        spec: RowSpec,
        crew: &'a mut Crew,
        seats: &'a Seats,
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
        let bytes_before = targets.iter().map(|target| bytes_of(target.meter.as_ref())).collect();
        crew.visit(|client| client.schedule(spec.seed));
        let of_targets = || targets.iter().map(|_| Total::of(seats)).collect();
        let watch = if spec.series {
            Some(Watch::new(crew.run(|_| Client::show), targets.len()))
        } else {
            crew.visit(Client::hide);
            None
        };
        Ok(Self {
            watch,
            spec,
            totals: of_targets(),
            of_row: of_targets(),
            background_before,
            bytes_before,
            last: None,
            clocks_ns: vec![0; targets.len()],
            crew,
            seats,
            targets,
            host,
        })
    }

    /// Runs one row; the targets are indices, each at most once, in the order in which they take their turns. What a row that
    /// is not finished has measured is forgotten. `tell`: of seconds that are over, in work with an end.
    pub fn run(&mut self, row: u64, order: &[usize], tell: Tell) -> Result<Row, Stopped> {
        let started_unix_ns = unix_ns();
        let servers_before = self.servers_cpu_ns(order);
        let before = self.host.read();
        let slots = match self.spec.slot.slice_ns {
            None => self.slots(row, order)?,
            Some(slice_ns) => self.work(row, order, slice_ns, tell)?,
        };
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

    /// The seconds of series that are over and have not been taken yet; with `all`, also those that never will be over.
    pub fn take_seconds(&mut self, all: bool) -> Vec<SecondOf> {
        let taken = self.watch.as_mut().map(|watch| watch.take(all)).unwrap_or_default();
        let named = |(target, seconds): (usize, Vec<Second>)| {
            let name = &self.targets[target].name;
            let of_target = |second: Second| SecondOf {
                target: name.clone(),
                roles: self.seats.named(&second.roles),
                second,
            };
            seconds.into_iter().map(of_target).collect::<Vec<_>>()
        };
        taken.into_iter().flat_map(named).collect()
    }

    /// What somebody who reads the figures has to know about them.
    pub fn accounting_notes(&self) -> Vec<String> {
        let meters = self.targets.iter().filter_map(|target| target.meter.as_ref());
        let mut notes: Vec<String> = meters.flat_map(|meter| meter.notes()).collect();
        notes.extend(
            self.targets
                .iter()
                .filter_map(|target| target.disk.note())
                .map(str::to_owned),
        );
        notes.sort();
        notes.dedup();
        notes
    }

    /// Latencies and errors so far, with the target's name.
    pub fn totals(&self) -> impl Iterator<Item = (&str, &Total)> {
        self.targets.iter().map(|target| target.name.as_str()).zip(&self.totals)
    }

    /// Of one of `totals`: role → kind → histogram.
    pub fn histograms_of_roles(&self, total: &Total) -> BTreeMap<String, BTreeMap<&'static str, String>> {
        together::histograms(self.seats, total)
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

    fn slots(&mut self, row: u64, order: &[usize]) -> Result<Vec<Slot>, Stopped> {
        let numbered = order.iter().enumerate();
        numbered
            .map(|(position, &target)| self.turn(row, target, position))
            .collect()
    }

    /// One target's turn. A target that was lost stays thawed, so that it can be looked at and killed.
    fn turn(&mut self, row: u64, target: usize, position: usize) -> Result<Slot, Stopped> {
        let goes_on = self.last.take() == Some(target);
        let settle = if goes_on {
            self.spec.settle_again
        } else {
            self.spec.settle
        };
        let settled = self.wake(row, target, Some(settle))?;
        let measured = self.measure(row, target, None)?;
        self.rest(row, target)?;
        self.last = Some(target);
        self.of_row[target].clear();
        self.gather(target, &measured.together.all.errors);
        Ok(self.slot(target, position, settled, measured))
    }

    /// Thaws a target and drives a settle part, if there is to be one; the operations of that.
    pub(super) fn wake(&mut self, row: u64, target: usize, settle: Option<PartSpec>) -> Result<u64, Stopped> {
        // A slot that was stopped has left there what it recorded.
        self.crew.visit(|client| client.slot.clear());
        let thawed = self.targets[target].thaw();
        thawed.map_err(|failure| self.stopped(row, target, "io", failure.message))?;
        let settled = settle.map(|part| self.drive(self.turn_of(row, target, Part::Settle), part));
        Ok(settled.transpose()?.map_or(0, |settled| settled.all.served.ops))
    }

    /// Drives a slot, or a slice of one, between two readings of the account.
    pub(super) fn measure(&mut self, row: u64, target: usize, slice: Option<Slice>) -> Result<Measured, Stopped> {
        let turn = Turn {
            slice,
            ..self.turn_of(row, target, Part::Slot)
        };
        // Taken for as long as another thread may read them.
        let (mut meter, mut watch) = (self.targets[target].meter.take(), self.watch.take());
        let disk_before = self.targets[target].disk.read();
        let begun = meter.as_mut().map(|meter| meter.begin());
        let settle = bytes_of(meter.as_ref()).since(&self.bytes_before[target]);
        let drive = || self.drive(turn, self.spec.slot);
        let outcome = match &mut watch {
            None => drive(),
            Some(watch) => watch.over(target, meter.as_mut().zip(begun.as_ref()), drive),
        };
        let used = meter.as_mut().zip(begun).map(|(meter, begun)| meter.end(&begun));
        let disk = self.targets[target].disk.read();
        self.bytes_before[target] = bytes_of(meter.as_ref());
        if let Some(watch) = &mut watch {
            watch.finish(target, used);
        }
        (self.targets[target].meter, self.watch) = (meter, watch);
        let together = outcome?;
        let server = together.embedded.or(used).unwrap_or_default();
        Ok(Measured {
            together,
            server: server.with_disk(disk.since(&disk_before)),
            settle,
        })
    }

    /// Freezes a target that has had its turn.
    pub(super) fn rest(&mut self, row: u64, target: usize) -> Result<(), Stopped> {
        let frozen = self.targets[target].freeze();
        frozen.map_err(|failure| self.stopped(row, target, "io", failure.message))
    }

    /// The slot of a target whose latencies have been gathered.
    pub(super) fn slot(&self, target: usize, position: usize, settle_ops: u64, measured: Measured) -> Slot {
        let Measured {
            together,
            server,
            settle,
        } = measured;
        Slot {
            target: self.targets[target].name.clone(),
            position,
            settle_ops,
            settle,
            elapsed_ns: together.elapsed_ns,
            ops: together.all.served.ops,
            statements: together.all.tally.statements,
            rows: together.all.tally.rows,
            affected: together.all.tally.affected,
            errors: together.all.errors,
            latency: self.of_row[target].recorded.response.percentiles(),
            roles: RoleSlots::of(self.seats, together.roles, &self.of_row[target]),
            slices: 0,
            cut: false,
            server,
            client: together.client,
        }
    }

    fn turn_of(&self, row: u64, target: usize, part: Part) -> Turn {
        Turn {
            seed: self.spec.seed,
            row,
            target,
            part,
            slice: None,
        }
    }

    /// Has all clients drive one part, and waits for the last of them.
    fn drive(&mut self, turn: Turn, part: PartSpec) -> Result<Together, Stopped> {
        let seats = self.seats;
        if seats.has_arrivals() && turn.slice.is_none() && part.extent == PartExtent::Ops(0) {
            return Ok(Together::default()); // no time for anything that is due
        }
        if turn.slice.as_ref().is_some_and(|slice| slice.is_first) {
            self.clocks_ns[turn.target] = 0; // the schedules of work begin with it
        }
        let company =
            (seats.has_arrivals() || seats.operations().is_some()).then(|| Arc::new(Company::of(seats.clients())));
        let start_ns = now_ns();
        let span = Span {
            start_ns,
            length_ns: turn.slice.as_ref().map_or(part.length_ns(), |slice| slice.length_ns),
            clock_ns: self.clocks_ns[turn.target],
        };
        let outcomes = self.crew.run(|client| {
            let assignment = Assignment {
                target: turn.target,
                seed: turn.seed,
                row: turn.row,
                part: turn.part,
                pace: pace(&turn, &seats.seat(client), seats, part, span),
                company: company.clone(),
            };
            move |client: &mut Client| client.drive(assignment)
        });
        let elapsed_ns = now_ns() - start_ns;
        self.clocks_ns[turn.target] += elapsed_ns;
        let outcomes: Result<Vec<Outcome>, Stop> = outcomes.into_iter().collect();
        outcomes
            .map(|outcomes| Together::of(outcomes, seats, elapsed_ns))
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

    /// Adds the latencies and errors of what was driven to those of its target in this row.
    pub(super) fn gather(&mut self, target: usize, errors: &Errors) {
        self.of_row[target].add_slot(self.crew, self.seats, errors);
    }
}

/// CPU time of background work so far; nothing without an account.
fn background(target: &mut Target) -> Kinds {
    let meter = target.meter.as_mut();
    meter.map(|meter| meter.background()).unwrap_or_default()
}

/// Bytes read and written, as of the last reading; unknown without an account.
fn bytes_of(meter: Option<&ServerMeter>) -> SettleFigures {
    meter.map(ServerMeter::bytes).unwrap_or_default()
}

/// How a client drives a part.
fn pace(turn: &Turn, seat: &Seat, seats: &Seats, part: PartSpec, span: Span) -> Pace {
    match (&turn.slice, seat.arrivals) {
        (Some(slice), _) => Pace::Work(WorkSlice {
            span,
            joint: slice.joint.clone(),
            is_first: slice.is_first,
        }),
        (None, Some(_)) => Pace::Open(span),
        (None, None) => Pace::Closed(part.bound(seats.closed_number(seat), seats.closed(), span.start_ns)),
    }
}

/// A slot, or slices of one.
pub(super) struct Measured {
    pub together: Together,
    pub server: ServerFigures,
    /// Of before it.
    pub settle: SettleFigures,
}

impl Measured {
    pub fn add(&mut self, next: &Self) {
        self.together.add(&next.together);
        self.server = self.server.plus(&next.server);
        self.settle = self.settle.plus(&next.settle);
    }
}

/// One of the turns in which a target does work with an end.
pub(super) struct Slice {
    pub length_ns: u64,
    pub is_first: bool,
    pub joint: Arc<Joint>,
}

/// Which part of which target's turn.
struct Turn {
    seed: u64,
    row: u64,
    target: usize,
    part: Part,
    slice: Option<Slice>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::AccountSpec;
    use crate::drive::client::Goal;
    use crate::drive::contender::freeze::{FreezeSpec, Freezer};
    use crate::drive::fake::{FakeWire, point_program};
    use crate::test_tree::{Tree, wait_for};
    use crate::wire::ErrorClass;
    use crate::workload::Mode;
    use std::io::Write;

    const SETTLE_OPS: u64 = 2;
    const SLOT_OPS: u64 = 4;

    /// A target whose connections are lost in the execution of this number.
    fn target_lost_at(execution: usize) -> Target {
        let wire = FakeWire::failing(vec![(execution, ErrorClass::LostConnection)]);
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        Target::new("a".into(), Arc::new(wire), None, freezer)
    }

    fn crew_of(clients: u32, targets: &[&Target]) -> Crew {
        let goals: Vec<_> = targets.iter().map(|target| goal_of(target)).collect();
        Crew::assemble(clients, move |number| Client::connect(number, Mode::Prepared, &goals)).unwrap()
    }

    fn goal_of(target: &Target) -> Goal {
        Goal {
            name: target.name.clone(),
            wire: target.wire.clone(),
            program: Arc::new(point_program()),
            appended: crate::workload::Appended::default(),
        }
    }

    /// The operations are those of each client.
    fn rows_of(clients: u32) -> RowSpec {
        let part = |ops: u64| PartSpec {
            slice_ns: None,
            most_ns: None,
            extent: PartExtent::Ops(ops * u64::from(clients)),
        };
        RowSpec {
            series: false,
            seed: 1,
            settle: part(SETTLE_OPS),
            settle_again: part(SETTLE_OPS),
            slot: part(SLOT_OPS),
        }
    }

    /// Written so far, of the only process of a server.
    fn written_bytes(pid: i32) -> u64 {
        let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
        let line = io.lines().find(|line| line.starts_with("write_bytes")).unwrap();
        line.split(' ').nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn what_is_written_between_two_slots_comes_with_the_next_one() {
        const BYTES: u64 = 1 << 20;
        let file = format!(
            "{}/target/between-slots-{}",
            env!("CARGO_MANIFEST_DIR"),
            std::process::id()
        );
        let mut server = Tree::start(&format!("while read line; do printf '%{BYTES}s' x > '{file}'; done"));
        let (pid, mut input) = (server.pid(), server.0.stdin.take().unwrap());
        let account = AccountSpec {
            root_pid: pid,
            cgroup: None,
        };
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        let wire = Arc::new(FakeWire::failing(Vec::new()));
        let mut target = Target::new("a".into(), wire, Some(ServerMeter::open(&account).unwrap()), freezer);
        let mut crew = crew_of(1, &[&target]);
        let (mut host, seats) = (HostMeter::new(&[]), Seats::alike(1));
        let mut runner = RowRunner::new(rows_of(1), &mut crew, &seats, vec![&mut target], &mut host).unwrap();
        let mut settle_write_bytes = |row| {
            runner.run(row, &[0], &mut |_| ()).unwrap().slots[0]
                .settle
                .settle_write_bytes
        };
        assert_eq!(settle_write_bytes(0), Some(0));
        input.write_all(b"\n").unwrap();
        wait_for("it to be written", || written_bytes(pid) >= BYTES);
        assert!(settle_write_bytes(1) >= Some(BYTES));
        assert!(settle_write_bytes(2) < Some(BYTES), "it came with the row before");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn who_had_the_last_turn_has_a_settle_part_of_its_own() {
        const AGAIN_OPS: u64 = SETTLE_OPS - 1;
        let rows: [(&[usize], [u64; 2]); 4] = [
            (&[0, 1], [SETTLE_OPS, SETTLE_OPS]),
            (&[1, 0], [AGAIN_OPS, SETTLE_OPS]),
            (&[0, 1], [AGAIN_OPS, SETTLE_OPS]),
            (&[0, 1], [SETTLE_OPS, SETTLE_OPS]),
        ];
        let (mut a, mut b) = (target_lost_at(usize::MAX), target_lost_at(usize::MAX));
        let mut crew = crew_of(1, &[&a, &b]);
        let (mut host, seats) = (HostMeter::new(&[]), Seats::alike(1));
        let mut spec = rows_of(1);
        spec.settle_again.extent = PartExtent::Ops(AGAIN_OPS);
        let mut runner = RowRunner::new(spec, &mut crew, &seats, vec![&mut a, &mut b], &mut host).unwrap();
        for (row, (order, expected)) in (0..).zip(rows) {
            let slots = runner.run(row, order, &mut |_| ()).unwrap().slots;
            assert_eq!([slots[0].settle_ops, slots[1].settle_ops], expected, "row {row}");
        }
    }

    #[test]
    fn after_a_row_that_was_stopped_all_clients_drive_the_next_one() {
        let (in_settle_part, in_slot) = (1, SETTLE_OPS as usize + 2);
        for (clients, lost_at) in [(1, in_settle_part), (1, in_slot), (3, in_settle_part), (3, in_slot)] {
            let mut target = target_lost_at(lost_at);
            let mut crew = crew_of(clients, &[&target]);
            let mut host = HostMeter::new(&[]);
            let seats = Seats::alike(clients);
            let mut runner = RowRunner::new(rows_of(clients), &mut crew, &seats, vec![&mut target], &mut host).unwrap();
            assert_eq!(runner.run(1, &[0], &mut |_| ()).unwrap_err().kind, "lost_connection");
            let row = runner.run(2, &[0], &mut |_| ()).unwrap();
            let (slot, (_, total)) = (&row.slots[0], runner.totals().next().unwrap());
            // Latencies of the row that was stopped are not among them.
            let actual = [slot.settle_ops, slot.ops, total.recorded.response.count()];
            let expected = [SETTLE_OPS, SLOT_OPS, SLOT_OPS].map(|ops| ops * u64::from(clients));
            assert_eq!(actual, expected, "{clients} clients, lost at {lost_at}");
        }
    }
}
