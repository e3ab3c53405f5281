"""The verdicts: a line per test and target, with the ratio of each judged metric."""

from collections.abc import Mapping, Sequence

from dbversus.report.judged import in_means
from dbversus.report.model import Assessment
from dbversus.report.table import (
    IN_MEANS,
    MEANS_NOTE,
    NOTHING,
    Cell,
    Column,
    Form,
    Lines,
    Mean,
    Sheet,
    Table,
    Value,
    of_ratio,
    ratio_cells,
)
from dbversus.report.words import SHORT_TITLES, SIGNS, ratios_text, verdict_legend, worse_ratios
from dbversus.stats.comparison import Comparison
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import SPOILT, Finding, Metric, Verdict


def sheet(assessment: Assessment) -> Sheet | None:
    if not assessment.comparisons:
        return None
    kinds = {test.name: test.group for test in assessment.tests}
    base, judged = assessment.base.label, assessment.judged
    notes = [
        ratios_text(base, assessment.findings),
        f"{worse_ratios(judged)} worse than the base.",
        verdict_legend(comparison.verdict for comparison in assessment.comparisons),
        "What is to be known of single tests is on the sheet “Notes”.",
        MEANS_NOTE,
    ]
    return Sheet(
        "Verdicts",
        f"Verdicts against {base}",
        [table(assessment.comparisons, judged, kinds), Lines("Notes", notes)],
    )


def table(comparisons: Sequence[Comparison], judged: Sequence[Metric], kinds: Mapping[str, str]) -> Table:
    """`kinds` by test; those of tests that have none are left out."""
    titles = [SHORT_TITLES[metric.name] for metric in judged]
    columns = [Column("test"), Column("target"), Column("kind"), Column("verdict")]
    for title in titles:
        columns += [*of_ratio(title), Column(f"{title} is")]
    columns += [Column("blocks", Form.COUNT), Column(IN_MEANS)]
    rows = [_row(item, judged, kinds.get(item.test, "")) for item in comparisons]
    means = _means(comparisons, kinds, [f"{title} ratio" for title in titles])
    is_of_one = len({item.target for item in comparisons}) == 1  # of several, the sheets of ratios have charts
    bars = [f"{SHORT_TITLES[name]} ratio" for name in (CPU, THROUGHPUT)] if is_of_one else []
    return Table(columns, rows, lead=2, means=means, bars=bars).trimmed()


def _row(item: Comparison, judged: Sequence[Metric], kind: str) -> list[Cell | Value]:
    cells: list[Cell | Value] = [item.test, item.target, kind, verdict_cell(item.verdict)]
    for metric in judged:
        cells += finding_cells(item.findings.get(metric.name), counts=item.verdict not in SPOILT)
    blocks = max((finding.blocks for finding in item.findings.values()), default=0)
    return [*cells, blocks, in_means(item)]


def verdict_cell(verdict: Verdict) -> Cell:
    return Cell(f"{SIGNS[verdict]} {verdict}", verdict)


def finding_cells(finding: Finding | None, *, counts: bool = True) -> list[Cell]:
    """Ratio and interval, and the word for their colour; neither word nor colour where the figures of the test do not count."""
    if finding is None:
        return [*map(Cell, NOTHING), Cell(None)]
    if finding.lacks_operations:
        return [*map(Cell, NOTHING), Cell("too few operations")]
    if not counts:
        return [*ratio_cells(finding), Cell(None)]
    return [*ratio_cells(finding, finding.verdict), verdict_cell(finding.verdict)]


def _means(comparisons: Sequence[Comparison], kinds: Mapping[str, str], titles: Sequence[str]) -> list[Mean]:
    """Of each target, over all its tests; then, where there are several kinds of tests, over each kind."""
    of = dict.fromkeys(titles, IN_MEANS)
    targets = dict.fromkeys(item.target for item in comparisons)
    shown = dict.fromkeys(kind for item in comparisons if (kind := kinds.get(item.test)))
    means = [Mean(of, {"target": target}) for target in targets]
    if len(shown) > 1:
        means += [Mean(of, {"kind": kind, "target": target}) for kind in shown for target in targets]
    return means
