"""The verdict table for the terminal. Colours follow NO_COLOR and are left out when the output is piped."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dbversus.report.figures import PERCENTS
from dbversus.report.model import Assessment, Estimate, LoadFigure, TargetFacts, TestPart
from dbversus.report.parts.experiment import disturbance
from dbversus.report.parts.experiment.loads import is_load_judged, origin_text, times_note
from dbversus.report.parts.notes.cause_words import LIKELY_CAUSE, likely_cause
from dbversus.report.parts.notes.state import DIFFERS
from dbversus.report.terminal import plain_table, print_table, say
from dbversus.report.texts import print_section
from dbversus.report.words import (
    SHORT_TITLES,
    SIGNS,
    change,
    estimate_text,
    finding_text,
    listing,
    number,
    ratio,
    ratios_text,
    sla_mark,
    verdict_legend,
)
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import SPOILT, Finding, Metric, Verdict

_STYLES = {
    Verdict.REGRESSION: "bold red",
    Verdict.IMPROVEMENT: "bold blue",
    Verdict.SMALL_CHANGE: "cyan",
    Verdict.EQUIVALENT: "dim",
    Verdict.NO_STEADY_STATE: "yellow",
    Verdict.UNDECIDED: "default",
    Verdict.NOT_REPLICATED: "default",
    Verdict.UNSTABLE: "yellow",
    Verdict.SLA_FAILED: "bold yellow",
    Verdict.WRONG_RESULT: "bold magenta",
    Verdict.FAILED: "bold magenta",
}
WIDE_COLUMNS = 112
"""With three metrics; each more takes RATIO_COLUMNS."""
RATIO_COLUMNS = 24
NARROW_TITLES = SHORT_TITLES | {THROUGHPUT: "ops/s"}


def render(assessment: Assessment, console: Console, verbose: bool = False) -> None:
    """Prints per target the summary and the verdict table, then what went wrong; `verbose` adds every figure."""
    _sections(assessment, console, is_first=True)
    if not assessment.candidates:
        say(console, assessment.title, "bold")
        print_table(console, _figure_table(assessment))
    for facts in assessment.candidates:
        _candidate(assessment, facts, console)
    _sections(assessment, console, is_first=False)
    for line in _load_lines(assessment):
        say(console, line)
    for test in assessment.tests:
        for sentence in test.worst_seconds:
            say(console, f"{test.name}: {sentence}.")
    say(console, _legend(assessment), "dim")
    if assessment.code_layout:
        say(console, assessment.code_layout, "dim")
    for sentence in disturbance.sentences(assessment):
        say(console, sentence, "yellow" if disturbance.is_relevant(assessment) else "dim")
    if assessment.candidates:
        say(console, assessment.calibration, "dim")
    for sentence in assessment.data_state:
        say(console, sentence, "yellow" if sentence.startswith(DIFFERS) else "dim")
    if assessment.outcome:
        say(console, assessment.outcome, "yellow")
    for sentence in assessment.chosen_base:
        say(console, sentence, "yellow")
    _failures(assessment, console)
    if verbose:
        for test in assessment.tests:
            _test_figures(test, assessment, console)


def _sections(assessment: Assessment, console: Console, *, is_first: bool) -> None:
    for section in assessment.sections:
        if section.on_terminal and section.is_first == is_first:
            print_section(console, section, section.on_terminal)


def _candidate(assessment: Assessment, facts: TargetFacts, console: Console) -> None:
    say(console, f"{facts.target.label} against {assessment.base.label}", "bold")
    for sentence in facts.sentences:
        say(console, sentence)
    console.print()
    comparisons = [item for item in assessment.comparisons if item.target == facts.target.label]
    print_table(console, _verdict_table(comparisons, assessment, console))
    console.print()


def _verdict_table(comparisons: Sequence[Comparison], assessment: Assessment, console: Console) -> Table:
    """One line per test; a narrow terminal gets ratios without their intervals, under short titles."""
    judged = assessment.judged
    causes = [likely_cause(assessment.explanation(item.test, item.target)) for item in comparisons]
    has_cause = assessment.tells_why and any(causes)
    wide = not console.is_terminal or console.width >= WIDE_COLUMNS + RATIO_COLUMNS * max(len(judged) - 3, 0)
    titles = [f"{SHORT_TITLES[metric.name]} ratio" if wide else NARROW_TITLES[metric.name] for metric in judged]
    table = plain_table("test", "verdict", *titles, "blocks", *([LIKELY_CAUSE] if has_cause else []))
    for comparison, cause in zip(comparisons, causes, strict=True):
        of_cause = [Text(cause)] if has_cause else []
        table.add_row(Text(comparison.test), *_cells(comparison, judged, wide), *of_cause)
    return table


def _cells(comparison: Comparison, judged: Sequence[Metric], wide: bool) -> list[Text]:
    verdict = comparison.verdict
    cells = [Text(f"{SIGNS[verdict]} {verdict}", style=_STYLES[verdict])]
    for metric in judged:
        finding = comparison.findings.get(metric.name)
        style = _STYLES[finding.verdict] if finding and verdict not in SPOILT else "dim"
        cells.append(Text(_ratio_text(finding, wide), style=style))
    blocks = max((item.blocks for item in comparison.findings.values()), default=0)
    return [*cells, Text(str(blocks) if blocks else "–")]


def _ratio_text(finding: Finding | None, wide: bool) -> str:
    if wide or finding is None:
        return finding_text(finding)
    return ratio(finding.ratio)


def _figure_table(assessment: Assessment) -> Table:
    """For a single target there is nothing to compare: its own figures."""
    label = assessment.base.label
    table = plain_table("test", "throughput, ops/s", "CPU/op, µs", "IO/op, bytes", "blocks")
    for test in assessment.tests:
        by_name = {figure.metric: figure.estimates[label] for figure in test.figures}
        known = [by_name.get(name) for name in (THROUGHPUT, CPU, IO_BYTES)]
        cells = [estimate_text(item) if item else "–" for item in known]
        cells[0] += sla_mark(test, label)
        table.add_row(Text(test.name), *cells, str(max((item.n for item in known if item), default=0)))
    return table


def _legend(assessment: Assessment) -> str:
    if not assessment.candidates:
        return f"Means over blocks with 95 % intervals; {assessment.blocks} blocks."
    return (
        f"{ratios_text(assessment.base.label, assessment.findings)}\n"
        f"{verdict_legend(comparison.verdict for comparison in assessment.comparisons)}"
    )


def _load_lines(assessment: Assessment) -> list[str]:
    """`load of sbtest1 (n = 1): postgres:13.1 244,000 rows/s, postgres:17.11 239,000 rows/s (−2.0 %).`

    `first load`, where the load is a test, too.
    """
    tables: dict[str, list[LoadFigure]] = {}
    for load in assessment.loads:
        tables.setdefault(load.table, []).append(load)
    what = "first load" if is_load_judged(assessment) else "load"
    lines = [f"{what} of {table} (n = 1): {_of_table(loads)}." for table, loads in tables.items()]
    return [*lines, *filter(None, [times_note(assessment.loads)])]


def _of_table(loads: Sequence[LoadFigure]) -> str:
    """Loads one by one, then those that have the data of another, together."""
    own, sharing = [], dict[str, list[str]]()
    for load in loads:
        if load.shares and load.shares != load.target:
            sharing.setdefault(load.shares, []).append(load.target)
        else:
            own.append(f"{load.target} {_load_text(load)}")
    together = [
        f"{listing(labels, most=3)} {'shares' if len(labels) == 1 else 'share'} the data of {owner}"
        for owner, labels in sharing.items()
    ]
    return "; ".join([", ".join(own), *together])


def _load_text(load: LoadFigure) -> str:
    if load.shares:
        return origin_text(load)
    against = change(load.rate_ratio) if load.rate_ratio else ""
    said = "; ".join(filter(None, [against, f"loaded {origin_text(load)}" if load.earlier else ""]))
    return f"{number(load.rows_per_s)} rows/s{f' ({said})' if said else ''}"


def _failures(assessment: Assessment, console: Console) -> None:
    if not assessment.failures:
        return
    console.print()
    say(console, "What went wrong", "bold")
    for failure in assessment.failures:
        place = ", ".join(part for part in (failure.stage, failure.where) if part)
        out = " (out from here on)" if failure.final else ""
        say(console, f"{failure.target} ({place}){out}: {failure.message}", _STYLES[Verdict.FAILED])


def _test_figures(test: TestPart, assessment: Assessment, console: Console) -> None:
    console.print()
    say(console, f"{test.name} · {test.group} · {test.how}", "bold")
    for comparison in test.comparisons:
        for note in comparison.notes:
            say(console, f"{comparison.target}: {note}")
    for note in test.notes:
        say(console, note, "yellow")
    table = plain_table("  figure", "unit", *(facts.target.label for facts in assessment.targets))
    for figure in test.figures:
        cells = [_figure_cell(figure.estimates[facts.target.label]) for facts in assessment.targets]
        table.add_row(f"  {figure.title}", figure.unit, *cells)
    for rank in PERCENTS:
        table.add_row(f"  latency p{rank:g}, all operations", "µs", *_latency_cells(test, assessment, rank))
    print_table(console, table)


def _figure_cell(estimate: Estimate) -> str:
    return f"{estimate_text(estimate)} n={estimate.n}"


def _latency_cells(test: TestPart, assessment: Assessment, rank: float) -> list[str]:
    labels = [facts.target.label for facts in assessment.targets]
    return [
        _figure_cell(test.latency[label].percentiles_us[rank]) if label in test.latency else "–" for label in labels
    ]
