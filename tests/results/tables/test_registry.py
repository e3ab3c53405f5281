"""Tables of results: each is registered once, and the page of the schema names it."""

import re
from pathlib import Path

import pytest

from dbversus.results.read import open_results
from dbversus.results.tables.registry import TABLES
from dbversus.results.tables.table import ResultTable

from ...report.synthetic import write_results

PAGE = Path(__file__).parents[3] / "docs/reference/schema.md"
LISTED = ("counters", "amounts", "stalls", "events")
"""Tables whose columns stand on that page one by one."""


@pytest.fixture(scope="module")
def columns_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Columns of every table, as a query gives them."""
    results = open_results(write_results(tmp_path_factory.mktemp("registry") / "r"))
    return {table.name: results.sql(f"SELECT * FROM {table.name}")[0] for table in TABLES}  # noqa: S608


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_registered_table_can_be_queried(table: ResultTable, columns_of: dict[str, list[str]]) -> None:
    assert columns_of[table.name] == list(table.columns)


def test_names_are_unique_and_on_the_page() -> None:
    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names)
    first_cells = re.findall(r"^\| (`[^|]+) \|", PAGE.read_text().split("## Tables of SQL")[1], re.MULTILINE)
    on_page = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert set(names) <= on_page


@pytest.mark.parametrize("name", LISTED)
def test_the_page_lists_the_columns_that_there_are(name: str) -> None:
    line = re.search(rf"^\| `{name}` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert line, f"{PAGE} has no line for {name}"
    (table,) = (one for one in TABLES if one.name == name)
    assert re.findall(r"`(\w+)`", line[1]) == list(table.columns)
