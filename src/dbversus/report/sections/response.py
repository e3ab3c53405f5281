"""Response times: percentiles, the longest, and the fixed buckets of the Insert Benchmark."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dbversus.report.figures import PERCENTS
from dbversus.report.judged import Judged
from dbversus.report.model import LatencyFigures, TestPart
from dbversus.report.section import Part, Section
from dbversus.report.table import Column, Form, Row, Table, figure_cell

LACKS = "has no response times; --table response needs tests of which operations were timed."
_NAMES = ("256us", "1ms", "4ms", "16ms", "64ms", "256ms", "1s", "4s", "16s", "gt")
"""Of the buckets, as the reference has them: at most so long; `gt`: longer than all of these."""
_TITLES = ("256 µs", "1 ms", "4 ms", "16 ms", "64 ms", "256 ms", "1 s", "4 s", "16 s", "gt")
_NONZERO = "nonzero"
"""Some operations, whose share rounds to 0.000."""
NOTE = (
    "Percent of operations whose response time was in the bucket that ends there (gt: longer than 16 s), over all clients and "
    "blocks; nonzero: some, and less than 0.0005 %. Operations of a role with arrivals count from when they were due."
)
_PERCENTILES_NOTE = (
    "Percentiles are of all operations together, with 95 % intervals over blocks; no role: the whole test."
)
_US_PER_S = 1e6
_COLUMNS = (Column("role"), Column("target"), *map(Column, _TITLES), Column("max, s", Form.NUMBER))
_ALL_COLUMNS = (
    *(Column(title) for title in ("test", "role", "target")),
    Column("operations", Form.COUNT),
    *(
        Column(f"{title}, %", Form.NUMBER, name=name)
        for title, name in zip(
            (*(f"up to {title}" for title in _TITLES[:-1]), f"over {_TITLES[-2]}"),
            (*(f"le_{name}" for name in _NAMES[:-1]), _NAMES[-1]),
            strict=True,
        )
    ),
    Column("longest, s", Form.NUMBER, name="max_s"),
    *(
        Column(f"p{rank:g}", Form.NUMBER, "µs", spread=True, name=f"p{rank:g}_us", ends=f"p{rank:g}_us_")
        for rank in PERCENTS
    ),
)


def section(judged: Judged) -> Section | None:
    return of_tests(judged.tests)


def of_tests(tests: Sequence[TestPart]) -> Section | None:
    lines = {test.name: list(_lines(test)) for test in tests}
    rows = [_all_of(test, *line) for test, of_test in lines.items() for line in of_test]
    if not rows:
        return None
    notes = [_PERCENTILES_NOTE, NOTE]
    return Section(
        title="Response times",
        data=[Table(_ALL_COLUMNS, rows, lead=3, title="Response times", sheet="Response times", notes=notes)],
        of_tests={test: Part([_table(of_test)], [NOTE]) for test, of_test in lines.items() if of_test},
    )


def _lines(test: TestPart) -> Iterator[tuple[str, str, LatencyFigures]]:
    """The whole test, whose role has no name, then each role."""
    for target, of_target in test.latency.items():
        yield "", target, of_target
    for part in test.roles:
        for target, figures in part.targets.items():
            if figures.response:
                yield part.name, target, figures.response


def _table(lines: Sequence[tuple[str, str, LatencyFigures]]) -> Table:
    rows: list[Row] = [
        [role or "all that count", target, *map(_text, _shares(latency)), _longest_s(latency)]
        for role, target, latency in lines
    ]
    return Table(_COLUMNS, rows, title="Response time in fixed buckets, %")


def _all_of(test: str, role: str, target: str, latency: LatencyFigures) -> Row:
    percentiles = [figure_cell(latency.percentiles_us.get(rank)) for rank in PERCENTS]
    return [test, role, target, latency.count, *_shares(latency), _longest_s(latency), *percentiles]


def _shares(latency: LatencyFigures) -> list[float | None]:
    """Percent of operations in each bucket."""
    lacking: list[float | None] = [None] * (len(_NAMES) - len(latency.buckets))
    return [*(100 * count / latency.count for count in latency.buckets), *lacking]


def _longest_s(latency: LatencyFigures) -> float:
    return (latency.max_us or 0.0) / _US_PER_S


def _text(share: float | None) -> str:
    """Three decimals, as in the reference; nothing where nothing was."""
    if not share:
        return ""
    text = f"{share:.3f}"
    return _NONZERO if float(text) == 0 else text


def content_of(latency: LatencyFigures) -> dict[str, Any]:
    """For report.json."""
    return {
        "operations": latency.count,
        "percentiles_us": {f"{rank:g}": asdict(one) for rank, one in latency.percentiles_us.items()},
        "max_us": latency.max_us,
        "buckets": list(latency.buckets),
    }
