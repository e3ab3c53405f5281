"""Steps with roles on real servers: all their operations are done, on all targets the same, and a rate not held is said."""

import shutil
from pathlib import Path

import pytest

from dbversus.results.read import open_results
from dbversus.results.records import Check, Series, of_type

from .conftest import Bench

pytestmark = pytest.mark.e2e

SUITE = Path(__file__).parents[1] / "data/steps.toml"


def test_roles_do_a_step_together_and_a_rate_that_is_not_held_makes_it_longer(bench: Bench, postgres: str) -> None:
    shutil.copy(SUITE, bench.folder / "steps.toml")
    text = (bench.folder / "steps.toml").read_text()
    (bench.folder / "steps.toml").write_text(text.replace("rate = 2000", "rate = 1_000_000"))
    targets = ["sqlite:bundled@wal", postgres]
    path = bench.write(targets, "churn,rated,total", 'suite = "steps.toml"\n', looks=(2,))
    bench.run("run", path, "--out", bench.out)
    rows = [row for row in bench.records("row") if row["test"] in ("churn", "rated")]
    for slot in (slot for row in rows for slot in row["slots"]):
        inserters, deleters, readers = (slot["roles"][name] for name in ("inserters", "deleters", "readers"))
        assert (inserters["ops"], deleters["ops"]) == (1000, 1000)
        assert (inserters["affected"], deleters["affected"]) == (1000, 1000)
        assert inserters["finished_ns"] <= deleters["finished_ns"] <= slot["elapsed_ns"]
        assert readers["ops"] > 0 and readers.get("finished_ns") is None
    # what is left is the same everywhere
    results = open_results(bench.out)
    assert all(check.agree for check in of_type(results.records, Check))
    series = [record for record in of_type(results.records, Series) if record.test == "churn"]
    assert all(sum(seconds.roles["deleters"].ops) == 1000 for record in series for seconds in record.targets.values())
    bench.run("report", bench.out, "--format", "md")
    report = (bench.out / "report.md").read_text()
    assert "SLA failed on" in report and "inserters did" in report
