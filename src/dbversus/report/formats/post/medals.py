"""Gold and silver of an import, by the reference's own rule of 5 %: its figures have no intervals, and so no verdicts."""

from collections.abc import Iterator, Sequence
from math import exp, log
from statistics import fmean

from dbversus.report.formats.markdown import escape, table
from dbversus.report.formats.post.aspects import Aspect
from dbversus.report.formats.post.lists import BETTER, BY_MORE_THAN, NOTHING, has_medal
from dbversus.report.formats.post.phases import Case, names
from dbversus.report.formats.post.spans import two_decimals
from dbversus.report.model import Assessment
from dbversus.report.words import listing
from dbversus.stats.metrics import DISK_READ_BYTES, DISK_READS, THROUGHPUT
from dbversus.stats.model import Verdict
from dbversus.units import count_of

_RULE = (
    f"The reference marks what is better than the base by more than {100 * BY_MORE_THAN:g} %: gold in throughput, silver in CPU "
    f"per operation ({BETTER} in the lists). These marks are without intervals: nothing tells how much of a ratio is chance."
)
_SHIFT_RULE = (
    "Ratios are second/first of each pair, of one run each, without intervals. Gold: the new ratio of throughput is more than "
    f"{100 * BY_MORE_THAN:g} % above the old one. Silver: the new ratio of CPU per operation is more than "
    f"{100 * BY_MORE_THAN:g} % below the old one."
)
_READS = ((DISK_READS, "r/o"), (DISK_READ_BYTES, "rKB/o"))


def medals_parts(assessment: Assessment, cases: Sequence[Case], aspects: Sequence[Aspect]) -> list[str]:
    """How often each target earned them; then old against new, where there is an old and a new target of two DBMSs."""
    if not is_single_runs(assessment):
        return []
    judged = [aspect for aspect in aspects if aspect.always]
    base, *targets = names(assessment).values()
    said = [line for target in targets if (line := _earned(target, cases, judged))]
    if without := [target for target in targets if not _earned(target, cases, judged)]:
        said.append(f"None: {listing(without, most=len(without))}.")
    parts = ["## Gold and silver", _RULE, "\n".join(f"- {escape(line)}" for line in said)]
    if pairs := _pairs(assessment):
        parts += _generations(pairs, base, cases, judged)
    return parts


def _earned(target: str, cases: Sequence[Case], aspects: Sequence[Aspect]) -> str:
    """`my8022: gold in 6 of 42 tests, silver in 9 of 42.`; empty where it has none."""
    said, earned = [], 0
    for aspect in aspects:
        if found := [finding for case in cases if (finding := case.finding(target, aspect.metric))]:
            said.append(f"{_metal(aspect)} in {sum(map(has_medal, found)):,} of {count_of(len(found), 'test')}")
            earned += sum(map(has_medal, found))
    return f"{target}: {', '.join(said)}." if earned else ""


def is_single_runs(assessment: Assessment) -> bool:
    """Whether no figure is replicated, as in an import."""
    verdicts = {one.verdict for one in assessment.findings if one.ratio is not None}
    return verdicts == {Verdict.NOT_REPLICATED}


def _metal(aspect: Aspect) -> str:
    return "gold" if aspect.metric == THROUGHPUT else "silver"


Pairs = tuple[tuple[str, str], tuple[str, str]]
"""Old and new, each with the DBMS of the base first."""


def _pairs(assessment: Assessment) -> Pairs | None:
    """Where there are two targets of each of two DBMSs, the older one first: an import does not tell versions otherwise."""
    by_dbms: dict[str, list[str]] = {}
    called = names(assessment)
    for facts in assessment.targets:
        by_dbms.setdefault(facts.target.dbms, []).append(called[facts.target.label])
    if [len(targets) for targets in by_dbms.values()] != [2, 2]:
        return None
    first, second = by_dbms.values()
    return (first[0], second[0]), (first[1], second[1])


def _generations(pairs: Pairs, base: str, cases: Sequence[Case], aspects: Sequence[Aspect]) -> list[str]:
    """As in the reference's sheet of two generations: a line per test, with its marks."""
    old, new = pairs
    shown = [*((aspect.metric, "qps" if aspect.metric == THROUGHPUT else "cpu/o") for aspect in aspects), *_READS]
    known = {
        metric: {case.name: both for case in cases if (both := _both(case, pairs, base, metric))} for metric, _ in shown
    }
    shown = [(metric, short) for metric, short in shown if known[metric]]
    columns = [f"{short} {age}" for _, short in shown for age in ("old", "new")]
    rows = [
        [escape(case.name), *(text for metric, _ in shown for text in _cells(known[metric].get(case.name), metric))]
        for case in cases
    ]
    said = [sentence for aspect in aspects for sentence in _sentences(known[aspect.metric], aspect)]
    return [
        f"### {escape(f'{old[1]} against {old[0]} (old), {new[1]} against {new[0]} (new)')}",
        _SHIFT_RULE,
        "\n".join(f"- {sentence}" for sentence in said),
        table(["test", *columns], rows),
    ]


Both = tuple[float, float]
"""Ratio of the old and of the new pair."""


def _both(case: Case, pairs: Pairs, base: str, metric: str) -> Both | None:
    ratios = [[_ratio(case, target, base, metric) for target in pair] for pair in pairs]
    if not all(value for pair in ratios for value in pair):
        return None
    (first, second), (third, fourth) = ratios
    return (second or 0.0) / (first or 1.0), (fourth or 0.0) / (third or 1.0)


def _ratio(case: Case, target: str, base: str, metric: str) -> float | None:
    if target == base:
        return 1.0
    finding = case.finding(target, metric)
    return finding.ratio if finding else None


def _medal(both: Both, metric: str) -> str:
    shift = both[1] / both[0]
    if metric == THROUGHPUT:
        return " gold" if shift > 1 + BY_MORE_THAN else ""
    return " silver" if shift < 1 - BY_MORE_THAN else ""


def _cells(both: Both | None, metric: str) -> Iterator[str]:
    if both is None:
        yield from (NOTHING, NOTHING)
        return
    marked = _medal(both, metric) if metric not in dict(_READS) else ""
    yield from (two_decimals(both[0]), f"{two_decimals(both[1])}{marked}")


def _sentences(known: dict[str, Both], aspect: Aspect) -> Iterator[str]:
    if not known:
        return
    marked = sum(bool(_medal(both, aspect.metric)) for both in known.values())
    old, new = (two_decimals(exp(fmean(log(both[age]) for both in known.values()))) for age in (0, 1))
    yield (
        f"{_metal(aspect).capitalize()} in {marked:,} of {count_of(len(known), 'test')}; the geometric mean of the ratios in "
        f"{aspect.said} is {old} in the old generation and {new} in the new one."
    )
