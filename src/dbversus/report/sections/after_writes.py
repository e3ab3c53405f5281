"""Tests that a suite runs before its writes and once more after them: what the writes have left behind, on each target."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbversus.report.judged import Judged
from dbversus.report.parts.overview.block_logs import METRICS, Places, logs_against_base, own_logs
from dbversus.report.parts.overview.shades import shade
from dbversus.report.section import Section
from dbversus.report.table import Cell, Column, Form, Row, Table
from dbversus.report.words import SHORT_TITLES, change, listing
from dbversus.results.stored import Results
from dbversus.stats.across.contrast import ratio_over
from dbversus.stats.comparison import Comparison
from dbversus.stats.means import CONFIDENCE, Ratio, spread_of
from dbversus.stats.metrics import THROUGHPUT, metric_named
from dbversus.stats.model import SPOILT
from dbversus.units import count_of

_BEFORE = re.compile(r"(?P<test>.+?)\.pre(?P<case>[.@].+)?")
"""`scan.pre`, `scan.pre@4`; of imports also `point-query.pre.range100@1`."""


LACKS = "has no test that is run before writes and after them; --table after_writes needs one (`scan.pre` and `scan`)."
TITLE = "Tests after the writes against before them"


@dataclass(frozen=True)
class Line:
    """A test that was run `before` the writes of a suite and `after` them, by the names of both, on one target.

    Ratios by metric, after ÷ before. `against_base`: that ratio over the base's, from same-row pairs; empty for the base.
    """

    before: str
    after: str
    target: str
    ratios: Mapping[str, Ratio]
    against_base: Mapping[str, Ratio]


def section(judged: Judged) -> Section | None:
    lines = lines_of(judged.results, judged.comparisons)
    if not lines:
        return None
    return Section(
        title="Before and after the writes",
        sentences=sentences(lines, judged.labels[0]),
        tables=[_table(lines)],
        notes=[note(lines)],
        content=[_content(line) for line in lines],
    )


def _table(lines: Sequence[Line]) -> Table:
    compared = _compared(lines)
    columns = [Column("test"), Column("target")]
    columns += [_column(name, "after ÷ before", "") for name in METRICS]
    columns += [_column(name, "over base's", "_over_base") for name in METRICS] if compared else []
    rows = [_row(line, compared) for line in lines]
    return Table([*columns, Column("blocks", Form.COUNT)], rows, lead=2, title=TITLE, sheet="After writes")


def _column(metric: str, what: str, end: str) -> Column:
    """A title of words has no room for `ratio` in it, which is said of sheets' columns."""
    name = SHORT_TITLES[metric].lower().replace("/", "_per_")
    title = f"{SHORT_TITLES[metric]}{',' if end else ''} {what}"
    return Column(title, Form.RATIO, spread=True, name=f"{name}{end}_ratio", ends=f"{name}{end}_")


def _row(line: Line, compared: bool) -> Row:
    kinds = (line.ratios, line.against_base) if compared else (line.ratios,)
    cells = [_cell(name, ratios.get(name)) for ratios in kinds for name in METRICS]
    return [line.after, line.target, *cells, min(one.blocks for one in line.ratios.values())]


def _cell(metric: str, found: Ratio | None) -> Cell:
    """With a shade where the interval leaves 1 out."""
    if found is None:
        return Cell(None)
    better = metric_named(metric).higher_is_better
    look = shade(found.value, higher_is_better=better) if _is_under(found) or _is_over(found) else ""
    return Cell(found.value, look, spread_of(found))


def _compared(lines: Sequence[Line]) -> bool:
    return any(line.against_base for line in lines)


def note(lines: Sequence[Line]) -> str:
    """What the figures are."""
    intervals = f" [{CONFIDENCE:.0%} interval over blocks that have both]" if _has_intervals(lines) else ""
    said = (
        "After ÷ before: the same statements on the same target, after the writes of the suite and before "
        f"them{intervals}. It shows what writes leave behind: fragmentation, dead rows, debt not yet paid, and what became warm. "
        "The two are measured minutes apart, so what the host did between is in it."
    )
    if _compared(lines):
        pairs = ", from pairs of the same rows, in which most of that cancels" if intervals else ""
        said += f" Over base's: that ratio over the base's{pairs}."
    return f"{said} They describe; none is a verdict."


def _content(line: Line) -> dict[str, Any]:
    return {
        "before": line.before,
        "after": line.after,
        "target": line.target,
        "ratios": _ratios_content(line.ratios),
        "over_base": _ratios_content(line.against_base),
    }


