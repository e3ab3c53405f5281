"""Real runs with figures that were forged: no verdict against the total, and what journals lack is said."""

import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.report.assessment import build_assessment
from dbversus.results.layout import lay_out
from dbversus.results.read import open_results
from dbversus.results.tables.background import DRAINS
from dbversus.stats.judge import judge, judge_over_clients, looks_of, margins_of
from dbversus.stats.judging.whole_work import UNDRAINED, judge_whole_work, whole_work_values
from dbversus.stats.metrics import CPU
from dbversus.stats.model import CHANGES, DIFFERS, Finding, Verdict
from dbversus.stats.values.table import Key

from ..report.synthetic import Truth, write_results
from .intervals import contradictions

RUNS = Path(__file__).parents[1] / "data/runs"
Record = dict[str, Any]
Forge = Callable[[Record], bool]
"""Changes a record in place; whether it is kept."""


def forged(name: str, folder: Path, forge: Forge) -> Path:
    records = [json.loads(line) for line in lzma.decompress((RUNS / f"{name}.jsonl.xz").read_bytes()).splitlines()]
    text = "".join(f"{json.dumps(record)}\n" for record in records if forge(record))
    (folder / "journal.jsonl").write_text(text)
    return folder


def in_rows(target: str, cpu: Callable[[int], float]) -> Forge:
    """CPU of the target's slots times `cpu` of the number of the row."""

    def forge(record: Record) -> bool:
        for slot in record["slots"] if record["type"] == "row" else ():
            if slot["target"] == target:
                slot["server_cpu_ns"] = round(slot["server_cpu_ns"] * cpu(record["row"]))
        return True

    return forge


def cheaper_in_most(row: int) -> float:
    """And dearer in all."""
    return 2.0 if row % 6 == 5 else 0.94


def of_cpu(folder: Path) -> tuple[dict[Key, Finding], dict[Key, Finding]]:
    """Findings of CPU per operation, and those of all the work."""
    results = open_results(folder)
    looks, margins = looks_of(results.header), margins_of(results.header, results.tests)
    whole = judge_whole_work(
        whole_work_values(lay_out(results.slots, results.base.label), results.rows(DRAINS)), looks, margins
    )
    return {finding.key: finding for finding in judge(results) if finding.metric == CPU}, whole


def opposes(finding: Finding, whole: Finding) -> bool:
    """Whether it is a change in the direction that the total, with p ≤ 5 % and beyond the margin, is not."""
    if finding.verdict not in CHANGES or not whole.ratio or whole.p_value is None or whole.p_value > 0.05:
        return False
    beyond = max(whole.ratio, 1 / whole.ratio) > 1 + whole.margin
    return beyond and (whole.ratio > 1) == (finding.verdict is Verdict.IMPROVEMENT)


@pytest.mark.parametrize(
    ("run", "target", "five", "sixth"),
    [
        ("postgres-settings-busy", "t0", 0.94, 2.0),
        ("postgres-settings-busy", "t1", 1.06, 0.4),
        ("sqlite-demo-steal", "t1", 0.94, 2.0),
        ("sqlite-demo-steal", "t1", 1.10, 0.1),
        ("postgres-11-13", "t0", 0.94, 2.0),
        ("postgres-11-13", "t0", 1.10, 0.1),
    ],
)
def test_what_is_cheaper_in_five_of_six_rows_and_dearer_in_all_is_no_improvement(
    run: str, target: str, five: float, sixth: float, tmp_path: Path
) -> None:
    """… and the mirror case: dearer in five of six rows, and cheaper in all."""
    findings, whole = of_cpu(forged(run, tmp_path, in_rows(target, lambda row: sixth if row % 6 == 5 else five)))
    assert not [key for key, finding in findings.items() if key in whole and opposes(finding, whole[key])]
    assert contradictions(list(findings.values())) == []
    withheld = [finding for finding in findings.values() if ", but the total " in finding.note]
    assert withheld and {finding.verdict for finding in withheld} == {Verdict.UNDECIDED}


