//! Work with an end: targets take turns in slices of it, until each has done all its operations.
//!
//! What the host does meanwhile hits all of them alike, as in slots. A target's slices make one slot, of sums; its stream of
//! parameters goes on from slice to slice, so that all targets are given the same values, however many slices each takes.

use std::sync::Arc;

use super::part::PartExtent;
use super::roles::{Joint, Together};
use super::rows::{RowRunner, Slice, Slot, Stopped, Tell};
use crate::record::ServerFigures;

/// What a target has done so far.
struct Done {
    target: usize,
    joint: Arc<Joint>,
    settle_ops: u64,
    slices: u64,
    sums: Option<(Together, ServerFigures)>,
}

impl Done {
    fn is_over(&self) -> bool {
        self.slices > 0 && self.joint.is_over()
    }

    fn add(&mut self, together: Together, server: ServerFigures) {
        self.slices += 1;
        match &mut self.sums {
            None => self.sums = Some((together, server)),
            Some((sum, used)) => {
                sum.add(&together);
                *used = used.plus(&server);
            }
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
        done.settle_ops += self.wake(row, done.target, is_first)?;
        let slice = Slice {
            length_ns,
            is_first,
            joint: done.joint.clone(),
        };
        let (together, server) = self.measure(row, done.target, Some(slice))?;
        self.rest(row, done.target)?;
        self.gather(done.target, &together.all.errors);
        done.add(together, server);
        Ok(())
    }

    fn finished(&mut self, position: usize, done: Done) -> Option<Slot> {
        let (together, server) = done.sums?;
        let slot = self.slot(done.target, position, done.settle_ops, together, server);
        Some(Slot {
            slices: done.slices,
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
    use crate::drive::crew::Crew;
    use crate::drive::fake::{FakeWire, point_program};
    use crate::drive::freeze::{FreezeSpec, Freezer};
    use crate::drive::part::{PartExtent, PartSpec};
    use crate::drive::roles::Seats;
    use crate::drive::rows::RowSpec;
    use crate::drive::target::Target;
    use crate::wire::ErrorClass;
    use crate::workload::Mode;
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
        };
        RowSpec {
            seed: 1,
            settle: part(3, None),
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
}
