"""Experiments side by side, from their results directories."""

from collections.abc import Iterator, Mapping, Sequence

from dbversus.errors import UsageError
from dbversus.report.code_layout import layout_note
from dbversus.report.sections.contrast import Factor, Line, dependence
from dbversus.report.side_by_side.alike import cases_of, check_alike, differences, tests_of
from dbversus.report.side_by_side.facts import facts_of
from dbversus.report.side_by_side.model import SideBySide
from dbversus.report.table import Column
from dbversus.report.words import SHORT_TITLES, listing
from dbversus.results.stored import Results
from dbversus.stats.across.contrast import Measured, block_means, judge_interactions
from dbversus.stats.comparison import Comparison, compare
from dbversus.stats.judge import judged_values, looks_of, margins_of
from dbversus.stats.judgeable import JUDGEABLE
from dbversus.stats.judged import judged_metrics, judged_names
from dbversus.stats.model import SPOILT, Finding, Metric, Verdict
from dbversus.stats.values.finished import of_finished_blocks
from dbversus.stats.values.imported import is_imported
from dbversus.stats.values.table import Key

# what such a metric was measured to be is not what its ratio says
_SPOILED_METRICS = (Verdict.NO_STEADY_STATE,)

Comparisons = Mapping[tuple[str, str], Comparison]
"""By (test, target)."""


def side_by_side(experiments: Sequence[Results], names: Sequence[str] = (), metrics: Sequence[str] = ()) -> SideBySide:
    """All of `experiments`, the first of which the others are set against.

    `names` for them, else facts of their hosts tell them apart; `metrics`: short names of those that are shown, else all that
    every experiment judges. What is shown changes no verdict: the family is all that every experiment judges. Raises UsageError
    with one sentence when they cannot be compared.
    """
    check_alike(experiments)
    facts = facts_of(experiments, names)
    labels = [one.name for one in facts]
    common = _common_metrics(experiments)
    shown = _shown(common, experiments, metrics)
    comparisons = {name: _comparisons(each) for name, each in zip(labels, experiments, strict=True)}
    measured = [_measured(each, comparisons[name], common) for name, each in zip(labels, experiments, strict=True)]
    found = dict(zip(labels[1:], judge_interactions(measured[0], measured[1:], common), strict=True))
    lines = [_line(case, comparisons, found, shown) for case in _cases(experiments)]
    notes = [
        *differences(experiments, labels),
        *_not_common(experiments, common),
        *_not_in_all(experiments, labels),
        *(f"{line.test}, {line.target}: {why}." for line in lines for why in line.left_out),
        *dict.fromkeys(note for each in experiments if (note := layout_note(each.header.targets))),
    ]
    factor = _OfExperiments(labels[0])
    return SideBySide(factor, tuple(labels), tuple(lines), shown, experiments[0].base.label, facts, tuple(notes))


def _common_metrics(experiments: Sequence[Results]) -> tuple[Metric, ...]:
    judged = [judged_metrics(each.header) for each in experiments]
    names = set.intersection(*({metric.name for metric in of_one} for of_one in judged))
    if not names:
        raise UsageError(f"The experiments judge no metric in common: {_judged_words(experiments)}.")
    return tuple(metric for metric in judged[0] if metric.name in names)


def _judged_words(experiments: Sequence[Results]) -> str:
    return ", ".join(f"{each.directory} {listing(judged_names(each.header))}" for each in experiments)


def _shown(common: tuple[Metric, ...], experiments: Sequence[Results], asked: Sequence[str]) -> tuple[Metric, ...]:
    if not asked:
        return common
    short = {JUDGEABLE[name]: name for name in JUDGEABLE}
    accepted = [short[metric.name] for metric in common]
    for name in asked:
        if name not in accepted:
            raise UsageError(
                f"--metric {name} is not judged in all of these experiments ({_judged_words(experiments)}); accepted: "
                f"{', '.join(accepted)}."
            )
    return tuple(metric for metric in common if short[metric.name] in asked)


def _comparisons(results: Results) -> Comparisons:
    return {(item.test, item.target): item for item in compare(results)}


def _measured(results: Results, comparisons: Comparisons, metrics: Sequence[Metric]) -> Measured:
    """An import has no blocks, and so no means with errors."""
    looks, margins = looks_of(results.header), margins_of(results.header, results.tests)
    finished = of_finished_blocks(results)
    if is_imported(results) or results.base.label not in finished.slots["target"]:
        return Measured({}, margins, looks)
    means = block_means(judged_values(finished), metrics)
    sound = {key: mean for key, mean in means.items() if not _spoiled(key, comparisons)}
    return Measured(sound, margins, looks)


