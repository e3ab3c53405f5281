"""Tables and indexes made in another way for some targets: what they are then, and where the report says so."""

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Load, State, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

CONFIG = """# Small pages of entries, and two partitions.
[ddl]
index.k = 'WITH (fillfactor = 50)'
table.sbtest = 'PARTITION BY HASH (id)'
empty = 'CREATE TABLE {table}_0 PARTITION OF {table} FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE {table}_1 PARTITION OF {table} FOR VALUES WITH (MODULUS 2, REMAINDER 1)'
loaded = 'CREATE STATISTICS id_and_k (dependencies) ON id, k FROM sbtest1'
"""  # noqa: E501


def test_each_target_has_its_tables_as_its_config_says(bench: Bench, postgres: str) -> None:
    (bench.folder / "configs/postgres/parted.conf").write_text(CONFIG)
    targets = [postgres, f"{postgres}@parted", f"{postgres}@ddl.index=none"]
    bench.run("run", bench.write(targets, "point-query", looks=(2,)), "--out", bench.out)
    results = open_results(bench.out)
    assert all(load.figures and not load.earlier for load in of_type(results.records, Load))
    indexes = [state.tables["sbtest1"].indexes for state in of_type(results.records, State)[0].targets.values()]
    usual, parted, without = (" ".join(names) for names in indexes)
    assert "k_1" in usual and "WITH" not in usual and "fillfactor='50'" in parted and "k_1" not in without
    report = (bench.out / "report.md").read_text()
    assert "| ddl.index.k | as the suite says | WITH (fillfactor = 50) | as the suite says |" in report
    assert "| ddl.index | as the suite says | as the suite says | none |" in report


def test_a_clause_that_a_server_does_not_take_is_told_with_its_line(bench: Bench, postgres: str) -> None:
    (bench.folder / "configs/postgres/bad.conf").write_text("[ddl]\nindex = 'WITH (no_such = 1)'\n")
    said = bench.run(
        "run", bench.write([postgres, f"{postgres}@bad"], "point-query"), "--out", bench.out, status=2
    ).stderr
    assert "configs/postgres/bad.conf:2: " in said and 'unrecognized parameter "no_such"' in said
    assert not bench.out.exists() and not bench.survivors()
    path = bench.write([postgres, f"{postgres}@ddl.index.q=none"], "point-query")
    words = "'ddl.index.q=none': 'index.q': the suite has no index 'q'; it has k."
    assert words in bench.run("run", path, "--dry-run", status=2).stderr
