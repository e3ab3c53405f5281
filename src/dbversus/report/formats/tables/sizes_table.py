"""The table of several table sizes, the same in every report; and flat, for CSV and JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from dbversus.report.formats.tables.matrix_table import Table, show
from dbversus.report.model import SizeLine, Sizes
from dbversus.report.terminal import say
from dbversus.report.words import INTERVALS, SHORT_TITLES, SIGNS, finding_text, ratio, small_change
from dbversus.stats.means import spread_of
from dbversus.stats.model import CHANGES, Finding, Metric, Verdict
from dbversus.units import count_of, show_count

_WORDS = {
    Verdict.REGRESSION: "worse with more rows",
    Verdict.IMPROVEMENT: "better with more rows",
    Verdict.EQUIVALENT: "the same",
}


def tables(sizes: Sizes, intervals: bool = True, *, changed_only: bool = False) -> list[Table]:
    """A line per test, target and metric. `changed_only`: those of tests that are shown to depend on the size."""
    first, *more = (show_count(size) for size in sizes.sizes)
    columns = ["test", "target", "metric", *(f"ratio with {size}" for size in (first, *more))]
    columns += [text for size in more for text in (f"{size} over {first}", "which is")]
    lines = [line for line in sizes.lines if not changed_only or _interacts(line)]
    rows = [_row(line, metric, sizes, intervals) for line in lines for metric in sizes.judged]
    return [Table("Whether target ÷ base depends on the size of the tables", columns, [row for row in rows if row])]


def _interacts(line: SizeLine) -> bool:
    return any(finding.verdict in CHANGES for found in line.larger.values() for finding in found.values())


def _row(line: SizeLine, metric: Metric, sizes: Sizes, intervals: bool) -> list[str]:
    """Empty where nothing was judged."""
    at = [line.comparisons.get(size) for size in sizes.sizes]
    ratios = [item.findings.get(metric.name) if item else None for item in at]
    found = [line.larger.get(size, {}).get(metric.name) for size in sizes.sizes[1:]]
    if not any(finding and finding.ratio is not None for finding in (*ratios, *found)):
        return []
    texts = [text for finding in found for text in (_text(finding, intervals), which(finding))]
    return [line.test, line.target, SHORT_TITLES[metric.name], *(_text(one, intervals) for one in ratios), *texts]


def _text(finding: Finding | None, intervals: bool) -> str:
    if finding is None or finding.ratio is None:
        return "–"
    return finding_text(finding) if intervals else ratio(finding.ratio)


def which(finding: Finding | None) -> str:
    """`▼ worse with more rows`, `◐ a little better with more rows`, or a dash."""
    if finding is None:
        return "–"
    if finding.verdict is Verdict.SMALL_CHANGE:
        return f"{small_change(finding)} with more rows"
    return f"{SIGNS[finding.verdict]} {_WORDS.get(finding.verdict, str(finding.verdict))}"


def sentences(sizes: Sizes) -> list[str]:
    """What is shown to depend on the size, a line per test and target; or that nothing is."""
    told = [
        f"{line.test} on {line.target}: {'; '.join((line.sentence, *line.plans))}"
        for line in sizes.lines
        if _interacts(line)
    ]
    of = count_of(len(sizes.lines), "comparison")
    return told or [f"Nothing is shown to depend on the size of the tables ({of})."]


def notes() -> list[str]:
    """What the figures are."""
    return [
        "A larger size over the smallest is the ratio of two ratios, target ÷ base with each size, from the blocks that have "
        f"both [{INTERVALS}]: what larger tables cost both targets alike is not in it. It is judged by the metric's margin; "
        "these verdicts are a family of their own and change no other."
    ]


def render(sizes: Sizes, console: Console, *, changed_only: bool = True) -> None:
    """For the terminal: what depends on the size, or all; intervals are left out where it is too narrow for them."""
    say(console, "Several table sizes", "bold")
    for line in sentences(sizes):
        say(console, line)
    if not changed_only or any(map(_interacts, sizes.lines)):
        show(lambda intervals: tables(sizes, intervals, changed_only=changed_only), console)
        for line in notes():
            say(console, line, "dim")
    console.print()


def flat(sizes: Sizes) -> tuple[list[str], list[tuple[Any, ...]]]:
    """One line per test, target, metric and size but the smallest."""
    columns = [
        "test",
        "target",
        "metric",
        "table_size",
        "of_table_size",
        "verdict",
        "ratio",
        "low",
        "high",
        "least",
        "most",
    ]
    columns += ["blocks"]
    rows = [
        (line.test, line.target, name, size, sizes.sizes[0], str(one.verdict), one.ratio, *spread_of(one), one.blocks)
        for line in sizes.lines
        for size, found in line.larger.items()
        for name, one in found.items()
    ]
    return columns, rows


def as_json(sizes: Sizes) -> dict[str, Any]:
    """Plain dicts and lists; sizes as numbers of rows."""
    return {"table_sizes": list(sizes.sizes), "tests": [_line_json(line, sizes.judged) for line in sizes.lines]}


def _line_json(line: SizeLine, judged: Sequence[Metric]) -> dict[str, Any]:
    return {
        "test": line.test,
        "target": line.target,
        "words": line.sentence,
        "plans": list(line.plans),
        "verdicts": {str(size): item.verdict for size, item in line.comparisons.items()},
        "interactions": {
            str(size): {
                metric.name: {
                    "verdict": one.verdict,
                    "ratio": one.ratio,
                    **spread_of(one)._asdict(),
                    "confidence": one.confidence,
                    "blocks": one.blocks,
                }
                for metric in judged
                if (one := found.get(metric.name))
            }
            for size, found in line.larger.items()
        },
    }
