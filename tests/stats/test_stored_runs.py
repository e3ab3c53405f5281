"""Real runs, judged again: what the protocol has to say of them (tests/data/runs/README.md tells what is true)."""

import lzma
from collections.abc import Sequence
from pathlib import Path

import pytest

from dbversus.results.read import open_results
from dbversus.stats.judge import judge
from dbversus.stats.metrics import CPU, PRIMARY
from dbversus.stats.model import CHANGES, DECIDED, Finding

from .intervals import contradictions

RUNS = Path(__file__).parents[1] / "data/runs"
PRIMARY_NAMES = {metric.name for metric in PRIMARY}
LEAST_GIVEN = 5
"""Of seven: four blocks of one look leave two undecided."""


def judged(name: str, folder: Path) -> list[Finding]:
    """All findings of a stored run, which is unpacked into `folder`."""
    (folder / "journal.jsonl").write_bytes(lzma.decompress((RUNS / f"{name}.jsonl.xz").read_bytes()))
    return judge(open_results(folder))


def primary(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.metric in PRIMARY_NAMES]


def changes(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.verdict in CHANGES]


def test_a_hypervisor_that_steals_disturbs_no_test(tmp_path: Path) -> None:
    findings = primary(judged("sqlite-demo-steal", tmp_path))
    assert len({finding.test for finding in findings}) == 12


@pytest.mark.parametrize("run", ["postgres-11-13", "postgres-settings-busy", "sqlite-demo-steal"])
def test_no_verdict_of_a_stored_run_contradicts_its_interval(run: str, tmp_path: Path) -> None:
    findings = judged(run, tmp_path)
    assert contradictions(findings) == []
    assert any(finding.verdict in DECIDED and finding.low for finding in findings)


def test_a_scan_that_costs_more_is_found(tmp_path: Path) -> None:
    assert "scan" in {finding.test for finding in changes(judged("postgres-11-13", tmp_path))}


def test_other_work_on_one_core_leaves_cpu_its_verdicts(tmp_path: Path) -> None:
    of_cpu = [finding for finding in judged("postgres-settings-busy", tmp_path) if finding.metric == CPU]
    given = [finding for finding in of_cpu if finding.verdict in DECIDED]
    assert len(of_cpu) == 7 and len(given) >= LEAST_GIVEN