def _spoiled(key: Key, comparisons: Comparisons) -> str:
    """Why the rows of a metric say nothing to others; empty for most."""
    test, target, metric = key
    item = comparisons.get((test, target))
    if item is None:
        return "not measured"
    if item.verdict in SPOILT:
        return str(item.verdict)
    finding = item.findings.get(metric)
    if finding and finding.verdict in _SPOILED_METRICS:
        return str(finding.verdict)
    return "judged over all its work" if finding and finding.whole_work else ""


def _cases(experiments: Sequence[Results]) -> Iterator[tuple[str, str]]:
    """Tests and targets of the first that any other has, too; the order is that of the first."""
    first, *others = experiments
    elsewhere = set().union(*(cases_of(each) for each in others))
    for target in first.targets[1:]:
        yield from ((test, target.label) for test in first.tests if (test, target.label) in elsewhere)


def _line(
    case: tuple[str, str],
    comparisons: Mapping[str, Comparisons],
    found: Mapping[str, Mapping[Key, Finding]],
    metrics: Sequence[Metric],
) -> Line[str]:
    of_case = {name: of_one[case] for name, of_one in comparisons.items() if case in of_one}
    interactions = {
        name: {metric.name: of_one[*case, metric.name] for metric in metrics if (*case, metric.name) in of_one}
        for name, of_one in found.items()
    }
    sentence = dependence(of_case, interactions, _OfExperiments(next(iter(comparisons))))
    left_out = tuple(_left_out(case, comparisons, metrics))
    return Line(*case, of_case, interactions, sentence, left_out=left_out)


def _left_out(
    case: tuple[str, str], comparisons: Mapping[str, Comparisons], metrics: Sequence[Metric]
) -> Iterator[str]:
    """`CPU/op and throughput on host-b: disturbed, so in no interaction`"""
    for name, of_one in comparisons.items():
        by_reason: dict[str, list[str]] = {}
        for metric in metrics:
            if case in of_one and (why := _spoiled((*case, metric.name), of_one)):
                by_reason.setdefault(why, []).append(SHORT_TITLES[metric.name])
        for why, titles in by_reason.items():
            yield f"{listing(titles)} on {name}: {why}, so in no interaction"


class _OfExperiments(Factor[str]):
    """Experiments are mostly hosts: things are so *on* them."""

    what, level = "the experiment", Column("experiment")
    unjudged = "no test has figures that count from blocks of two experiments"
    same, unshown = "the same on all", "not shown to depend on the experiment"
    not_shown, everywhere = "that it depends on the experiment is not shown", "on all"

    def __init__(self, first: str):
        self.first = first

    def called(self, level: str) -> str:
        return level

    def named(self, levels: Sequence[str]) -> str:
        return f"on {listing(levels, most=len(levels))}"

    def named_again(self, levels: Sequence[str]) -> str:
        return self.named(levels)

    def trend(self, moved: Mapping[str, Verdict]) -> str:
        """`better against the base on host-b than on host-a`"""
        ways = ((Verdict.REGRESSION, "worse"), (Verdict.IMPROVEMENT, "better"))
        levels = {way: [name for name, one in moved.items() if one is verdict] for verdict, way in ways}
        told = [f"{way} against the base {self.named(names)}" for way, names in levels.items() if names]
        return f"{' and '.join(told)} than {self.named([self.first])}"


def _not_common(experiments: Sequence[Results], common: Sequence[Metric]) -> Iterator[str]:
    if any(len(judged_metrics(each.header)) > len(common) for each in experiments):
        yield f"Only metrics that all experiments judge are here ({_judged_words(experiments)})."


def _not_in_all(experiments: Sequence[Results], names: Sequence[str]) -> Iterator[str]:
    """Tests and targets that an experiment has, and another has not."""
    tests = [set(tests_of(each)) for each in experiments]
    targets = [{target.label for target in each.targets} for each in experiments]
    for what, sets, order in (
        ("Tests", tests, [test for each in experiments for test in each.tests]),
        ("Targets", targets, [target.label for each in experiments for target in each.targets]),
    ):
        everywhere = set.intersection(*sets)
        told = [
            f"{one} (only on {listing([name for name, has in zip(names, sets, strict=True) if one in has])})"
            for one in dict.fromkeys(order)
            if one not in everywhere and any(one in has for has in sets)
        ]
        if told:
            yield f"{what} that not all experiments have: {listing(told, most=len(told))}."
