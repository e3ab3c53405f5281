"""A ratio at each level of a factor, and the ratio of two such ratios, in tables and words: of sizes of tables, of experiments.

stats/across/contrast.py has the figures. A factor says what its levels are called, and what depending on it is called.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, ClassVar, Generic, TypeVar

from dbversus.report.table import Cell, Column, Form, Row, Table, ratio_cell
from dbversus.report.words import SHORT_TITLES, SIGNS, listing, percent, small_change
from dbversus.stats.comparison import Comparison
from dbversus.stats.model import CHANGES, DIFFERS, SPOILT, WITHIN, Finding, Metric, Verdict
from dbversus.units import count_of

P = TypeVar("P", bound=int | str)
"""A level: a size, the name of an experiment."""

_WORDS = {Verdict.REGRESSION: "worse", Verdict.IMPROVEMENT: "better", Verdict.EQUIVALENT: "the same"}


class Factor(ABC, Generic[P]):
    """The words of one factor. `what` things depend on; `level`: the title of a column with levels, and what programs call it.

    `unshown`: nothing at all is known; `not_shown`: verdicts differ, and that may be chance; `more`: behind worse or better.
    `unjudged`: why there is no ratio of ratios at all.
    """

    what: ClassVar[str]
    level: ClassVar[Column]
    same: ClassVar[str]
    unshown: ClassVar[str]
    not_shown: ClassVar[str]
    everywhere: ClassVar[str]
    unjudged: ClassVar[str]
    more: ClassVar[str] = ""
    at: ClassVar[str] = ""

    @abstractmethod
    def called(self, level: P) -> str:
        """`10m`"""

    @abstractmethod
    def named(self, levels: Sequence[P]) -> str:
        """`with 10m rows per table`"""

    @abstractmethod
    def named_again(self, levels: Sequence[P]) -> str:
        """`with 10m`, behind a full name."""

    @abstractmethod
    def trend(self, moved: Mapping[P, Verdict]) -> str:
        """Which way target ÷ base goes; `moved`: the levels where it is shown to be another than at the first."""


@dataclass(frozen=True)
class Line(Generic[P]):
    """One test on one candidate. `comparisons`: by level, of those that have it.

    `interactions`: for each level but the first, findings by metric on the ratio of target ÷ base there over that at the first.
    `sentence`: what all say together; `plans`: whose plans are others, in words; `left_out`: why a metric has no interaction.
    """

    test: str
    target: str
    comparisons: Mapping[P, Comparison]
    interactions: Mapping[P, Mapping[str, Finding]]
    sentence: str
    plans: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contrast(Generic[P]):
    """`levels`, the first of which the others are set against. `judged`: metrics that are shown."""

    factor: Factor[P]
    levels: tuple[P, ...]
    lines: tuple[Line[P], ...]
    judged: tuple[Metric, ...]

    @property
    def findings(self) -> list[Finding]:
        """All interactions of the metrics that are shown."""
        return [finding for line in self.lines for finding in self.of_line(line)]

    def of_line(self, line: Line[P]) -> list[Finding]:
        shown = {metric.name for metric in self.judged}
        return [one for of_level in line.interactions.values() for one in of_level.values() if one.metric in shown]

    @property
    def changed(self) -> list[Line[P]]:
        """Those that are shown to depend on the factor."""
        return [line for line in self.lines if any(one.verdict in CHANGES for one in self.of_line(line))]


def table(found: Contrast[P], title: str, lines: Sequence[Line[P]]) -> Table:
    """For eyes: a line per test, target and metric, of which anything is known."""
    factor, (first, *others) = found.factor, found.levels
    columns = [Column("test"), Column("target"), Column("metric")]
    columns += [Column(f"{factor.at}{factor.called(level)}", Form.RATIO, spread=True) for level in found.levels]
    for level in others if found.findings else ():
        columns += [Column(f"{factor.called(level)} over {factor.called(first)}", Form.RATIO, spread=True)]
        columns += [Column("which is")]
    rows = [_row(line, metric, found) for line in lines for metric in found.judged if _is_known(line, metric)]
    return Table(columns, rows, title=title)


def _is_known(line: Line[P], metric: Metric) -> bool:
    own = [_finding(item, metric) for item in line.comparisons.values()]
    over = [of_level.get(metric.name) for of_level in line.interactions.values()]
    return any(one and one.ratio is not None for one in (*own, *over))


def _row(line: Line[P], metric: Metric, found: Contrast[P]) -> Row:
    row: list[Cell | str] = [line.test, line.target, SHORT_TITLES[metric.name]]
    row += [_own(line.comparisons.get(level), metric) for level in found.levels]
    for level in found.levels[1:] if found.findings else ():
        one = line.interactions.get(level, {}).get(metric.name)
        row += [ratio_cell(one), Cell(which(one, found.factor))]
    return row


def _own(item: Comparison | None, metric: Metric) -> Cell:
    """`▼ 1.081 [1.070, 1.092]`; a test whose figures do not count has its sign alone."""
    if item is None:
        return Cell(None)
    finding, verdict = _finding(item, metric), verdict_of(item, metric)
    if finding is None or verdict is not finding.verdict:
        return Cell(SIGNS[verdict])
    return ratio_cell(finding)._replace(sign=SIGNS[verdict])


def _finding(item: Comparison | None, metric: Metric) -> Finding | None:
    return item.findings.get(metric.name) if item else None


def verdict_of(item: Comparison, metric: Metric) -> Verdict:
    """That of the metric; of the whole test where its figures do not count."""
    finding = _finding(item, metric)
    return item.verdict if finding is None or item.verdict in SPOILT else finding.verdict


def which(finding: Finding | None, factor: Factor[P]) -> str:
    """`▼ worse with more rows`, `◐ a little better`, or a dash."""
    if finding is None:
        return "–"
    if finding.verdict is Verdict.SMALL_CHANGE:
        return f"{small_change(finding)}{factor.more}"
    more = factor.more if finding.verdict in CHANGES else ""
    return f"{SIGNS[finding.verdict]} {_WORDS.get(finding.verdict, finding.verdict)}{more}"


def data(found: Contrast[P], title: str = "", sheet: str = "", notes: Sequence[str] = ()) -> Table:
    """For sheets and programs: a line per test, target, metric and level: its own ratio, and its ratio over the first's."""
    columns = [
        *(Column("test"), Column("target"), Column("metric"), found.factor.level, Column("verdict")),
        *(Column("ratio", Form.RATIO, spread=True), Column("blocks", Form.COUNT)),
        *(Column("over", found.factor.level.form), Column("interaction")),
        Column("interaction ratio", Form.RATIO, spread=True, name="interaction_ratio", ends="interaction_"),
        Column("interaction blocks", Form.COUNT, name="interaction_blocks"),
        Column("interaction q-value", Form.NUMBER, name="interaction_q_value"),
        Column("margin", Form.SHARE),
    ]
    rows: list[Row] = [
        [line.test, line.target, metric.name, level, *_of_level(item, metric), *_over(line, metric, level, found)]
        for line in found.lines
        for metric in found.judged
        for level, item in line.comparisons.items()
    ]
    return Table(columns, rows, lead=2, title=title, sheet=sheet, notes=notes)