@pytest.mark.parametrize("seed", range(4))
def test_no_verdict_of_a_random_journal_contradicts_its_interval(seed: int, tmp_path: Path) -> None:
    """Through all that judges: rows, all the work, drift, what is put off, parts of the CPU time as shares."""
    rng = np.random.default_rng(seed)
    truths = tuple(
        Truth(
            f"t{number}",
            130,
            cpu=cpu,
            time=time,
            io=io,
            io_bytes=rng.choice((0.0, 3000.0)),
            spread=rng.choice((5e-4, 4e-3, 0.02)),
        )
        for number, (cpu, time, io) in enumerate(np.exp(rng.normal(0, 0.025, (10, 3, 2))).tolist())
    )
    findings = judge(open_results(write_results(tmp_path / "results", rows=9, blocks=6, truths=truths)))
    assert contradictions(findings) == []
    assert {finding.verdict for finding in findings if finding.judged} >= {*DIFFERS, Verdict.EQUIVALENT}


def test_a_target_that_is_missing_after_the_first_row_is_not_judged_by_that(tmp_path: Path) -> None:
    seen = set()

    def first_of_each(record: Record) -> bool:
        """In each test of each block the target is in the first row alone."""
        if record["type"] == "row":
            cell = record["tag"]["test"], record["tag"]["block"]
            record["slots"] = [slot for slot in record["slots"] if slot["target"] != "t1" or cell not in seen]
            seen.add(cell)
        return True

    findings, _ = of_cpu(forged("sqlite-demo-steal", tmp_path, first_of_each))
    assert len(findings) == 12
    assert {finding.verdict for finding in findings.values()} == {Verdict.UNDECIDED}
    assert all("of the rows a target did nothing at all" in finding.note for finding in findings.values())
    said = build_assessment(open_results(tmp_path)).targets[1].sentences
    assert any("12 are undecided" in sentence for sentence in said)


def test_a_target_that_is_missing_after_the_first_row_of_all_is_not_measured(tmp_path: Path) -> None:
    rows = iter(range(10_000))

    def first_of_all(record: Record) -> bool:
        if record["type"] == "row" and next(rows):
            record["slots"] = [slot for slot in record["slots"] if slot["target"] != "t1"]
        return True

    findings, _ = of_cpu(forged("sqlite-demo-steal", tmp_path, first_of_all))
    (finding,) = findings.values()
    assert finding.verdict is Verdict.UNDECIDED
    notes = [item.notes for item in build_assessment(open_results(tmp_path)).comparisons]
    assert len(notes) == 12 and notes.count(("not measured",)) == 11


def test_without_drains_all_work_is_that_of_the_slots_and_says_so(tmp_path: Path) -> None:
    findings, whole = of_cpu(forged("postgres-11-13", tmp_path, lambda record: record["type"] != "drain"))
    writes = {"insert", "update-index", "update-one"}
    assert {key[0] for key, finding in findings.items() if UNDRAINED in finding.note} == writes
    assert {key[0] for key in whole if key[2] == CPU} == {key[0] for key in findings}
    assert {finding.verdict for finding in findings.values()} & {*CHANGES}


def test_what_is_said_over_all_numbers_of_clients_is_held_against_the_total_too(tmp_path: Path) -> None:
    results = open_results(forged("postgres-settings-busy", tmp_path, in_rows("t0", cheaper_in_most)))
    names = {"read-only-10.pre": "read-only@1", "read-only-10": "read-only@4"}
    test = np.array([names.get(name, name) for name in results.slots["test"]])
    pooled = judge_over_clients(replace(results, slots={**results.slots, "test": test}, tests=tuple(names.values())))
    (finding,) = (finding for finding in pooled if finding.metric == CPU)
    assert (finding.test, finding.verdict) == ("read-only@all", Verdict.UNDECIDED)
    assert ", but the total cheaper" in finding.note
