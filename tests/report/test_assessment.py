import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dbversus.report.assessment import build_assessment, query
from dbversus.report.figures import block_figures
from dbversus.report.formats import html, markdown
from dbversus.report.model import Assessment, NotedComparison, TestPart
from dbversus.report.parts.notes.cause_words import likely_cause
from dbversus.results.read import open_results
from dbversus.results.records import Finished
from dbversus.results.schema import JOURNAL
from dbversus.results.stored import Results
from dbversus.results.write import seal
from dbversus.stats.judge import judge
from dbversus.stats.metrics import IO_BYTES
from dbversus.stats.model import UNSETTLED, Finding, Verdict

from .synthetic import FAILED_TEST, LABELS, SCANNED_ROWS, SERVER_WORDS, TRUTHS, WRONG_TEST, Truth, write_results

CPU = "server_cpu_us_per_op"


def part(assessment: Assessment, test: str) -> TestPart:
    return next(item for item in assessment.tests if item.name == test)


def verdicts(assessment: Assessment, label: str) -> Mapping[str, Verdict]:
    return {item.test: item.verdict for item in assessment.comparisons if item.target == label}


def comparison(assessment: Assessment, test: str, label: str) -> NotedComparison:
    return next(item for item in part(assessment, test).comparisons if item.target == label)


def test_injected_changes_are_found(assessment: Assessment) -> None:
    found = verdicts(assessment, LABELS[1])
    assert found["range-notcovered-si"] == Verdict.REGRESSION
    assert found["update-index"] == Verdict.REGRESSION
    assert found["read-only-10000"] == Verdict.IMPROVEMENT
    assert found["range-covered-pk"] == Verdict.EQUIVALENT
    assert found["read-only-count"] == Verdict.EQUIVALENT, "many of its rows were disturbed, and count"


def test_estimates_hold_the_truth(assessment: Assessment) -> None:
    for truth in TRUTHS:
        if truth.name == WRONG_TEST:
            continue
        finding = comparison(assessment, truth.name, LABELS[1]).findings[CPU]
        assert finding.ratio is not None
        assert finding.low is not None
        assert finding.high is not None
        assert finding.low <= finding.ratio <= finding.high
        assert finding.ratio == pytest.approx(truth.cpu[0], rel=0.02 + 4 * truth.spread)


def test_wrong_answers_are_no_performance_verdict(assessment: Assessment) -> None:
    wrong = comparison(assessment, WRONG_TEST, LABELS[1])
    assert wrong.verdict == Verdict.WRONG_RESULT
    assert "other answers" in wrong.notes[0]
    assert verdicts(assessment, LABELS[2])[WRONG_TEST] != Verdict.WRONG_RESULT


def test_failure_is_shown_in_the_servers_own_words(assessment: Assessment) -> None:
    failed = comparison(assessment, FAILED_TEST, LABELS[2])
    assert failed.verdict == Verdict.FAILED
    assert failed.notes == (SERVER_WORDS,)
    assert [(item.target, item.message) for item in assessment.failures] == [(LABELS[2], SERVER_WORDS)]


@pytest.mark.parametrize("slow", [0, 1])
def test_figures_beside_a_rate_that_was_missed_on_the_target_or_the_base_are_not_compared(
    tmp_path: Path, slow: int
) -> None:
    folder = write_results(tmp_path / "results", targets=2, truths=(Truth("mixed", 28), Truth("alone", 30)))
    with_rates(folder, "mixed", {"t0": 500, "t1": 500, f"t{slow}": 300})
    assessment = build_assessment(open_results(folder))
    missed, compared = (comparison(assessment, test, LABELS[1]) for test in ("mixed", "alone"))
    assert missed.verdict == Verdict.SLA_FAILED and compared.verdict == Verdict.EQUIVALENT
    assert missed.notes == (f"not compared, since a role did not reach its rate on {LABELS[slow]}",)
    with_rates(folder, "mixed", {"t0": 500, "t1": 480})
    held = comparison(build_assessment(open_results(folder)), "mixed", LABELS[1])
    assert held.verdict == Verdict.EQUIVALENT


