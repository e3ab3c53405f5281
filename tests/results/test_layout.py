"""Slots are laid out once, and what was made of them is kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.results import stored
from dbversus.results.layout import Layout, lay_out
from dbversus.results.read import open_results
from dbversus.stats.metrics import CPU, Columns, metric_named
from dbversus.stats.values.blocks import block_values

from ..report.synthetic import write_results
from ..stats.slots import make_slots


def test_a_report_lays_slots_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Layout] = []

    def counted(columns: Columns, base: str) -> Layout:
        made.append(lay_out(columns, base))
        return made[-1]

    monkeypatch.setattr(stored, "lay_out", counted)
    build_assessment(open_results(write_results(tmp_path / "r")))
    assert len(made) == 1


def test_block_values_are_made_once_per_metric_whoever_judges_it() -> None:
    layout, cpu = lay_out(make_slots(), "a"), metric_named(CPU)
    first = block_values(layout, [cpu])
    again = block_values(layout, [replace(cpu, primary=not cpu.primary)])
    assert first and all(one is other for one, other in zip(first, again, strict=True))
    assert block_values(layout, [replace(cpu, pooled=True)]) != first
