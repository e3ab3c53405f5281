"""Real runs, judged again: what the protocol has to say of them (tests/data/runs/README.md tells what is true)."""

import lzma
import math
from collections.abc import Sequence
from pathlib import Path

from dbversus.results.read import open_results
from dbversus.stats.judge import judge
from dbversus.stats.metrics import CPU, PRIMARY
from dbversus.stats.model import CHANGES, Finding, Verdict

RUNS = Path(__file__).parents[1] / "data/runs"
PRIMARY_NAMES = {metric.name for metric in PRIMARY}
GIVEN = (Verdict.EQUIVALENT, *CHANGES)
LEAST_GIVEN = 6
"""Of seven: four blocks of one look leave one undecided."""


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
    assert [finding.key for finding in findings if finding.verdict == "disturbed"] == []


def test_no_change_is_told_that_its_own_interval_contradicts(tmp_path: Path) -> None:
    found = changes(judged("postgres-11-13", tmp_path))
    assert "scan" in {finding.test for finding in found}
    for finding in found:
        assert finding.ratio and finding.low and finding.high, finding.key
        assert not finding.low <= 1 <= finding.high, finding.key
        assert abs(math.log(finding.ratio)) >= math.log1p(finding.margin) / 2, finding.key


def test_other_work_on_one_core_leaves_cpu_its_verdicts(tmp_path: Path) -> None:
    of_cpu = [finding for finding in judged("postgres-settings-busy", tmp_path) if finding.metric == CPU]
    given = [finding for finding in of_cpu if finding.verdict in GIVEN]
    assert len(of_cpu) == 7 and len(given) >= LEAST_GIVEN
