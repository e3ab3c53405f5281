"""Lists of ratios as the reference prints them: a line per test, a column per target, the name of the test last."""

from collections.abc import Iterable, Iterator, Sequence

from dbversus.report.formats.markdown import code
from dbversus.report.formats.post.aspects import Aspect
from dbversus.report.formats.post.phases import Case
from dbversus.report.formats.post.spans import of_counts, two_decimals
from dbversus.report.words import listing
from dbversus.stats.model import DECIDED, SPOILT, Finding, Verdict

OPEN, SPOILED, NOTHING, BETTER = "?", "!", "–", "*"
BY_MORE_THAN = 0.05
"""The reference's own rule, for ratios without intervals: gold in throughput, silver in CPU per operation."""
_WIDTH = 6
MOST_COLUMNS = 8
"""Of targets; where there are more, and no more tests than this, tests are the columns, and targets the lines."""


def lists(cases: Sequence[Case], targets: Sequence[str], aspects: Sequence[Aspect]) -> Iterator[str]:
    """For each aspect that any of the tests has: its title, and the list. Of one target, all aspects in one list.

    A line of a target has a figure; without one it shares another's load.
    """
    having = {aspect: [case for case in cases if _has(case, targets, aspect)] for aspect in aspects}
    known = [aspect for aspect, own in having.items() if own]
    if len(targets) == 1 and known:
        rows = [[*(_cell(case, targets[0], aspect) for aspect in known), case.name] for case in cases]
        first, *others = [aspect.title for aspect in known]
        yield f"{listing([first, *map(_after_comma, others)], most=len(known))}:"
        yield _list([aspect.short for aspect in known], rows)
        return
    for aspect in known:
        yield f"{aspect.title}:"
        own = having[aspect]
        if len(targets) > MOST_COLUMNS >= len(own):
            rows = [
                [*(_cell(case, target, aspect) for case in own), target]
                for target in targets
                if _has_any(own, target, aspect)
            ]
            yield _list([case.name for case in own], rows)
        else:
            rows = [[*(_cell(case, target, aspect) for target in targets), case.name] for case in own]
            yield _list([f"col-{number}" for number, _ in enumerate(targets, 1)], rows)


def _after_comma(title: str) -> str:
    """Capitals of `CPU` stay."""
    return f"{title[:1].lower()}{title[1:]}" if title[1:2].islower() else title


def _has(case: Case, targets: Iterable[str], aspect: Aspect) -> bool:
    return any(case.finding(target, aspect.metric) for target in targets)


def _has_any(cases: Iterable[Case], target: str, aspect: Aspect) -> bool:
    return any(_has(case, [target], aspect) for case in cases)


def _list(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The last cell of a row is its name."""
    lines = [[*columns, ""], *rows]
    shown = [[" ".join(cell.split()) for cell in line] for line in lines]
    widths = [max(_WIDTH, *map(len, column)) for column in list(zip(*shown, strict=True))[:-1]]
    return code("\n".join(_line(cells, widths) for cells in shown))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *figures, name = cells
    return "  ".join([*(cell.ljust(width) for cell, width in zip(figures, widths, strict=True)), name]).rstrip()


def _cell(case: Case, target: str, aspect: Aspect) -> str:
    comparison, finding = case.comparisons.get(target), case.finding(target, aspect.metric)
    if comparison is None or finding is None:
        return NOTHING
    if comparison.verdict in SPOILT:
        return SPOILED
    is_marked = aspect.always and has_medal(finding)
    show = two_decimals if aspect.always else of_counts
    return f"{show(finding.ratio or 0.0)}{BETTER if is_marked else ''}{_open(case, finding)}"


def _open(case: Case, finding: Finding) -> str:
    """That a load was done once is said of all of it, not of each ratio."""
    settled = finding.counted in (*DECIDED, Verdict.NOT_REPLICATED) or case.loaded_once
    return "" if settled else OPEN


def has_medal(finding: Finding) -> bool:
    """Gold or silver: of a ratio that was not replicated, whether it is better than the base's by more than 5 %."""
    if finding.verdict is not Verdict.NOT_REPLICATED or not finding.ratio:
        return False
    return finding.ratio > 1 + BY_MORE_THAN if finding.higher_is_better else finding.ratio < 1 - BY_MORE_THAN
