"""Steps in slices beside the same steps alone: the suite that is made, and the figures."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from dbversus.suites import load_suite

frozen_timers: Any = importlib.import_module("frozen_timers")

ALONE = frozen_timers.Driven(
    60.0, 60.0, 1000, 2000, 10**9, 10**8, {"wal.position_bytes": 4e6, "checkpointer.num_timed": 2.0}
)
SLICED = frozen_timers.Driven(30.0, 60.0, 500, 0, 10**9, 10**8, {"checkpointer.num_timed": 2.0}, {"dead_rows": 7.0})


def test_the_suite_has_slices_of_that_length_and_its_steps_build_on_l_i1(tmp_path: Path) -> None:
    path = tmp_path / "insert.toml"
    path.write_text(frozen_timers.suite_text(250, 7, 400))
    suite = load_suite(path).select("l.i0,l.x,l.i1,qr1000")
    assert {test.work.slice_ms for test in suite.tests.values() if test.work} == {250}
    scope = suite.tests["qr1000"].scope(1000, 1)
    assert (scope["seconds"], scope["percent_more"]) == (7, 400)


def test_clocks_are_told_per_minute_of_driven_time_and_what_never_happened_is_left_out() -> None:
    ((_, head, lines),) = frozen_timers.tables({"postgres:17, l.i1": {"alone": [ALONE], "slices": [SLICED]}})
    assert head == ["postgres:17, l.i1", "alone", "slices"]
    table = {name: [cell.split()[0] for cell in cells] for name, *cells in lines}
    assert table["timed checkpoints/min"] == ["2.00", "4.00"]
    assert table["log, bytes/row"][0] == "2,000.00" and table["wall ÷ driven time"] == ["1.00", "2.00"]
    assert table["dead_rows at the end"] == ["0.00", "7.00"] and "requested checkpoints/min" not in table


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    with pytest.raises(frozen_timers.UsageError, match="holds nothing measured"):
        frozen_timers.read(tmp_path)
