"""What stored results tell about the protocol: every part of the page is there, and holds figures."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dbversus.errors import UsageError

from .test_tuning_fewer import LABELS, TESTS, made_clock, made_results

offline: Any = importlib.import_module("tuning.offline")

HEADINGS = [
    "Rows per block: server_cpu_us_per_op",
    "Rows per block: throughput_ops_per_s",
    "Best number of rows, by test",
    "Slots by distance",
    "Sets of looks",
    "Rows and looks",
    "Rows by need",
    "The calibration judged with fewer rows",
]


@pytest.mark.slow
def test_the_page_has_a_table_under_every_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (offline, offline.fewer):
        monkeypatch.setattr(module, "read_clock", lambda results: made_clock(TESTS[0]))
    results = made_results()
    results.slots["started_unix_ns"] = results.slots["row"] * 10**8
    results.slots["position"] = (results.slots["target"] == LABELS[1]).astype(int)
    results.slots["affected"] = np.zeros(len(results.slots["row"]))
    monkeypatch.setattr(offline, "open_results", lambda directory: results)
    monkeypatch.setattr(offline, "LOOKS", ((4, 8),))
    monkeypatch.setattr(offline, "LONGER_LOOKS", ())
    text = offline.report(Path("none"), offline.Draws(replays=2, share=0.4, effect=0.05, seed=1), resamples=1)
    parts = text.split("\n### ")[1:]
    assert [part.splitlines()[0] for part in parts] == HEADINGS
    assert all(line.count("|") > 2 for part in parts for line in part.splitlines() if line.startswith("|"))
    assert all("| --- |" in part for part in parts)
    assert "2 experiments each; 40% of the tests change by +5% in CPU per op." in text


def test_a_single_block_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    results = made_results()
    results.slots["block"][:] = 0
    monkeypatch.setattr(offline, "open_results", lambda directory: results)
    with pytest.raises(UsageError, match="none has 1 blocks; spread between blocks wants 3 or more"):
        offline.report(Path("none"), offline.Draws(replays=2, share=0.4, effect=0.05, seed=1), resamples=1)
