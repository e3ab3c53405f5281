"""pgbench's own scripts through `from-pgbench` on two DBMSs: each alone, and mixed by weight; same answers, verdicts."""

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Check, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e


def test_scripts_of_pgbench_are_compared(bench: Bench, postgres: str) -> None:
    bench.run("suites", "from-pgbench", "tpcb-like", "select-only@1", "-o", "mixed.toml")
    suite = (bench.folder / "mixed.toml").read_text()
    (bench.folder / "mixed.toml").write_text(suite.replace('tests = ["mix"]', 'tests = ["tpcb-like", "mix"]'))
    path = bench.write(["sqlite:bundled", postgres], "*", 'suite = "mixed.toml"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    results = open_results(bench.out)
    checks = of_type(results.records, Check)
    assert {check.test for check in checks} == {"tpcb-like", "mix"} and all(check.agree for check in checks)
    slots = results.slots
    for target in set(slots["target"]):
        of_target = (slots["test"] == "mix") & (slots["target"] == target)
        ops, changed = slots["ops"][of_target].sum(), slots["affected"][of_target].sum()
        assert 0 < changed < 4 * ops, (target, ops, changed)  # the one script changes four rows, the other none
