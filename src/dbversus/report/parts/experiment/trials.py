"""Settings that were tried: by `explain --measure`, in experiments beside the results, base and target first, and by other
targets of the results themselves."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dbversus.explain.pair import by_name
from dbversus.explain.trials import Tried, Values
from dbversus.names import split_names
from dbversus.profiling.stored import is_begun
from dbversus.results.read import open_results
from dbversus.results.records.experiment import Rendered
from dbversus.results.schema import JOURNAL, MEASURED
from dbversus.results.stored import Results, Target, check_inside
from dbversus.stats.comparison import Comparison, by_test_and_target
from dbversus.stats.judge import judge
from dbversus.stats.model import SPOILT, Finding
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


def trials_among(results: Results, target: Target, comparisons: Iterable[Comparison]) -> Iterator[Tried]:
    """Of one test: other targets of the target's build that have settings as the base has them, or, where that is another build,
    settings besides. `comparisons`: of that test, on all targets."""
    known = {facts.name: facts for facts in results.header.targets}
    found = {item.target: item.findings for item in comparisons if item.verdict not in SPOILT}
    base, mine = known[results.base.name], known[target.name]
    for one in results.targets[1:]:
        facts = known[one.name]
        values = _values(base.rendered, mine.rendered, facts.rendered)
        same_build = mine.checksum is not None and facts.binary == mine.binary
        if not (values and same_build and {one.label, target.label} <= found.keys()):
            continue
        asked = by_name(facts.rendered) if facts.rendered else {}
        put_back = all(asked.get(name) == value for name, (value, _) in values.items())
        if put_back or (base.binary != mine.binary and _sets_more(target, one)):
            yield from _tried(target, one, values, found[target.label], found[one.label])


def _sets_more(target: Target, one: Target) -> bool:
    own, more = (set(_configs(each)) for each in (target, one))
    return own < more


def _trials(results: Results) -> Iterator[tuple[str, Tried]]:
    base, target, *tried = results.targets
    rendered = {facts.name: facts.rendered for facts in results.header.targets}
    findings = by_test_and_target(judge(results))
    for test in results.repeated_tests:
        changes = findings.get((test, target.label), {})
        for one in tried:
            values = _values(*(rendered[each.name] for each in (base, target, one)))
            for trial in _tried(target, one, values, changes, findings.get((test, one.label), {})):
                yield test, trial


def _tried(
    target: Target,
    one: Target,
    values: Mapping[str, Values],
    changes: Mapping[str, Finding],
    afters: Mapping[str, Finding],
) -> Iterator[Tried]:
    settings = _settings(target, one, values)
    for metric, after in afters.items():
        if metric in changes and after.judged:
            yield Tried(settings, changes[metric], after, values)


def _settings(target: Target, tried: Target, values: Mapping[str, Values]) -> str:
    """What the one that was tried sets besides, or otherwise; where it is written otherwise, what came of that."""
    if tried.written.startswith(target.written) or not values:
        own = _configs(target)
        return ",".join(item for item in _configs(tried) if item not in own)
    return ", ".join(f"{name} not set" if base is None else f"{name}={base}" for name, (base, _) in values.items())


def _configs(target: Target) -> list[str]:
    return split_names(target.written.partition("@")[2])


def _values(base: Rendered | None, target: Rendered | None, tried: Rendered | None) -> dict[str, Values]:
    """Of settings that are otherwise where they were tried: what the base and the target make of them."""
    if base is None or target is None or tried is None:
        return {}
    sides = [by_name(one) for one in (base, target, tried)]
    names = sorted(sides[1].keys() | sides[2].keys())
    return {
        name: (sides[0].get(name), sides[1].get(name)) for name in names if sides[1].get(name) != sides[2].get(name)
    }
