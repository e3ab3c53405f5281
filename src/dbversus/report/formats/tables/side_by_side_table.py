"""The tables of experiments side by side, the same in every format; and flat, for CSV and JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from rich.console import Console

from dbversus.report.formats.tables.matrix_table import Table, show
from dbversus.report.side_by_side.model import BesideLine, Facts, SideBySide
from dbversus.report.terminal import say
from dbversus.report.words import (
    INTERVALS,
    SHORT_TITLES,
    SIGNS,
    finding_text,
    margins_text,
    percent,
    ratio,
    small_change,
    verdict_legend,
)
from dbversus.stats.comparison import Comparison
from dbversus.stats.means import spread_of
from dbversus.stats.model import CHANGES, SPOILT, WITHIN, Finding, Metric, Verdict
from dbversus.units import count_of

_WORDS = {Verdict.REGRESSION: "worse", Verdict.IMPROVEMENT: "better", Verdict.EQUIVALENT: "the same"}
_FACTS = {
    "name": "experiment",
    "host": "host",
    "kernel": "kernel",
    "table_sizes": "rows per table",
    "clients": "clients",
    "blocks": "blocks",
    "measured": "begun",
    "directory": "results",
}


def title(found: SideBySide) -> str:
    return f"{count_of(len(found.experiments), 'experiment')} side by side: {', '.join(found.names)}"


def tables(found: SideBySide, intervals: bool = True) -> list[Table]:
    """The experiments; then a line per test, target and metric."""
    first, *others = found.names
    columns = ["test", "target", "metric", *found.names]
    if found.findings:
        columns += [text for name in others for text in (f"{name} over {first}", "which is")]
    rows = [_row(line, metric, found, intervals) for line in found.lines for metric in found.judged]
    return [_experiments(found), Table(f"Ratios to {found.base}", columns, [row for row in rows if row])]


def _experiments(found: SideBySide) -> Table:
    rows = [[str(value) if value else "–" for value in _facts(one).values()] for one in found.experiments]
    return Table("Experiments", list(_FACTS.values()), rows)


def _facts(one: Facts) -> dict[str, Any]:
    return {name: getattr(one, name) for name in _FACTS}


def _row(line: BesideLine, metric: Metric, found: SideBySide, intervals: bool) -> list[str]:
    """Empty where nothing was measured."""
    of_all = [line.comparisons.get(name) for name in found.names]
    over = [line.interactions.get(name, {}).get(metric.name) for name in found.names[1:]]
    findings = [_finding(item, metric) for item in of_all]
    if not any(one and one.ratio is not None for one in findings):
        return []
    ratios = [_own(item, metric, intervals) for item in of_all]
    texts = [text for one in over for text in (_text(one, intervals), _which(one))] if found.findings else []
    return [line.test, line.target, SHORT_TITLES[metric.name], *ratios, *texts]


def _finding(item: Comparison | None, metric: Metric) -> Finding | None:
    return item.findings.get(metric.name) if item else None


def _own(item: Comparison | None, metric: Metric, intervals: bool) -> str:
    """`1.081 [1.070, 1.092] ▼`; a test whose figures do not count has its sign alone."""
    if item is None:
        return "–"
    finding = _finding(item, metric)
    verdict = _verdict(item, metric)
    return f"{_text(finding, intervals)} {SIGNS[verdict]}" if finding and verdict is finding.verdict else SIGNS[verdict]


def _verdict(item: Comparison, metric: Metric) -> Verdict:
    """That of the metric; of the whole test where its figures do not count."""
    finding = _finding(item, metric)
    return item.verdict if finding is None or item.verdict in SPOILT else finding.verdict


def _text(finding: Finding | None, intervals: bool) -> str:
    if finding is None or finding.ratio is None:
        return "–"
    return finding_text(finding) if intervals else ratio(finding.ratio)


def _which(finding: Finding | None) -> str:
    """`▼ worse`, `◐ a little better`, or a dash."""
    if finding is None:
        return "–"
    if finding.verdict is Verdict.SMALL_CHANGE:
        return small_change(finding)
    return f"{SIGNS[finding.verdict]} {_WORDS.get(finding.verdict, finding.verdict)}"


def sentences(found: SideBySide) -> list[str]:
    """What is shown to depend on the experiment, a line per test and target, or that nothing is; then how the rest stands."""
    if not found.findings:
        return [
            f"Whether anything depends on the experiment is not judged ({count_of(len(found.lines), 'comparison')}): no test has "
            "figures that count from blocks of two experiments."
        ]
    told = [f"{line.test} on {line.target}: {line.sentence}." for line in found.lines if _interacts(line, found)]
    if not told:
        told = [f"Nothing is shown to depend on the experiment ({count_of(len(found.lines), 'comparison')})."]
    counts = Counter(finding.verdict for finding in found.findings)
    changed = sum(counts[verdict] for verdict in CHANGES)
    same, undecided = sum(counts[verdict] for verdict in WITHIN), counts[Verdict.UNDECIDED]
    count = count_of(len(found.findings), "interaction")
    told.append(f"{count}: {changed:,} shown, {same:,} the same within the margin, {undecided:,} undecided.")
    return [*told, *_could_be_missed(found.findings)]


def _could_be_missed(findings: Sequence[Finding]) -> list[str]:
    """What \"undecided\" leaves open."""
    open_ones = [one for one in findings if one.verdict is Verdict.UNDECIDED]
    limits = [one.smallest_visible_change for one in open_ones if one.smallest_visible_change is not None]
    if not limits:
        return []
    return [
        f"A difference of {percent(median(limits))} or more (the median of the undecided ones) is found with a chance of 90 %; "
        "smaller ones take more blocks."
    ]