def _of_level(item: Comparison, metric: Metric) -> Row:
    one, verdict = _finding(item, metric), verdict_of(item, metric)
    said = Cell(str(verdict), verdict)
    if one is None or verdict is not one.verdict:
        return [said, None, 0]
    return [said, ratio_cell(one, verdict), one.blocks]


def _over(line: Line[P], metric: Metric, level: P, found: Contrast[P]) -> Row:
    """None of the first level, and where there is no interaction."""
    one = line.interactions.get(level, {}).get(metric.name)
    if one is None:
        return [None] * 6
    said = Cell(str(one.verdict), one.verdict)
    return [found.levels[0], said, ratio_cell(one, one.verdict), one.blocks, one.q_value, one.margin]


def content(findings: Mapping[str, Finding], judged: Sequence[Metric]) -> dict[str, Any]:
    """Of a level, for JSON: by metric."""
    names = ("verdict", "ratio", "low", "high", "least", "most", "confidence", "blocks", "q_value", "margin")
    return {
        metric.name: {name: getattr(findings[metric.name], name) for name in names}
        for metric in judged
        if metric.name in findings
    }


def sentences(found: Contrast[P]) -> list[str]:
    """What is shown to depend on the factor, a line per test and target, or that nothing is; then how the rest stands."""
    comparisons = count_of(len(found.lines), "comparison")
    if not found.findings:
        return [
            f"Whether anything depends on {found.factor.what} is not judged ({comparisons}): {found.factor.unjudged}."
        ]
    told = [f"{line.test} on {line.target}: {'; '.join((line.sentence, *line.plans))}." for line in found.changed]
    told = told or [f"Nothing is shown to depend on {found.factor.what} ({comparisons})."]
    counts = Counter(finding.verdict for finding in found.findings)
    changed = sum(counts[verdict] for verdict in CHANGES)
    same, undecided = sum(counts[verdict] for verdict in WITHIN), counts[Verdict.UNDECIDED]
    count = count_of(len(found.findings), "interaction")
    told.append(f"{count}: {changed:,} shown, {same:,} the same within the margin, {undecided:,} undecided.")
    return [*told, *_could_be_missed(found.findings)]