def with_rates(
    folder: Path, test: str, done_per_s: Mapping[str, int], asked_per_s: int = 500, sla: float = 0.95
) -> None:
    """Gives a test two roles: readers in a closed loop, and orders that do so many operations/s on each target."""
    journal = folder / JOURNAL
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in lines:
        if line["type"] == "slots" and line["test"] == test:
            line["paces"] = {"orders": {"rate_per_s": asked_per_s, "sla": sla}}
        for slot in line["slots"] if line["type"] == "row" and line["test"] == test else ():
            done, due = (round(rate * slot["elapsed_ns"] / 1e9) for rate in (done_per_s[slot["target"]], asked_per_s))
            orders = {"ops": done, "scheduled": due, "late": 0, "overdue": due - done, "errors": {}, "max_ns": 9}
            slot["roles"] = {"readers": {"ops": slot["ops"], "errors": {}, "max_ns": 9}, "orders": orders}
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seal(folder)


def test_summary_names_regressions_first(assessment: Assessment) -> None:
    first = assessment.targets[1].sentences[0]
    assert first.startswith(f"2 of 12 tests use more CPU per operation on {LABELS[1]} than on {LABELS[0]}: ")
    assert "range-notcovered-si (+1" in first
    assert assessment.targets[0].sentences == ()


def test_figures_have_unit_interval_and_count(assessment: Assessment) -> None:
    figure = next(item for item in part(assessment, "point-query").figures if item.metric == CPU)
    base = figure.estimates[LABELS[0]]
    assert figure.unit == "µs/op"
    assert base.n == 4
    assert base.value == pytest.approx(28 * 0.62, rel=0.1)
    assert base.low is not None
    assert base.high is not None
    assert base.value is not None
    assert base.low < base.value < base.high


def test_scans_are_counted_in_rows_as_well(assessment: Assessment) -> None:
    figures = {item.metric: item.estimates[LABELS[0]].value for item in part(assessment, "scan").figures}
    assert figures["rows_scanned_per_s"] == pytest.approx(SCANNED_ROWS * (figures["throughput_ops_per_s"] or 0))
    assert "rows_scanned_per_s" not in {item.metric for item in part(assessment, "point-query").figures}


def test_latency_counts_all_operations(assessment: Assessment) -> None:
    latency = part(assessment, "point-query").latency[LABELS[0]]
    assert latency.count == 4 * 4000
    ordered = [estimate.value for _, estimate in sorted(latency.percentiles_us.items())]
    assert ordered == sorted(ordered)  # type: ignore[type-var]
    assert latency.percentiles_us[50.0].value == pytest.approx(28, rel=0.1)
    assert len(latency.curve) <= 60


def test_slots_of_disturbed_rows_are_plotted_like_all_others(assessment: Assessment) -> None:
    test = part(assessment, "read-only-count")
    plotted = sum(len(logs) for logs in test.slots[0].ratios[CPU].values())
    assert test.disturbance.disturbed > 0
    assert plotted == test.disturbance.rows


def test_figures_are_of_all_rows(results: Results) -> None:
    flagged = replace(results, slots={**results.slots, "disturbed": np.ma.masked_array(results.slots["row"] % 2 == 0)})
    assert block_figures(flagged) == block_figures(results)


def test_settings_and_plans_that_differ(assessment: Assessment) -> None:
    assert [setting.name for setting in assessment.settings] == ["jit", "wal_compression"]
    assert [plan.statement for plan in assessment.plans] == ["range-notcovered-si / range"]
    assert part(assessment, "range-notcovered-si").plans == assessment.plans
    assert part(assessment, "point-query").plans == ()


def test_findings_can_be_queried(results: Results) -> None:
    ((columns, rows),) = query(
        results, "SELECT test, verdict FROM findings WHERE target = 'postgres:17.11' AND blocks = 4"
    )
    assert columns == ["test", "verdict"]
    assert ("update-index", "regression") in rows


