"""Plans of tests that changed, compared without measuring: the target with the settings that bring the old plan back.

What came of it is kept beside the experiment, so that a campaign that is asked for again need not ask servers again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from dbversus.campaign.finding.asked import Change, Experiment, test_of
from dbversus.campaign.replanning.plans import Plans, Replanned, brought_back, replan, trial_targets
from dbversus.errors import UsageError
from dbversus.experiment.rig.rig import Display
from dbversus.files import write_whole
from dbversus.results.schema import MEASURED


class Kept(msgspec.Struct, frozen=True):
    """`tests` were explained. `restored`: test → the target with what brings its old plan back; `told`: in sentences."""

    tests: tuple[str, ...]
    restored: dict[str, str]
    told: tuple[str, ...]


def why_not(experiment: Experiment, changes: Sequence[Change]) -> str:
    """Why plans of these cannot be compared; else empty."""
    spec = experiment.spec
    if not changes:
        return "no test that changed has another plan on another build"
    if spec.inject is not None:
        return "work is injected into one of the targets"
    if len(spec.table_sizes) > 1:
        return "tables of several sizes were measured; name one to explain --plans"
    return ""


def replanned(
    directory: Path, experiment: Experiment, changes: Sequence[Change], display: Display, *, wait: bool
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """`changes` with the target to try, where there is one; and what was found, in sentences.

    Raises as `replan`. What was found before is not asked for again.
    """
    kept = {}
    for target in sorted({change.target for change in changes}):
        own = [change for change in changes if change.target == target]
        kept[target] = _kept(directory, experiment, own, display, wait=wait)
    found = [
        msgspec.structs.replace(one, replanned=kept[one.target].restored.get(test_of(one.test), "")) for one in changes
    ]
    return tuple(found), tuple(sentence for one in kept.values() for sentence in one.told)


def _kept(directory: Path, experiment: Experiment, changes: Sequence[Change], display: Display, *, wait: bool) -> Kept:
    file = directory / MEASURED / f"plans-{changes[0].target}.json"
    tests = tuple(sorted({test_of(change.test) for change in changes}))
    if file.is_file():
        kept = _read(file)
        if set(tests) <= set(kept.tests):
            return kept
    try:
        plans = replan(experiment.spec.with_choices(experiment.narrowed(changes)), display, wait=wait)
    except UsageError as error:
        return Kept(tests, {}, (f"plans were not compared: {error}",))
    kept = _told(experiment, changes[0].target, plans, tests)
    file.parent.mkdir(exist_ok=True)
    write_whole(file, msgspec.json.encode(kept), directory)
    return kept


def _read(file: Path) -> Kept:
    try:
        return msgspec.json.decode(file.read_bytes(), type=Kept)
    except msgspec.DecodeError as error:
        raise UsageError(f"{file} cannot be read: {error}; delete it to compare plans again.") from error


def _told(experiment: Experiment, target: int, plans: Plans, tests: tuple[str, ...]) -> Kept:
    targets = [experiment.spec.targets[place] for place in (0, target)]
    restored = {}
    if plans.newer == 1:  # else what would be tried is the base
        for test in tests:
            if restoring := _most_often([one for one in plans.found if one.test == test]):
                restored[test] = trial_targets(targets, 1, restoring.restoring[0])[-1]
    return Kept(tests, restored, tuple(_sentences(plans)))


def _most_often(statements: Sequence[Replanned]) -> Replanned | None:
    """Of a test's statements, one whose first setting brings most of them back."""
    restored = [one for one in statements if one.restoring]
    count = Counter(tuple(one.restoring[0].items) for one in restored)
    return max(restored, key=lambda one: count[tuple(one.restoring[0].items)], default=None)


def _sentences(plans: Plans) -> Iterator[str]:
    for one in plans.found:
        if one.differs and one.change:
            yield f"{one.statement}: {one.change.words}; {'; '.join(brought_back(plans, one))}"