def _could_be_missed(findings: Iterable[Finding]) -> Iterator[str]:
    """What \"undecided\" leaves open."""
    open_ones = [one for one in findings if one.verdict is Verdict.UNDECIDED]
    limits = [one.smallest_visible_change for one in open_ones if one.smallest_visible_change is not None]
    if limits:
        yield (
            f"A difference of {percent(median(limits))} or more (the median of the undecided ones) is found with a chance of "
            "90 %; smaller ones take more blocks."
        )


def dependence(
    comparisons: Mapping[P, Comparison], interactions: Mapping[P, Mapping[str, Finding]], factor: Factor[P]
) -> str:
    """`CPU/op: the regression is there only with 10m rows per table`. `interactions`: all levels but the first, by metric."""
    found = [finding for findings in interactions.values() for finding in findings.values()]
    interacting = dict.fromkeys(finding.metric for finding in found if finding.verdict in CHANGES)
    if interacting:
        said: dict[str, list[str]] = defaultdict(list)
        for metric in interacting:
            said[_of_metric(metric, comparisons, interactions, factor)].append(SHORT_TITLES[metric])
        return "; ".join(f"{listing(titles)}: {words}" for words, titles in said.items())
    if found and all(finding.verdict in WITHIN for finding in found) and _complete(interactions):
        return factor.same
    verdicts = {place: item.verdict for place, item in comparisons.items()}
    if any(verdict in CHANGES for verdict in verdicts.values()) and len(set(verdicts.values())) > 1:
        return f"{_by_place(verdicts, factor)}; {factor.not_shown}"
    return factor.unshown


def _complete(interactions: Mapping[P, Mapping[str, Finding]]) -> bool:
    """Whether what is known of any place is known of all."""
    metrics = {metric for findings in interactions.values() for metric in findings}
    return all(findings.keys() == metrics for findings in interactions.values())


def _of_metric(
    metric: str,
    comparisons: Mapping[P, Comparison],
    interactions: Mapping[P, Mapping[str, Finding]],
    factor: Factor[P],
) -> str:
    """Of a metric that is shown to depend on the factor."""
    verdicts = {
        place: item.findings[metric].verdict if metric in item.findings else item.verdict
        for place, item in comparisons.items()
    }
    moved = {
        place: findings[metric].verdict
        for place, findings in interactions.items()
        if metric in findings and findings[metric].verdict in CHANGES
    }
    kinds = {verdict for verdict in verdicts.values() if verdict in CHANGES}
    if len(kinds) == 1:
        (kind,) = kinds
        places = [place for place, verdict in verdicts.items() if verdict is kind]
        if set(verdicts.values()) == {kind, Verdict.EQUIVALENT}:
            return f"the {kind} is there only {factor.named(places)}"
        if len(places) == len(verdicts):
            return f"{_article(kind)} {factor.everywhere}, {factor.trend(moved)}"
    return f"{_by_place(verdicts, factor)}, {factor.trend(moved)}"


def _by_place(verdicts: Mapping[P, Verdict], factor: Factor[P]) -> str:
    """`a regression with 10m rows per table, undecided with 1m`: changes first."""
    by_verdict: dict[Verdict, list[P]] = defaultdict(list)
    for place, verdict in sorted(verdicts.items(), key=lambda pair: pair[1] not in CHANGES):
        by_verdict[verdict].append(place)
    words = [_article(verdict) if verdict in DIFFERS else str(verdict) for verdict in by_verdict]
    named = [
        factor.named_again(places) if number else factor.named(places)
        for number, places in enumerate(by_verdict.values())
    ]
    return ", ".join(f"{said} {places}" for said, places in zip(words, named, strict=True))


def _article(kind: Verdict) -> str:
    return f"{'an' if kind is Verdict.IMPROVEMENT else 'a'} {kind}"
