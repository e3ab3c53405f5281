"""Rows by index per operation, against what the statements must touch."""

import csv
import io
from collections import defaultdict
from statistics import median

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

ROWS_OF_A_KEY = 10
SUITE = """title = "Rows by index"

[tables.items]
primary_key = ["id"]
indexes = [{ name = "by_k", columns = ["k"] }]
[tables.items.columns]
id = { type = "int4", values = { gen = "sequence" } }
k = { type = "int4", values = { gen = "row", expr = "row % (table_size / 10)" } }
note = { type = "varchar(100)", values = { gen = "text", template = "#### @@@@@ #### @@@@@ ####" } }

[tests.by-k]
title = "All items of a key"
group = "range"
[[tests.by-k.statements]]
name = "by-k"
sql = "SELECT count(note) FROM items WHERE k = :k"
params = { k = { gen = "uniform", low = 1, high = "table_size / 10 - 1" } }

[tests.note]
title = "Change the note of an item"
group = "write"
[[tests.note.statements]]
name = "note"
sql = "UPDATE items SET note = :note WHERE id = :id"
params = { note = { gen = "text", template = "#### #####" }, id = { gen = "uniform", low = 1, high = "table_size" } }

[[phases]]
name = "all"
tests = ["by-k", "note"]
"""
QUERY = "SELECT test, target, kind, object, figure, value, per_op FROM objects"
Found = dict[tuple[str, str], list[float]]


def measured(bench: Bench, targets: list[str]) -> tuple[list[str], Found, Found]:
    """Labels of the targets; per operation, and at the end: by test and `target object figure`, a value per block."""
    (bench.folder / "items.toml").write_text(SUITE)
    file = bench.write(targets, "by-k,note", 'suite = "items.toml"\n', looks=(2,))
    bench.run("run", file, "--out", bench.out)
    shown = bench.run("show", bench.out, "--sql", QUERY, "--format", "csv").stdout
    rises: Found = defaultdict(list)
    held: Found = defaultdict(list)
    lines = list(csv.DictReader(io.StringIO(shown)))
    for line in lines:
        key = line["test"], f"{line['target']} {line['object']} {line['figure']}"
        if line["per_op"]:
            rises[key].append(float(line["per_op"]))
        else:
            held[key].append(float(line["value"]))
    return sorted({line["target"] for line in lines}), rises, held


def check(label: str, primary: str, rises: Found, held: Found) -> None:
    exactly = {
        ("by-k", f"{label} items.by_k read_rows"): ROWS_OF_A_KEY,
        ("note", f"{label} items.{primary} read_rows"): 1,
        ("note", f"{label} items updated_rows"): 1,
    }
    for key, expected in exactly.items():
        # dead entries that an index still has are read, too: of the least disturbed block
        assert min(rises[key]) == pytest.approx(expected, rel=0.01), (key, rises[key])
    assert ("note", f"{label} items.by_k read_rows") not in rises
    assert median(held["note", f"{label} items.by_k size_bytes"]) > 0


def test_rows_by_index_are_what_statements_touch_on_postgresql(bench: Bench, postgres: str) -> None:
    labels, rises, held = measured(bench, [postgres, f"{postgres}@fsync_off"])
    assert len(labels) == 2
    for label in labels:
        check(label, "items_pkey", rises, held)
        assert min(rises["by-k", f"{label} items.by_k scans"]) == pytest.approx(1, rel=0.01)
        assert min(rises["by-k", f"{label} items.by_k hit_pages"]) > 1
        # 2000 rows of 12 bytes or more
        assert min(held["by-k", f"{label} items.by_k cached_bytes"]) > 2000 * 12
    report = (bench.out / "report.md").read_text()
    assert "Reads, writes and rows per operation, by object" in report and "index items.by\\_k" in report


@pytest.mark.long
def test_rows_by_index_are_what_statements_touch_on_mysqls_family(bench: Bench, of_mysqls_family: list[str]) -> None:
    labels, rises, held = measured(bench, of_mysqls_family)
    assert len(labels) == len(of_mysqls_family)
    for label in labels:
        check(label, "PRIMARY", rises, held)
        assert min(rises["note", f"{label} binlog write_bytes"]) > 0


def test_what_is_off_is_said(bench: Bench, of_mysqls_family: list[str]) -> None:
    file = bench.write([f"{of_mysqls_family[0]}@performance_schema=OFF"], "point-query", "alone = true\n", looks=(2,))
    bench.run("run", file, "--out", bench.out)
    assert (
        "rows of indexes (performance\\_schema): performance\\_schema is off" in (bench.out / "report.md").read_text()
    )
