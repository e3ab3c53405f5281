"""The servers' own counters per operation, against what the statements must do."""

import csv
import io
from statistics import median

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

EXPECTED = {
    "point-query": {"database.xact_commit": 1, "table.idx_tup_fetch": 1, "index.idx_tup_read": 1},
    "read-only-10": {"database.xact_commit": 1, "index.idx_tup_read": 10 + 4 * 10},
    "update-index": {"database.xact_commit": 1, "table.n_tup_upd": 1},
    "write-only": {"database.xact_commit": 1, "table.n_tup_ins": 1, "table.n_tup_upd": 2, "table.n_tup_del": 1},
    "insert": {"database.xact_commit": 1, "table.n_tup_ins": 1},
}
QUERY = "SELECT test, counter, per_op FROM counters"


def test_counters_per_operation_are_what_the_statements_must_do(bench: Bench, postgres: str) -> None:
    # autovacuum looks in once a minute, with transactions of its own: on a slow host that is often
    targets = [f"{postgres}@autovacuum=off", f"{postgres}@fsync_off,autovacuum=off"]
    file = bench.write(targets, ",".join(EXPECTED))
    bench.run("run", file, "--out", bench.out)
    shown = bench.run("show", bench.out, "--sql", QUERY, "--format", "csv").stdout
    found: dict[tuple[str, str], list[float]] = {}
    for line in csv.DictReader(io.StringIO(shown)):
        found.setdefault((line["test"], line["counter"]), []).append(float(line["per_op"]))
    for test, counters in EXPECTED.items():
        for counter, expected in counters.items():
            # of targets and blocks
            assert median(found[test, counter]) == pytest.approx(expected, rel=0.01), (
                test,
                counter,
                found[test, counter],
            )