def test_one_target_alone_has_figures_and_no_verdict(tmp_path: Path) -> None:
    alone = build_assessment(open_results(write_results(tmp_path / "r", targets=1, rows=4, blocks=2)))
    assert alone.comparisons == ()
    assert len(alone.tests) == len(TRUTHS)
    assert all(test.figures for test in alone.tests)


def test_an_interrupted_experiment_says_so(results: Results) -> None:
    cut = replace(results, records=tuple(record for record in results.records if not isinstance(record, Finished)))
    assert "has not ended" in build_assessment(cut).outcome
    assert build_assessment(results).outcome == ""


def test_load_is_shown_and_not_judged(tmp_path: Path) -> None:
    loads = build_assessment(open_results(write_results(tmp_path / "r", targets=2, rows=4, blocks=2))).loads
    assert [load.target for load in loads] == list(LABELS[:2])
    assert loads[0].rows_per_s == pytest.approx(100_000 / 0.41)
    assert loads[1].rate_ratio == pytest.approx(410 / 419)
    assert loads[0].rate_ratio is None


def test_long_waits_for_a_cpu_are_told_in_every_report(results: Results) -> None:
    slots = dict(results.slots)
    hit = (slots["test"] == "point-query") & (slots["target"] == LABELS[1])
    waits = np.where(hit, 5_000 * slots["ops"], slots["server_wait_ns"])
    waiting = build_assessment(replace(results, slots={**slots, "server_wait_ns": np.ma.masked_array(waits)}))
    said = {test.name: [note for note in test.notes if "for a CPU" in note] for test in waiting.tests}
    assert said["point-query"] == [f"{LABELS[1]} waited 5.0 µs per op for a CPU, besides 16.9 µs on one"]
    assert not said["scan"]
    assert "waited 5.0 µs per op for a CPU" in html.render(waiting)
    assert "- point-query: postgres:17.11 waited 5.0 µs per op for a CPU" in markdown.render(waiting)


def test_a_target_that_stalls_in_few_slots_is_worse_and_the_report_says_where(results: Results) -> None:
    slots = dict(results.slots)
    hit = (slots["test"] == "range-covered-pk") & (slots["target"] == LABELS[1]) & (slots["row"] % 8 == 3)
    slots["elapsed_ns"] = np.ma.masked_array(np.where(hit, 500_000_000, slots["elapsed_ns"]))
    stalls = build_assessment(replace(results, slots=slots))
    told = comparison(stalls, "range-covered-pk", LABELS[1])
    assert told.verdict == Verdict.REGRESSION
    assert "over all its work −" in told.notes[0] and "single slots were slow" in told.notes[0]
    assert verdicts(stalls, LABELS[2])["range-covered-pk"] == Verdict.EQUIVALENT
    assert "single slots were slow" in html.render(stalls)
    assert any("range-covered-pk (" in said and "over all its work)" in said for said in stalls.targets[1].sentences)
    assert not any("over all its work" in sentence for sentence in stalls.targets[2].sentences)
    assert not any(item.findings[CPU].whole_work for item in stalls.comparisons if CPU in item.findings)


