"""Profiles that a results folder holds."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.profiling import wait_samples
from dbversus.profiling.figures import BlockProfile, Profile, profile_of
from dbversus.profiling.folded import read_folded
from dbversus.profiling.perf import SWITCHES
from dbversus.results.read import open_results
from dbversus.results.records import Profile as ProfileRecord
from dbversus.results.records import ProfiledTarget
from dbversus.results.schema import JOURNAL, MEASURED
from dbversus.results.stored import Results, check_inside
from dbversus.stats.values.finished import of_finished_blocks


@dataclass(frozen=True)
class Profiled:
    """What a test's profiles on a target and the base tell. `event`, `stacks`, `all_cpus`: as in the record."""

    test: str
    target: str
    base: str
    event: str
    stacks: str
    samples: int
    profile: Profile
    all_cpus: bool = False

    @property
    def is_of_waits(self) -> bool:
        return _is_of_waits(self.event)


def _is_of_waits(event: str) -> bool:
    return event in (SWITCHES, wait_samples.EVENT)


def measured_profiles(results: Results) -> list[Profiled]:
    """Those that `explain --measure` has put beside an experiment's results, against its base; of a test, the last.

    What was begun and has no finished block yet, and what was measured for another base, is passed over.
    """
    found: dict[tuple[str, str, bool], Profiled] = {}
    folders = (path.parent for path in (results.directory / MEASURED).glob(f"*/*/{JOURNAL}"))
    for folder in sorted(folders, key=lambda path: (len(path.parent.name), str(path))):
        if not is_begun(folder / JOURNAL):
            continue
        check_inside(folder / JOURNAL, results.directory)
        for one in profiles_of(of_finished_blocks(open_results(folder))):
            if one.base == results.base.label:
                found[one.test, one.target, one.is_of_waits] = one
    return list(found.values())


def is_begun(journal: Path) -> bool:
    """Whether its first line is whole: before that, nothing was measured."""
    with journal.open("rb") as file:
        return file.readline().endswith(b"\n")


def profiles_of(results: Results) -> list[Profiled]:
    """A line per test and target; none where nothing was profiled. Raises UsageError where a file is damaged or gone."""
    every = results.of_type(ProfileRecord)
    return [
        one
        for of_waits in (False, True)
        for one in _of_kind(results, [each for each in every if _is_of_waits(each.event) == of_waits])
    ]


def _of_kind(results: Results, records: Sequence[ProfileRecord]) -> list[Profiled]:
    blocks: defaultdict[tuple[str, str], dict[int, BlockProfile]] = defaultdict(dict)
    for record in records:
        for name, of_target in record.targets.items():
            # of several groups the base has one in each: any of them will do
            blocks[record.test, name][record.block] = _read(results, of_target)
    found = []
    for test in dict.fromkeys(record.test for record in records):
        of_test = next(record for record in records if record.test == test)
        base = blocks.get((test, results.base.name), {})
        for target in results.targets[1:]:
            mine = blocks.get((test, target.name), {})
            if profile := profile_of(base, mine, moves=not _is_of_waits(of_test.event)):
                labels = target.label, results.base.label
                how = of_test.event, of_test.stacks
                found.append(Profiled(test, *labels, *how, _samples(base, mine), profile, of_test.all_cpus))
    return found


def _samples(*sides: Mapping[int, BlockProfile]) -> int:
    return sum(one.samples for side in sides for one in side.values())


def _read(results: Results, of_target: ProfiledTarget) -> BlockProfile:
    path = results.directory / of_target.file
    check_inside(path, results.directory)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); it is part of the results.") from error
    if hashlib.sha256(content).hexdigest() != of_target.sha256:
        raise UsageError(f"{path} is not what was recorded: it was changed since, or is damaged.")
    stacks = read_folded(content.decode(errors="replace"), str(path))
    return BlockProfile(stacks, of_target.samples, of_target.cpu_ns / 1000 / of_target.ops)
