//! Work with an end: targets take turns in slices of it, until each has done all its operations.
//!
//! What the host does meanwhile hits all of them alike, as in slots. A target's slices make one slot, of sums; its stream of
//! parameters goes on from slice to slice, so that all targets are given the same values, however many slices each takes.

use std::sync::Arc;

use super::part::PartExtent;
use super::roles::Joint;
use super::rows::{Measured, RowRunner, Slice, Slot, Stopped, Tell};

/// What a target has done so far.
struct Done {
    target: usize,
    joint: Arc<Joint>,
    settle_ops: u64,
    slices: u64,
    sums: Option<Measured>,
    /// Driven time after which it is cut off.
    most_ns: u64,
}

impl Done {
    fn is_over(&self) -> bool {
        let is_done = self.joint.is_over() && !self.joint.has_paused();
        self.slices > 0 && (is_done || self.left_ns() == 0)
    }

    /// What is left of the time that it may take. A transaction that is then open ends with its connection.
    fn left_ns(&self) -> u64 {
        let driven_ns = self.sums.as_ref().map_or(0, |sums| sums.together.elapsed_ns);
        self.most_ns.saturating_sub(driven_ns)
    }

    fn add(&mut self, measured: Measured) {
        self.slices += 1;
        match &mut self.sums {
            None => self.sums = Some(measured),
            Some(sums) => sums.add(&measured),
        }
    }
}