def _ratios_content(ratios: Mapping[str, Ratio]) -> dict[str, Any]:
    return {
        name: {"ratio": one.value, **spread_of(one)._asdict(), "blocks": one.blocks} for name, one in ratios.items()
    }


def pairs_of(tests: Sequence[str]) -> list[tuple[str, str]]:
    """The names of a test before and after: `scan.pre@4` with `scan.post@4`, or with `scan@4` where phases have no `.post`."""
    found = []
    for name in tests:
        if match := _BEFORE.fullmatch(name):
            case = match["case"] or ""
            after = (f"{match['test']}.post{case}", f"{match['test']}{case}")
            found += [(name, other) for other in after if other in tests][:1]
    return found


def lines_of(results: Results, comparisons: Sequence[Comparison] = ()) -> list[Line]:
    """By test and target, in their order. `comparisons`: with verdicts; what does not count there is left out."""
    pairs = pairs_of(results.tests)
    if not pairs:
        return []
    own, differences = own_logs(results), logs_against_base(results)
    spoilt = {(item.test, item.target) for item in comparisons if item.verdict in SPOILT}
    lines = []
    for before, after in pairs:
        for label in (target.label for target in results.targets):
            ratios = _ratios(own, before, after, label)
            if ratios and not spoilt & {(before, label), (after, label)}:
                lines.append(Line(before, after, label, ratios, _ratios(differences, before, after, label)))
    return lines


def _ratios(logs: dict[str, Places], before: str, after: str, label: str) -> dict[str, Ratio]:
    found = {
        name: ratio_over(logs[name].get((after, label), {}), logs[name].get((before, label), {})) for name in METRICS
    }
    return {name: ratio for name, ratio in found.items() if ratio is not None}


def sentences(lines: Sequence[Line], base: str) -> list[str]:
    """What the intervals show, for each target: its own tests after the writes against before, then against the base."""
    labels = list(dict.fromkeys(line.target for line in lines))
    said = [sentence for label in labels for sentence in _of_target(lines, label, base)]
    if said or _has_intervals(lines):
        return said or ["No interval shows a test to differ after the writes from before them, on any target."]
    return [_without_intervals(lines, label) for label in labels]


def _of_target(lines: Sequence[Line], label: str, base: str) -> Iterator[str]:
    own = [line for line in lines if line.target == label]
    for name in METRICS:
        where = f"after the writes than before them on {label}"
        yield from _shifted([(line.after, line.ratios.get(name)) for line in own], name, where)
    for name in METRICS:
        where = f"after ÷ before on {label} than on {base}"
        yield from _shifted([(line.after, line.against_base.get(name)) for line in own], name, where)


def _shifted(ratios: Sequence[tuple[str, Ratio | None]], metric: str, where: str) -> Iterator[str]:
    """`throughput is lower after …, with an interval under 1, in 2 of 8 tests: scan (−20 %) and …`"""
    known = [(test, ratio) for test, ratio in ratios if ratio is not None]
    for word, side, is_there in (("lower", "under", _is_under), ("higher", "over", _is_over)):
        found = sorted((pair for pair in known if is_there(pair[1])), key=lambda pair: -_distance(pair[1]))
        if found:
            named = listing([f"{test} ({change(ratio.value)})" for test, ratio in found])
            title = SHORT_TITLES[metric]
            yield (
                f"{title[:1].upper()}{title[1:]} is {word} {where}, with an interval {side} 1, "
                f"in {len(found)} of {len(known)} tests: {named}."
            )


def _is_under(ratio: Ratio) -> bool:
    return ratio.high is not None and ratio.high < 1


def _is_over(ratio: Ratio) -> bool:
    return ratio.low is not None and ratio.low > 1


def _distance(ratio: Ratio) -> float:
    return max(ratio.value, 1 / ratio.value)


def _has_intervals(lines: Sequence[Line]) -> bool:
    return any(ratio.low is not None for line in lines for ratio in line.ratios.values())


def _without_intervals(lines: Sequence[Line], label: str) -> str:
    """`Throughput after the writes against before them on X: −11.2 % (scan) to +8.5 % (point), of 8 tests, without intervals.`"""
    known = [(ratio.value, line.after) for line in lines if line.target == label and (ratio := _speed(line))]
    if not known:
        return f"Nothing is known of throughput on {label} before and after the writes."
    span = " to ".join(dict.fromkeys(f"{change(value)} ({test})" for value, test in (min(known), max(known))))
    tests = count_of(len(known), "test")
    return f"Throughput after the writes against before them on {label}: {span}, of {tests}, without intervals."


def _speed(line: Line) -> Ratio | None:
    return line.ratios.get(THROUGHPUT)
