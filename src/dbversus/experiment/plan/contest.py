"""Who meets whom in which case, decided from what was asked and from the records so far: no server, no clock."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dbversus.experiment.asked.groups import Group, make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.cases import Case, cases_of
from dbversus.experiment.plan.progress import Part, Progress, Shared
from dbversus.stats.orders import balanced_turns
from dbversus.suites.model import Phase, Suite


@dataclass
class Contest:
    """`names`: of all targets, the base first. `progress` goes on while the experiment does."""

    spec: ExperimentSpec
    suite: Suite
    names: Sequence[str]
    progress: Progress

    @property
    def all_cases(self) -> list[Case]:
        """The cases that are reported, in order."""
        cases = (case for phase in self.suite.phases for case in self.cases(phase))
        return [case for case in cases if not case.test.warm_up]

    def cases(self, phase: Phase) -> list[Case]:
        """The tests of a phase, each with every size and number of clients before the next."""
        return [case for test in phase.tests for case in cases_of(test, self.spec)]

    @property
    def groups(self) -> list[Group]:
        """Targets whose config a server refused need no place; the others keep theirs, whatever becomes of them."""
        contenders = [name for name in self.names if name not in self.progress.refused]
        return make_groups(contenders, self.spec.order, self.spec.at_once)

    def turns(self, block: int) -> list[Group]:
        """The groups that make a block, one after another; targets that are up alone change their order from block to block."""
        groups = self.groups
        return balanced_turns(groups, block, self.spec.seed) if self.spec.order == "sequential" else groups

    @property
    def in_run(self) -> list[str]:
        return [name for name in self.names if not self.progress.is_out(name)]

    def measured(self, case: Case, group: Group | None = None) -> list[str]:
        """Names of the targets whose rows of `case` are run, in a group or in any."""
        return [name for one in self._of(group) for name in self._measured_in(one, case)]

    def is_comparable(self, case: Case, group: Group | None = None) -> bool:
        """Whether rows of `case` tell anything: the base and somebody else are measured, in a group or in any."""
        return any(len(self._measured_in(one, case)) >= self._fewest(one) for one in self._of(group))

    @property
    def undecided(self) -> list[str]:
        """Names of the cases that still need blocks. Of a suite whose tests build on each other all do, or none."""
        retired = self.progress.retired
        return [case.name for case in self.all_cases if case.name not in retired and self.is_comparable(case)]

    def to_retire(self, decided: Collection[str]) -> list[str]:
        """Which of the cases that are decided now take part in no more blocks."""
        newly = sorted(self._with_partners(set(decided) | self.progress.retired) - self.progress.retired)
        return newly if not self.suite.is_pass or set(self.undecided) <= set(newly) else []

    def _with_partners(self, decided: set[str]) -> set[str]:
        """Without those that are judged against another, or another against them, which is not decided."""
        pairs = [{case.name, case.against} for case in self.all_cases if case.against]
        while open_pairs := [pair for pair in pairs if pair & decided and not pair <= decided]:
            decided = decided.difference(*open_pairs)
        return decided

    def _of(self, group: Group | None) -> list[Group]:
        return [group] if group else self.groups

    def _measured_in(self, group: Group, case: Case) -> list[str]:
        """Those that are in the run, except a target that answers a read test otherwise than the base.

        A test that changes data is run on all: later tests need its changes.
        """
        agrees = {} if case.test.changes_data else self.progress.checked.get(shared_by(case, group), {})
        return [name for name in self.in_run if name in group.members and agrees.get(name, True)]

    def _fewest(self, group: Group) -> int:
        """Targets without which a group has nothing to compare."""
        return 1 if "solo" in group.tag or len(self.names) == 1 else 2


def shared_by(case: Case, group: Group | None) -> Shared:
    """What the slot plan and the check of answers of `case` are kept under.

    They hold for all blocks; groups with the base have their own, targets one after another share them: all do the
    same work.
    """
    return case.name, group.tag.get("group", "") if group else ""


def part_of(block: int, case: Case, group: Group | None) -> Part:
    """What the rows of `case` in `block` count as, of all targets together or of a group."""
    return block, case.name, group.name if group else ""
