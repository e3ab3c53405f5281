"""Tables as data: empty columns, and which rows a mean is over."""

import math
from typing import Any

import pytest

from dbversus.report.table import NO, YES, Cell, Column, Form, Link, Mean, Row, Table, Value, plain

RATIO = Column("ratio", Form.RATIO)
COLUMNS = [Column("test"), Column("target"), Column("nothing"), RATIO, Column("counts")]
ROWS: list[Row] = [
    ["a", "x", "", 2.0, YES],
    ["b", "x", None, Cell(8.0, "gold"), YES],
    ["c", "x", math.nan, 64.0, NO],
    ["a", "y", None, math.inf, YES],
    ["b", "y", None, 0.0, YES],
    ["c", "y", None, 5.0, YES],
]


def over(by: str, *names: str) -> dict[tuple[Value, ...], Any]:
    logs = Table(COLUMNS, ROWS).logs("ratio", by, names)
    return {key: pytest.approx([math.exp(log) for log in of_key]) for key, of_key in logs.items()}


def test_a_mean_is_over_the_rows_of_its_line_that_count() -> None:
    assert over("counts", "target")["x",] == [2, 8]
    assert over("", "target")["x",] == [2, 8, 64]
    assert over("", "test", "target")["c", "x"] == [64]


def test_what_has_no_logarithm_is_in_no_mean() -> None:
    assert over("counts", "target")["y",] == [5]
    assert over("") == {(): [2, 8, 64, 5]}


def test_empty_columns_go_and_their_means_too() -> None:
    means = [Mean({"ratio": "", "nothing": ""}), Mean({"nothing": ""})]
    table = Table(COLUMNS, ROWS, lead=3, means=means).trimmed()
    assert [column.title for column in table.columns] == ["test", "target", "ratio", "counts"]
    assert table.lead == 2
    assert table.rows[0] == ["a", "x", 2.0, YES]
    assert [mean.of for mean in table.means] == [{"ratio": ""}]
    assert Table(COLUMNS, []).trimmed() == Table(COLUMNS, [])


def test_a_cell_without_its_colour() -> None:
    assert [plain(each) for each in (Cell(1.5, "gold"), Link("Verdicts"), None)] == [1.5, "Verdicts", None]