def test_a_change_that_is_withheld_says_why_at_its_test(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    why = f"{UNSETTLED}: it is −2.0 % with all that was left unwritten"

    def withheld(of_all: Results) -> list[Finding]:
        return [
            replace(one, verdict=Verdict.UNDECIDED, note=why) if one.metric == IO_BYTES else one
            for one in judge(of_all)
        ]

    monkeypatch.setattr("dbversus.report.judged.judge", withheld)
    told = comparison(build_assessment(results), "range-covered-pk", LABELS[1])
    assert any(note.startswith(f"IO/op undecided: {UNSETTLED}") for note in told.notes)


def test_findings_are_among_the_tables_also_where_nobody_asks_for_them(results: Results) -> None:
    tables, described = query(results, "SHOW TABLES; DESCRIBE findings")
    assert [name for (name,) in tables[1]] == [
        "amounts",
        "background",
        "counters",
        "drains",
        "events",
        "findings",
        "loads",
        "memory",
        "objects",
        "phases",
        "roles",
        "slots",
        "stalls",
        "timeline",
    ]
    types = {str(name): kind for name, kind, *_ in described[1]}
    assert (types["test"], types["ratio"], types["blocks"], types["found_at"]) == (
        "VARCHAR",
        "DOUBLE",
        "BIGINT",
        "BIGINT",
    )
    ((_, names),) = query(results, "SELECT column_name FROM (DESCRIBE slots)")
    assert ("ops_per_second",) in names
    assert query(results, "SHOW TABLES")[0] == tables


def test_names_stand_in_the_title_and_what_they_mean_once(tmp_path: Path) -> None:
    journal = write_results(tmp_path / "named") / JOURNAL
    header, *rest = journal.read_text().splitlines()
    record = json.loads(header)
    record["spec"] = {"label": "patch <123>"}
    for target, name in zip(record["targets"], ("before", "=after()"), strict=False):
        target |= {"label": name, "spelled": f"{target['label']}@x"}
    journal.write_text("\n".join([json.dumps(record), *rest]) + "\n")
    named = build_assessment(open_results(journal.parent))
    assert named.title.startswith("patch <123>: =after()")
    assert named.title.endswith(" against before")
    said = f"before is {LABELS[0]}@x; =after() is {LABELS[1]}@x."
    assert named.targets[0].sentences == ()
    assert named.targets[1].sentences[-1] == said
    page = html.render(named)
    assert "<123>" not in page
    assert page.count(f"{LABELS[1]}@x") == 1


@pytest.mark.parametrize(
    ("plans", "lead"),
    [
        (("SEARCH t", "SCAN t"), "another plan, SEARCH t → SCAN t, full scan steps 0 → 9,000, 0.4 → 12 ms"),
        (("SCAN t", "SCAN t"), "full scan steps 0 → 9,000"),
    ],
    ids=["another plan", "the same plan"],
)
def test_what_sqlite_counts_is_told_at_the_verdict(tmp_path: Path, plans: tuple[str, str], lead: str) -> None:
    folder = write_results(tmp_path / "counted")
    journal = folder / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"dbms": "postgres"', '"dbms": "sqlite"'))
    for name, plan, ms, counts in (
        ("t0", plans[0], 0.4, "vm_steps=40"),
        ("t1", plans[1], 12.1, "fullscan_steps=9000 vm_steps=40000"),
        ("t2", plans[1], 12.3, "fullscan_steps=9000 vm_steps=40000"),
    ):
        text = f"{plan}\nExecution Time: {ms} ms\nStatement Status: {counts}"
        for file in ("plans.json", "executed.json"):
            (folder / "servers" / name / file).write_text(json.dumps({"range-notcovered-si/range": text}))
    told = build_assessment(open_results(folder))
    assert likely_cause(told.explanation("range-notcovered-si", LABELS[1])) == f"lead: {lead}"


def test_a_plan_that_ran_is_told_with_its_rows_and_times(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "executed")
    for name, scan, rows, ms in (
        ("t0", "Index Scan using k_1 on sbtest1", 310, 0.4),
        ("t1", "Seq Scan on sbtest1", 98000, 12.1),
        ("t2", "Seq Scan on sbtest1", 98000, 12.3),
    ):
        actual = f"{scan}  (cost=0.1..0.2 rows=1 width=9) (actual time=0.1..{ms} rows={rows} loops=1)"
        plan = f"{actual}\n  Buffers: shared hit=3\nPlanning Time: 0.1 ms\nExecution Time: {ms} ms"
        for file in ("plans.json", "executed.json"):
            (folder / "servers" / name / file).write_text(json.dumps({"range-notcovered-si/range": plan}))
    told = build_assessment(open_results(folder))
    likely = likely_cause(told.explanation("range-notcovered-si", LABELS[1]))
    assert likely == (
        "lead: another plan, Index Scan of sbtest1 by k_1 → Seq Scan of sbtest1, 310 → 98,000 rows, 0.4 → 12 ms"
    )
