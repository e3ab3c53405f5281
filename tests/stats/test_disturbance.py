"""Which rows are dropped, and what is said about them."""

from dataclasses import fields, replace

import pytest

from dbversus.stats.disturbance import RowFigures, Thresholds, judge_row, judge_rows, with_usual

QUIET = RowFigures(wall_ns=100_000_000, foreign_cpu_ns=5_000_000, steal_ns=0, psi_io_us=1_000)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"foreign_cpu_ns": 51_000_000}, "other processes used 51% of a core"),
        ({"steal_ns": 26_000_000}, "the hypervisor stole 26% of a core"),
        ({"usual_wall_ns": 30_000_000}, "stalled: took 3.3 times the usual row"),
        ({"psi_io_us": 60_000, "usual_psi_io_share": 0.05}, "IO pressure 60% of the time, usually 5%"),
    ],
)
def test_each_rule_alone_drops_the_row(change: dict[str, float], words: str) -> None:
    why = judge_row(replace(QUIET, **change))  # type: ignore[arg-type]
    assert why is not None
    assert words in why


def test_a_quiet_row_is_kept() -> None:
    assert judge_row(QUIET) is None
    assert judge_row(replace(QUIET, usual_wall_ns=100_000_000, usual_psi_io_share=0.01)) is None


def test_what_the_host_cannot_tell_is_not_held_against_a_row() -> None:
    assert judge_row(RowFigures(wall_ns=100_000_000)) is None
    assert judge_row(RowFigures(wall_ns=0, foreign_cpu_ns=10)) is None


def test_io_bound_rows_are_not_dropped_for_waiting_as_usual() -> None:
    row = replace(QUIET, psi_io_us=90_000)
    assert judge_rows([row] * 5) == [None] * 5


def test_one_stalled_row_among_its_like() -> None:
    rows = [QUIET] * 5 + [replace(QUIET, wall_ns=400_000_000)]
    verdicts = judge_rows(rows)
    assert verdicts[:5] == [None] * 5
    assert "stalled" in (verdicts[5] or "")


def test_rules_can_be_switched_off() -> None:
    noisy = replace(QUIET, foreign_cpu_ns=10**9, steal_ns=10**9, usual_wall_ns=1, usual_psi_io_share=-1)
    off = Thresholds(**{field.name: None for field in fields(Thresholds)})
    assert judge_row(noisy, off) is None


def test_figures_come_from_the_engines_host_object() -> None:
    host = {"wall_ns": 10, "foreign_cpu_ns": 2, "steal_ns": 0, "psi_cpu_us": None, "psi_io_us": None}
    assert RowFigures.from_host(host) == RowFigures(10, 2, 0, None)
    assert with_usual([]) == []
