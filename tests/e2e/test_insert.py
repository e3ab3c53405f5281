"""The Insert Benchmark on real servers: every step does its work on the data that the one before has left."""

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

ROWS = 2000


def _affected(bench: Bench) -> dict[str, set[int]]:
    """Rows that a step inserted and deleted, by test; one number where all targets did the same in all blocks."""
    found: dict[str, set[int]] = {}
    for row in bench.records("row"):
        found.setdefault(row["test"], set()).update(slot["affected"] for slot in row["slots"])
    return found


@pytest.mark.parametrize("suite", ["insert", "insert-2021"])
def test_each_step_goes_on_where_the_last_one_ended(bench: Bench, postgres: str, suite: str) -> None:
    tests = {"insert": "l.i0,l.x,l.i1,l.i2", "insert-2021": "l.i0,l.x,l.i1"}[suite]
    path = bench.write(["sqlite:bundled", postgres], tests, f'suite = "{suite}"\n')
    bench.run("run", path, "--out", bench.out)
    affected = _affected(bench)
    if suite == "insert":  # each row that is deleted is there
        expected = {"l.i0": {ROWS}, "l.x": {100}, "l.i1": {2 * 1600}, "l.i2": {2 * 400}}
    else:
        expected = {"l.i0": {ROWS}, "l.x": {100_000}, "l.i1": {ROWS}}
    assert affected == expected
