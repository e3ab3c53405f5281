"""What `explain --measure` found of settings that it tried: experiments beside the results, base and target first."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dbversus.explain.trials import Tried
from dbversus.names import split_names
from dbversus.profiling.stored import is_begun
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL, MEASURED
from dbversus.results.stored import Results, Target, check_inside
from dbversus.stats.comparison import by_test_and_target
from dbversus.stats.judge import judge
from dbversus.stats.values.finished import of_finished_blocks

_FOLDERS = f"*/trial-*/{JOURNAL}"


def measured_trials(results: Results) -> Mapping[tuple[str, str], Sequence[Tried]]:
    """Test and target → trials; those that were measured for another base are passed over."""
    found: dict[tuple[str, str], list[Tried]] = defaultdict(list)
    written = {target.written: target.label for target in results.targets}
    for journal in sorted((results.directory / MEASURED).glob(_FOLDERS)):
        check_inside(journal, results.directory)
        if not is_begun(journal):
            continue
        own = of_finished_blocks(open_results(journal.parent))
        if own.base.written == results.base.written and len(own.targets) > 2 and own.targets[1].written in written:
            for test, trial in _trials(own):
                found[test, written[own.targets[1].written]].append(trial)
    return found


def _trials(results: Results) -> Iterator[tuple[str, Tried]]:
    _, target, *tried = results.targets
    findings = by_test_and_target(judge(results))
    for test in results.repeated_tests:
        changes = findings.get((test, target.label), {})
        for one in tried:
            for metric, after in findings.get((test, one.label), {}).items():
                if metric in changes and after.judged:
                    yield test, Tried(_settings(target, one), changes[metric], after)


def _settings(target: Target, tried: Target) -> str:
    """What the one that was tried sets besides, or otherwise."""
    own, more = (split_names(one.written.partition("@")[2]) for one in (target, tried))
    return ",".join(item for item in more if item not in own)