def _interacts(line: BesideLine, found: SideBySide) -> bool:
    shown = {metric.name for metric in found.judged}
    return any(
        finding.verdict in CHANGES and finding.metric in shown
        for of_one in line.interactions.values()
        for finding in of_one.values()
    )


def notes(found: SideBySide) -> list[str]:
    """What the figures are, and what has to be known before they are believed."""
    said = [f"Ratios are target/{found.base}, each of one experiment by itself [{INTERVALS}]."]
    if found.findings:
        said += _of_interactions(found)
    verdicts = {
        _verdict(item, metric) for line in found.lines for item in line.comparisons.values() for metric in found.judged
    }
    said.append(verdict_legend(verdicts))
    return [*said, *found.notes]


def _of_interactions(found: SideBySide) -> list[str]:
    first = found.names[0]
    return [
        f"An experiment over {first} is the ratio of these two ratios, from all blocks of both, which have nothing in common: "
        "what a host costs both targets alike is not in it. The target is worse or better against the base than there, or the "
        "same, by the wider margin of both; these verdicts are a family of their own and change no other. "
        f"Margins: {margins_text(found.findings)}.",
        "Each experiment is one run. What is shown to differ between two runs may be due to the host, or to whatever else was "
        "different: a second run on the same host tells them apart.",
    ]


def render(found: SideBySide, console: Console) -> None:
    """For the terminal; intervals are left out where it is too narrow for them."""
    say(console, title(found), "bold")
    for line in sentences(found):
        say(console, line)
    console.print()
    show(lambda intervals: tables(found, intervals), console)
    for line in notes(found):
        say(console, line, "dim")


def flat(found: SideBySide) -> tuple[list[str], list[tuple[Any, ...]]]:
    """A line per test, target, metric and experiment: its own ratio, and its ratio over that of the first."""
    columns = ["test", "target", "metric", "experiment", "verdict", "ratio", "low", "high", "least", "most"]
    columns += ["blocks"]
    columns += ["over", "interaction", "interaction_ratio", "interaction_low", "interaction_high"]
    columns += ["interaction_least", "interaction_most", "interaction_blocks"]
    columns += ["interaction_q_value", "margin"]
    rows = [
        (line.test, line.target, metric.name, name, *_flat_own(item, metric), *_flat_over(line, metric, name, found))
        for line in found.lines
        for metric in found.judged
        for name, item in line.comparisons.items()
    ]
    return columns, rows


def _flat_own(item: Comparison, metric: Metric) -> tuple[Any, ...]:
    one, verdict = _finding(item, metric), _verdict(item, metric)
    if one is None or verdict is not one.verdict:
        return str(verdict), *(None,) * 5, 0
    return str(verdict), one.ratio, *spread_of(one), one.blocks


def _flat_over(line: BesideLine, metric: Metric, name: str, found: SideBySide) -> tuple[Any, ...]:
    """None of the first experiment, and where there is no interaction."""
    one = line.interactions.get(name, {}).get(metric.name)
    if one is None:
        return (None,) * 10
    return found.names[0], str(one.verdict), one.ratio, *spread_of(one), one.blocks, one.q_value, one.margin


def as_json(found: SideBySide) -> dict[str, Any]:
    """Plain dicts and lists."""
    return {
        "base": found.base,
        "experiments": [asdict(one) for one in found.experiments],
        "sentences": sentences(found),
        "notes": list(found.notes),
        "tests": [_line_json(line, found) for line in found.lines],
    }


def _line_json(line: BesideLine, found: SideBySide) -> dict[str, Any]:
    shown = [metric.name for metric in found.judged]
    return {
        "test": line.test,
        "target": line.target,
        "words": line.sentence,
        "left_out": list(line.left_out),
        "experiments": {
            name: {"verdict": item.verdict, "metrics": _findings_json(item.findings, shown)}
            for name, item in line.comparisons.items()
        },
        "interactions": {name: _findings_json(of_one, shown) for name, of_one in line.interactions.items()},
    }


def _findings_json(findings: Mapping[str, Finding], shown: Sequence[str]) -> dict[str, Any]:
    names = ("verdict", "ratio", "low", "high", "least", "most", "confidence", "blocks", "q_value", "margin")
    return {metric: {name: getattr(findings[metric], name) for name in names} for metric in shown if metric in findings}
