"""In which rows the host was disturbed, and what is said about them."""

from dataclasses import replace

import pytest

from dbversus.stats.validity.disturbance import FEWEST_SOONER, Limits, RowFigures, judge_row

QUIET = RowFigures(wall_ns=100_000_000, foreign_cpu_ns=5_000_000, steal_ns=0, psi_io_us=1_000)
UNTOLD = replace(QUIET, foreign_cpu_ns=None, steal_ns=None)


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (replace(QUIET, foreign_cpu_ns=51_000_000), "other processes used 51% of a core"),
        (replace(QUIET, steal_ns=26_000_000), "the hypervisor stole 26% of a core"),
        (replace(UNTOLD, wall_ns=330_000_000), "stalled: took 3.3 times the usual row"),
        (replace(UNTOLD, psi_io_us=60_000), "IO pressure 60% of the time, usually 1%"),
    ],
)
def test_each_rule_alone_flags_the_row(figures: RowFigures, words: str) -> None:
    why = judge_row(figures, sooner=[UNTOLD] * FEWEST_SOONER)
    assert why is not None
    assert words in why


def test_a_quiet_row_is_not_flagged() -> None:
    assert judge_row(QUIET) is None
    assert judge_row(UNTOLD, sooner=[UNTOLD] * 9) is None


@pytest.mark.parametrize(
    ("cpus", "foreground", "limits"),
    [(1, 1, Limits()), (2, 1, Limits()), (5, 1, Limits()), (64, 1, Limits(6.4, 0.25)), (16, 8, Limits(1.6, 2.0))],
)
def test_limits_go_with_the_host_and_with_the_cpus_that_work_runs_on(
    cpus: int, foreground: int, limits: Limits
) -> None:
    assert Limits.of(cpus, foreground) == limits


def test_what_disturbs_a_small_host_does_not_disturb_a_large_one() -> None:
    row = replace(QUIET, foreign_cpu_ns=630_000_000, steal_ns=24_000_000)
    assert judge_row(row, Limits.of(64, 1)) is None
    assert judge_row(row) == "other processes used 630% of a core (limit 50%)"
    busier = replace(row, foreign_cpu_ns=650_000_000)
    assert judge_row(busier, Limits.of(64, 1)) == "other processes used 650% of a core (limit 640%)"


@pytest.mark.parametrize("untold", [replace(QUIET, foreign_cpu_ns=None), replace(QUIET, steal_ns=None)])
def test_what_a_server_may_have_done_itself_counts_where_the_host_tells_of_others(untold: RowFigures) -> None:
    for told, flagged in ((QUIET, False), (untold, True)):
        for row in (replace(told, wall_ns=5_000_000_000), replace(told, psi_io_us=100_000)):
            assert (judge_row(row, sooner=[told] * 9) is not None) == flagged


def test_what_the_host_cannot_tell_is_not_held_against_a_row() -> None:
    assert judge_row(RowFigures(wall_ns=100_000_000)) is None
    assert judge_row(RowFigures(wall_ns=0, foreign_cpu_ns=10)) is None
    assert judge_row(RowFigures(wall_ns=100_000_000), sooner=[RowFigures(wall_ns=0)] * 9) is None


def test_io_bound_rows_are_not_flagged_for_waiting_as_usual() -> None:
    row = replace(UNTOLD, psi_io_us=90_000)
    assert judge_row(row, sooner=[row] * 5) is None


def test_too_few_rows_tell_nothing_of_the_usual() -> None:
    stalled = replace(UNTOLD, wall_ns=400_000_000)
    assert judge_row(stalled, sooner=[UNTOLD] * (FEWEST_SOONER - 1)) is None
    assert "stalled" in (judge_row(stalled, sooner=[UNTOLD] * FEWEST_SOONER) or "")


def test_one_earlier_stall_does_not_move_the_usual() -> None:
    stalled = replace(UNTOLD, wall_ns=400_000_000)
    assert judge_row(stalled, sooner=[stalled] + [UNTOLD] * 4) is not None


def test_figures_come_from_the_engines_host_object() -> None:
    host = {"wall_ns": 10, "foreign_cpu_ns": 2, "steal_ns": 0, "psi_cpu_us": None, "psi_io_us": None}
    assert RowFigures.from_host(host) == RowFigures(10, 2, 0, None)
