"""A calibration in the words of reports, of calibration.md and of the terminal."""

import io
from typing import Any

import msgspec
import pytest
from rich.console import Console

from dbversus.report.calibration import markdown as calibration_markdown
from dbversus.report.calibration import text as calibration_text
from dbversus.report.parts.notes.calibration import age, calibration_words
from dbversus.report.words import NBSP
from dbversus.stats.judgeable import P99
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT

from ..journals import header as header_of
from .samples import DAY_S, HERE, RUN_S, TESTS, calibration, figures, spread


def targets_of(**labels: str) -> list[dict[str, str]]:
    return [{"name": name, "label": label, "dbms": label.partition(":")[0]} for name, label in labels.items()]


TARGETS = targets_of(t0="postgres:13.1", t1="postgres:17")


def words(briefs: Any, kernel: str | None = HERE.kernel, **header: Any) -> str:
    first = {"targets": TARGETS, "at_unix_ns": int(RUN_S * 1e9), "calibration": briefs, **header}
    return calibration_words(header_of(**first), kernel).replace(NBSP, " ")


def test_a_calibration_is_cited_with_its_age() -> None:
    assert words([calibration().brief()]) == (
        "Calibrated on this host 3 days before this run (PostgreSQL 17.11, 2 tests, 16 blocks): false alarms in 2 % [0–6 %] "
        "of suites, +5 % CPU/op found in 97 %, +3 % in 81 %, +10 % in bursts in 93 %."
    )


def test_calibrations_of_before_bursts_say_nothing_of_them() -> None:
    older = calibration(figures=figures().model_copy(update={"bursts": None}))
    assert words([older.brief()]).endswith("+3 % in 81 %.")
    brief = msgspec.structs.replace(older.brief(), bursts=None)
    assert words([brief]).endswith("+3 % in 81 %.")
    assert "burst" not in calibration_markdown.render(older).lower()


@pytest.mark.parametrize("header", [{"calibration": []}, {}])
def test_without_one_it_says_how_to_get_it(header: dict[str, Any]) -> None:
    said = calibration_words(header_of(targets=TARGETS, at_unix_ns=1, **header), HERE.kernel)
    assert said.startswith("Not calibrated on this host for PostgreSQL")
    assert "`dbversus calibrate postgres:13.1 --quick`" in said


def test_configs_and_numbers_are_not_part_of_the_command() -> None:
    first = header_of(targets=targets_of(t0="postgres:17@x#2"), at_unix_ns=1)
    assert "`dbversus calibrate postgres:17 --quick`" in calibration_words(first, None)


def test_left_out_is_not_the_same_as_missing() -> None:
    assert words(None) == "The calibration of this host was left out, as was asked for."


def test_stale_by_age_and_by_kernel() -> None:
    old = calibration(at_unix_s=RUN_S - 91 * DAY_S).brief()
    assert "It is stale: it is over 90 days old; `dbversus calibrate postgres:17 --quick`" in words([old])
    assert "the kernel was 6.1.0 then and is 6.9.9 now" in words([calibration().brief()], kernel="6.9.9")
    assert "stale" not in words([calibration().brief()], kernel=None)


def test_margins_that_it_widened_are_named() -> None:
    brief = msgspec.structs.replace(calibration().brief(), margins=True)
    said = words([brief], test_margins={"scan": {"throughput_ops_per_s": 0.2}})
    assert said.endswith("Its margins are wider than the usual for scan.")


def test_margins_of_an_earlier_calibration_are_told_as_such() -> None:
    said = words(
        [msgspec.structs.replace(calibration().brief(), margins=False)], test_margins={"scan": {THROUGHPUT: 0.2}}
    )
    assert said.endswith("Margins of an earlier calibration are wider than the usual for scan.")


@pytest.mark.parametrize(
    ("header", "count"),
    [
        ({"test_margins": {"update-index": {THROUGHPUT: 0.08}}}, 0),
        ({}, 1),
        ({"test_margins": {"update-index": {THROUGHPUT: 0.09}}}, 1),
        ({"test_margins": {"update-index": {THROUGHPUT: 0.08}}, "margins": {CPU: 0.01}}, 2),
    ],
)
def test_figures_that_stand_on_other_margins_than_the_run_say_so(header: dict[str, Any], count: int) -> None:
    said = words([calibration().brief()], tests=["load", *TESTS], **header)
    expected = f"Its figures stand on other margins than this run has in {count} of 2 tests."
    assert (expected in said) if count else ("other margins" not in said)


def test_runs_of_before_that_was_recorded_say_nothing_of_it() -> None:
    brief = msgspec.structs.replace(calibration().brief(), wider_margins=None, changed_as_measured=None)
    assert words([brief], tests=["load", *TESTS], margins={CPU: 0.01}).endswith(
        "+3 % in 81 %, +10 % in bursts in 93 %."
    )


def test_what_was_called_changed_as_measured_is_a_caveat() -> None:
    lasting = calibration(figures=figures().model_copy(update={"changed_as_measured": TESTS}))
    assert words([lasting.brief()]).endswith(
        "+10 % in bursts in 93 %. Its blocks as they were measured called point-query and update-index changed, though "
        "nothing was."
    )
    told = calibration_markdown.render(lasting).replace(NBSP, " ")
    assert "these blocks called point-query and update-index changed. What lasts" in told
    assert "by chance alone it would happen in 5 % of calibrations" in told
    older = calibration(figures=figures().model_copy(update={"changed_as_measured": None, "start_bias": []}))
    assert "as they were measured" not in calibration_markdown.render(older)
    assert "started first" not in calibration_markdown.render(older)


