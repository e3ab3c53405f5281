"""What `explain --measure` found of settings that it tried: experiments beside the results, base and target first."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dbversus.explain.pair import by_name
from dbversus.explain.trials import Tried, Values
from dbversus.names import split_names
from dbversus.profiling.stored import is_begun
from dbversus.results.read import open_results
from dbversus.results.records.experiment import Rendered
from dbversus.results.schema import JOURNAL, MEASURED
from dbversus.results.stored import Results, Target, check_inside
from dbversus.stats.comparison import by_test_and_target
from dbversus.stats.judge import judge
from dbversus.stats.values.finished import of_finished_blocks

_FOLDERS = [f"*/{name}/{JOURNAL}" for name in ("trial-*", "confirm", "confirm-*")]
"""Of the campaigns: of a screen, what it found is tried in an experiment of its own."""


def measured_trials(results: Results) -> Mapping[tuple[str, str], Sequence[Tried]]:
    """Test and target → trials; those that were measured for another base are passed over."""
    found: dict[tuple[str, str], list[Tried]] = defaultdict(list)
    written = {target.written: target.label for target in results.targets}
    for journal in sorted(path for each in _FOLDERS for path in (results.directory / MEASURED).glob(each)):
        check_inside(journal, results.directory)
        if not is_begun(journal):
            continue
        own = of_finished_blocks(open_results(journal.parent))
        if own.base.written == results.base.written and len(own.targets) > 2 and own.targets[1].written in written:
            for test, trial in _trials(own):
                found[test, written[own.targets[1].written]].append(trial)
    return found


def _trials(results: Results) -> Iterator[tuple[str, Tried]]:
    base, target, *tried = results.targets
    rendered = {facts.name: facts.rendered for facts in results.header.targets}
    findings = by_test_and_target(judge(results))
    for test in results.repeated_tests:
        changes = findings.get((test, target.label), {})
        for one in tried:
            for metric, after in findings.get((test, one.label), {}).items():
                if metric in changes and after.judged:
                    values = _values(*(rendered[each.name] for each in (base, target, one)))
                    yield test, Tried(_settings(target, one, values), changes[metric], after, values)


def _settings(target: Target, tried: Target, values: Mapping[str, Values]) -> str:
    """What the one that was tried sets besides, or otherwise; where it is written otherwise, what came of that."""
    if tried.written.startswith(target.written) or not values:
        own, more = (split_names(one.written.partition("@")[2]) for one in (target, tried))
        return ",".join(item for item in more if item not in own)
    return ", ".join(f"{name} not set" if base is None else f"{name}={base}" for name, (base, _) in values.items())


def _values(base: Rendered | None, target: Rendered | None, tried: Rendered | None) -> dict[str, Values]:
    """Of settings that are otherwise where they were tried: what the base and the target make of them."""
    if base is None or target is None or tried is None:
        return {}
    sides = [by_name(one) for one in (base, target, tried)]
    names = sorted(sides[1].keys() | sides[2].keys())
    return {
        name: (sides[0].get(name), sides[1].get(name)) for name in names if sides[1].get(name) != sides[2].get(name)
    }