impl RowRunner<'_> {
    /// One row of work: the targets in their order, round after round.
    pub(super) fn work(&mut self, row: u64, order: &[usize], slice_ns: u64, tell: Tell) -> Result<Vec<Slot>, Stopped> {
        let PartExtent::Ops(ops) = self.spec.slot.extent else {
            unreachable!("what is sliced is bounded by operations, which is checked on input");
        };
        let begin = |&target| Done {
            target,
            joint: Arc::new(Joint::of(self.seats, ops)),
            settle_ops: 0,
            slices: 0,
            sums: None,
            most_ns: self.spec.slot.most_ns.unwrap_or(u64::MAX),
        };
        let mut all: Vec<Done> = order.iter().map(begin).collect();
        order.iter().for_each(|&target| self.of_row[target].clear());
        while !all.iter().all(Done::is_over) {
            for done in all.iter_mut().filter(|done| !done.is_over()) {
                self.slice(row, done, slice_ns)?;
            }
            tell(self.take_seconds(false));
        }
        let finished = all.into_iter().enumerate();
        Ok(finished
            .filter_map(|(position, done)| self.finished(position, done))
            .collect())
    }

    fn slice(&mut self, row: u64, done: &mut Done, length_ns: u64) -> Result<(), Stopped> {
        let is_first = done.slices == 0;
        done.settle_ops += self.wake(row, done.target, is_first.then_some(self.spec.settle))?;
        let slice = Slice {
            length_ns: length_ns.min(done.left_ns()),
            is_first,
            joint: done.joint.clone(),
        };
        let measured = self.measure(row, done.target, Some(slice))?;
        self.rest(row, done.target)?;
        self.gather(done.target, &measured.together.all.errors);
        done.add(measured);
        Ok(())
    }

    fn finished(&mut self, position: usize, done: Done) -> Option<Slot> {
        let slot = self.slot(done.target, position, done.settle_ops, done.sums?);
        Some(Slot {
            slices: done.slices,
            cut: !done.joint.is_over(),
            roles: slot.roles.map(|roles| roles.with_ends(&done.joint)),
            ..slot
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::HostMeter;
    use crate::drive::client::{Client, Goal};
    use crate::drive::contender::Target;
    use crate::drive::contender::freeze::{FreezeSpec, Freezer};
    use crate::drive::crew::Crew;
    use crate::drive::fake::{FakeWire, point_program};
    use crate::drive::part::{PartExtent, PartSpec};
    use crate::drive::roles::{Role, Seats, Share};
    use crate::drive::rows::RowSpec;
    use crate::wire::ErrorClass;
    use crate::workload::Mode;
    use serde_json::json;
    use std::sync::Arc;

    const OPS: u64 = 30_000;

    fn targets(lost_at: usize) -> [Target; 2] {
        let fails = [vec![], vec![(lost_at, ErrorClass::LostConnection)]];
        let names = ["a", "b"].into_iter().zip(fails);
        let target = |(name, fails): (&str, Vec<_>)| {
            let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
            Target::new(name.to_owned(), Arc::new(FakeWire::failing(fails)), None, freezer)
        };
        names.map(target).collect::<Vec<_>>().try_into().ok().unwrap()
    }

    fn crew_of(seats: &Seats, targets: &[Target]) -> Crew {
        let goal = |target: &Target| Goal {
            name: target.name.clone(),
            wire: target.wire.clone(),
            program: Arc::new(point_program()),
            appended: target.appended.clone(),
        };
        let goals: Vec<_> = targets.iter().map(goal).collect();
        let seated = seats.clone();
        let connect = move |number| {
            let client = Client::connect(number, Mode::Prepared, &goals)?;
            Ok(client.seated(seated.seat(number)))
        };
        Crew::assemble(seats.clients(), connect).unwrap()
    }

    fn spec() -> RowSpec {
        let part = |ops, slice_ns| PartSpec {
            extent: PartExtent::Ops(ops),
            slice_ns,
            most_ns: None,
        };
        RowSpec {
            seed: 1,
            settle: part(3, None),
            settle_again: part(3, None),
            slot: part(OPS, Some(200_000)),
            series: true,
        }
    }

    #[test]
    fn the_slices_of_a_target_make_one_slot_of_all_its_operations() {
        for clients in [1, 3] {
            let mut targets = targets(usize::MAX);
            let seats = Seats::alike(clients);
            let mut crew = crew_of(&seats, &targets);
            let mut host = HostMeter::new(&[]);
            let mut runner =
                RowRunner::new(spec(), &mut crew, &seats, targets.iter_mut().collect(), &mut host).unwrap();
            for number in 0..2 {
                let row = runner.run(number, &[1, 0], &mut |_| ()).unwrap();
                for (slot, name) in row.slots.iter().zip(["b", "a"]) {
                    assert_eq!((slot.target.as_str(), slot.ops, slot.statements), (name, OPS, OPS));
                    assert_eq!(slot.settle_ops, 3);
                    assert!(
                        slot.slices > 1 && slot.elapsed_ns >= 200_000 && slot.latency.max_ns > 0,
                        "{slot:?}"
                    );
                }
            }
            let counts: Vec<_> = runner
                .totals()
                .map(|(_, total)| total.recorded.response.count())
                .collect();
            assert_eq!(counts, [2 * OPS, 2 * OPS]);
        }
    }

    #[test]
    fn work_in_which_a_target_is_lost_is_not_finished_by_anybody() {
        let mut targets = targets(OPS as usize / 2);
        let seats = Seats::alike(1);
        let mut crew = crew_of(&seats, &targets);
        let mut host = HostMeter::new(&[]);
        let mut runner = RowRunner::new(spec(), &mut crew, &seats, targets.iter_mut().collect(), &mut host).unwrap();
        let stopped = runner.run(0, &[0, 1], &mut |_| ()).unwrap_err();
        assert_eq!((stopped.target.as_str(), stopped.kind), ("b", "lost_connection"));
        assert_eq!(runner.totals().next().unwrap().1.recorded.response.count(), 0);
    }

    /// Rows inserted at a rate, and clients that read meanwhile.
    fn rated(operations: u64, rate: u32) -> Seats {
        let arrivals = serde_json::from_str(&format!(r#"{{"kind": "constant", "rate": {rate}}}"#)).unwrap();
        let role = |name: &str, arrivals, operations| Role {
            name: Some(name.into()),
            clients: 1,
            arrivals,
            counted: arrivals.is_none(),
            share: Share {
                operations,
                ..Share::default()
            },
        };
        Seats {
            roles: vec![
                role("inserters", Some(arrivals), Some(operations)),
                role("readers", None, None),
            ],
        }
    }

    /// The slot of the only target, and the seconds of its roles.
    fn run(
        wire: FakeWire,
        seats: &Seats,
        most_ns: Option<u64>,
    ) -> (serde_json::Value, Vec<crate::drive::rows::SecondOf>) {
        let freezer = Freezer::new(&FreezeSpec::None, None).unwrap();
        let mut target = [Target::new("a".into(), Arc::new(wire), None, freezer)];
        let mut crew = crew_of(seats, &target);
        let mut host = HostMeter::new(&[]);
        let part = |ops, slice_ns| PartSpec {
            extent: PartExtent::Ops(ops),
            slice_ns,
            most_ns,
        };
        let spec = RowSpec {
            settle: part(0, None),
            slot: part(seats.operations().unwrap(), Some(20_000_000)),
            ..spec()
        };
        let mut runner = RowRunner::new(spec, &mut crew, seats, target.iter_mut().collect(), &mut host).unwrap();
        let mut seconds = Vec::new();
        let row = runner.run(0, &[0], &mut |told| seconds.extend(told)).unwrap();
        seconds.extend(runner.take_seconds(true));
        (serde_json::to_value(&row.slots[0]).unwrap(), seconds)
    }

    #[test]
    fn a_stall_shows_in_what_was_due_meanwhile_and_is_one_operation_of_a_closed_loop() {
        const STALL: std::time::Duration = std::time::Duration::from_millis(300);
        let (slot, seconds) = run(FakeWire::stalling(50, STALL), &rated(500, 1000), None);
        let of = |role: &str, figure: &str| slot["roles"][role][figure].as_u64().unwrap();
        assert_eq!(of("inserters", "ops"), 500);
        // 300 of 500 were due while the server stood still, and waited for 150 ms in the mean.
        assert!(of("inserters", "mean_ns") >= 50_000_000, "{slot}");
        assert!(
            of("inserters", "service_mean_ns") * 2 < of("inserters", "mean_ns"),
            "{slot}"
        );
        assert!(
            of("readers", "max_ns") >= 300_000_000 && of("readers", "p50_ns") < 100_000_000,
            "{slot}"
        );
        assert_eq!(slot["ops"], slot["roles"]["readers"]["ops"]);
        let told: u64 = seconds.iter().map(|second| second.roles["inserters"].ops).sum();
        let slowest = seconds.iter().map(|second| second.roles["inserters"].slowest_ns).max();
        assert_eq!(told, 500);
        assert!(slowest >= Some(250_000_000), "{seconds:?}");
    }

    #[test]
    fn work_is_as_long_as_its_schedule_also_where_that_ends_with_a_burst() {
        let mut seats = rated(40, 100);
        seats.roles[0].arrivals = serde_json::from_value(json!({"kind": "burst", "rate": 100, "size": 10})).unwrap();
        let (slot, _) = run(FakeWire::stalling(usize::MAX, Default::default()), &seats, None);
        let role = &slot["roles"]["inserters"];
        let of = |figure: &str| role[figure].as_u64().unwrap();
        // The last of four bursts is at 300 ms, and the others still have the 100 ms after it.
        assert_eq!((of("ops"), of("schedule_ns")), (40, 400_000_000));
        assert!(of("finished_ns") >= 300_000_000, "{role}");
        assert!(slot["elapsed_ns"].as_u64().unwrap() >= 400_000_000, "{slot}");
    }

    #[test]
    fn a_rate_that_cannot_be_held_makes_the_work_longer() {
        let (slot, _) = run(
            FakeWire::stalling(usize::MAX, Default::default()),
            &rated(20_000, 10_000_000),
            None,
        );
        assert!(slot.get("cut").is_none(), "{slot}");
        let role = &slot["roles"]["inserters"];
        assert_eq!(
            (&role["ops"], &role["scheduled"], &role["overdue"]),
            (&json!(20_000), &json!(20_000), &json!(0))
        );
        let of = |figure: &str| role[figure].as_u64().unwrap();
        // 20,000 at 10 million a second are 2 ms.
        assert!((2_000_000..2_001_000).contains(&of("schedule_ns")), "{role}");
        assert!(of("finished_ns") > of("schedule_ns"), "{role}");
        assert!(role.get("finished_ns").is_some() && slot["roles"]["readers"].get("finished_ns").is_none());
    }

    #[test]
    fn work_that_may_last_no_longer_is_cut_off_between_two_operations() {
        const MOST_NS: u64 = 500_000_000;
        let wire = FakeWire::stalling(usize::MAX, Default::default());
        // At this rate it would take a minute.
        let (slot, _) = run(wire, &rated(6000, 100), Some(MOST_NS));
        let role = &slot["roles"]["inserters"];
        assert_eq!(slot["cut"], json!(true));
        assert!((1..6000).contains(&role["ops"].as_u64().unwrap()), "{role}");
        assert_eq!(
            role["ops"].as_u64().unwrap() + role["overdue"].as_u64().unwrap(),
            role["scheduled"].as_u64().unwrap()
        );
        assert!(role.get("finished_ns").is_none(), "{role}");
        assert!(slot["elapsed_ns"].as_u64().unwrap() >= MOST_NS, "{slot}");
        assert!(slot["slices"].as_u64().unwrap() > 1);
    }
}
