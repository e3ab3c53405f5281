"""Different DBMSs in one experiment, and the comparison of generations on its results."""

import csv
import io
import json

import pytest

from .conftest import Bench

pytestmark = pytest.mark.e2e

TESTS = ["point-query", "read-only-10", "range-covered-si", "update-index", "insert"]


def test_two_dbms_answer_alike_and_are_compared(bench: Bench, postgres: str) -> None:
    file = bench.write(["sqlite:bundled", postgres], ",".join(TESTS))
    bench.run("run", file, "--out", bench.out)
    checks = {record["test"]: record["agree"] for record in bench.records("check")}
    assert checks == dict.fromkeys(TESTS, True)
    report = json.loads((bench.out / "report.json").read_text())
    assert [target["dbms"] for target in report["targets"]] == ["sqlite", "postgres"]
    assert report["settings"] == report["plans"] == []
    assert "Settings and plans of different DBMSs are not compared" in (bench.out / "report.md").read_text()

    # twice the same results are two generations in which nothing shifted
    shown = bench.run("generations", bench.out, bench.out, "--format", "csv").stdout
    lines = {line["test"]: line for line in csv.DictReader(io.StringIO(shown))}
    # a busy host may drop all rows of a test
    assert {"load", "geometric mean"} <= set(lines) <= {"load", *TESTS, "geometric mean"}
    assert all(float(line["qps shift"] or 1) == 1 and not line["gold"] for line in lines.values())

    efficiency = bench.run("show", bench.out, "--table", "efficiency").stdout
    assert efficiency.startswith("load\n--- absolute\n")
    assert efficiency.count("--- absolute") == efficiency.count("--- relative to first result") == len(lines) - 1