def test_a_judged_metric_that_was_not_calibrated_is_named() -> None:
    judged = ["cpu", "throughput", "io", "p99"]
    said = words([calibration().brief()], judge=judged)
    assert said.endswith(
        "p99 was not calibrated: `dbversus calibrate postgres:17 --quick --judge cpu,throughput,io,p99` does."
    )
    older = msgspec.structs.replace(calibration().brief(), metrics=None, changed=None)
    assert "p99 was not calibrated" in words([older], judge=judged)
    of_p99 = figures().model_copy(update={"metrics": [CPU, THROUGHPUT, IO_BYTES, P99]})
    assert "not calibrated" not in words([calibration(figures=of_p99).brief()], judge=judged)
    assert "`dbversus calibrate postgres:13.1 --quick --judge p99` does" in words([], judge=["p99"])


def test_a_calibration_of_p99_alone_says_of_what_its_figures_are() -> None:
    alone = figures().model_copy(
        update={"metrics": [P99], "changed": P99, "spreads": [spread(test, P99, 0.1) for test in TESTS]}
    )
    assert "+5 % p99 found in 97 %" in words([calibration(figures=alone).brief()], judge=["p99"])
    text = calibration_markdown.render(calibration(figures=alone)).replace(NBSP, " ")
    assert "| change of p99 |" in text and "| test | p99: blocks | margin |" in text
    assert "| point-query | 1.2 % | 10.0 % |" in text


def test_of_two_dbms_one_may_be_missing() -> None:
    targets = [*TARGETS, *targets_of(t2="mysql:8.0")]
    said = words([calibration().brief()], targets=targets)
    assert "PostgreSQL 17.11" in said
    assert "Not calibrated on this host for MySQL" in said and "`dbversus calibrate mysql:8.0 --quick`" in said


def test_ages() -> None:
    assert [age(seconds) for seconds in (0, 3600, 7300, 86_400, 200_000)] == [
        "less than an hour",
        "1 hour",
        "2 hours",
        "1 day",
        "2 days",
    ]


def test_blocks_of_a_single_suite_are_spoken_of_as_one() -> None:
    text = calibration_markdown.render(calibration(figures=figures(blocks=12))).replace(NBSP, " ")
    assert "made of the same 12 blocks, as many as one suite of its own has: intervals" in text


def test_everything_is_in_both_forms() -> None:
    console = Console(file=io.StringIO(), width=80)
    calibration_text.render(calibration(), console)
    assert isinstance(console.file, io.StringIO)
    plain = console.file.getvalue().replace(NBSP, " ")
    markdown = calibration_markdown.render(calibration()).replace(NBSP, " ").replace("\\", "")
    for text in (plain, markdown):
        assert "False alarms: 2.0 % [0.0 %, 6.0 %] of 1,000 virtual suites of 2 equal tests" in text
        assert "made of the same 16 blocks, as many as 1.3 suites of their own have" in text
        assert "Of an injected slowdown, 0.98 [0.93, 1.03] is measured" in text
        assert "update-index 71.0 %" in text
        assert "Bursts (50 ms of every 500 ms) added +9.8 % in the mean of 8 tests and blocks" in text
        assert "all their work showed +9.5 %." in text
        assert "in bursts, 50 ms of every 500 ms" in text and "93.0 %" in text and "update-index 85.0 %" in text
        assert "8.0 %*" in text
        assert "by the usual margins, these blocks called no test changed." in text
        assert "A target that comes later in its rows has +0.1 % [−0.1 %, +0.3 %] CPU/op, over all tests." in text
        assert "A server that is started first in its block has +0.1 % [−0.2 %, +0.3 %] CPU/op, over all tests." in text
        assert "dbversus calibrate postgres:17 --blocks 16" in text
    assert "more than promised" not in plain


def test_what_was_injected_is_named() -> None:
    found = calibration().figures
    assert found.recovery is not None
    of_io = found.model_copy(
        update={"injected": False, "recovery": found.recovery.model_copy(update={"metric": IO_BYTES})}
    )
    said = calibration_markdown.render(calibration(figures=of_io)).replace(NBSP, " ").replace("\\", "")
    assert "Of injected IO (bytes per operation), 0.98 [0.93, 1.03] is measured" in said
    assert "What is found of CPU: changes were added to the values of equal targets by arithmetic." in said
    nothing = found.model_copy(update={"injected": False, "recovery": None})
    assert "No CPU was injected: changes" in calibration_markdown.render(calibration(figures=nothing))


def test_an_interval_that_holds_none_and_all_of_what_was_injected_says_nothing() -> None:
    found = calibration().figures
    assert found.recovery is not None
    unknown = found.recovery.model_copy(update={"slope": -0.43, "low": -2.4, "high": 1.5})
    said = calibration_markdown.render(calibration(figures=found.model_copy(update={"recovery": unknown})))
    said = said.replace(NBSP, " ").replace("\\", "")
    assert "How much of an injected slowdown is measured cannot be said" in said and "holds both none and all" in said
    assert "0.43" not in said


def test_too_many_false_alarms_are_called_that() -> None:
    found = calibration().figures
    bad = found.model_copy(update={"false_alarms": found.false_alarms.model_copy(update={"share": 0.2, "low": 0.15})})
    assert "more than promised" in calibration_markdown.render(calibration(figures=bad))


def test_in_sequential_order_no_calibration_holds() -> None:
    said = words([calibration().brief()], order="sequential")
    assert said.startswith("No calibration tells") and "false alarms" not in said
