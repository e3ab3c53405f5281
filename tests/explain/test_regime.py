"""In which regime a test that changes data was measured."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dbversus.explain.conditions import DRIVEN_S, driven_figures, regime_causes
from dbversus.report.parts.notes.cause_words import condition_notes
from dbversus.results.read import open_results
from dbversus.results.records import Drain
from dbversus.results.stored import Results
from dbversus.stats.values.levels import Figures

from ..journals import DictJournal, records_of
from ..report.synthetic import LABELS, TRUTHS, write_results

TEST = "update-index"
FIGURES = {
    (TEST, LABELS[0]): {"server_cpu_us_per_op": [60.0], "drain_cpu_us_per_op": [20.0]},
    (TEST, LABELS[1]): {"server_cpu_us_per_op": [99.0], "drain_cpu_us_per_op": [1.0]},
}


def regime_notes(results: Results, test: str, figures: Figures) -> list[str]:
    return condition_notes(regime_causes(results, test, figures))


@pytest.fixture
def results(tmp_path: Path) -> Results:
    directory = tmp_path / "results"
    truths = tuple(truth for truth in TRUTHS if truth.name in ("point-query", TEST))
    write_results(directory, targets=2, rows=2, blocks=2, truths=truths)
    left = {"ops": 10, "idle": True, "elapsed_ns": 1, "background": {}, "server_cpu_ns": 1, "server_write_bytes": 1}
    with DictJournal(directory) as journal:
        journal.append({"type": "drain", "block": 0, "test": TEST, "targets": {"t0": left}})
    return open_results(directory)


def test_what_was_put_off_is_told_where_it_is_much(results: Results) -> None:
    (note,) = regime_notes(results, TEST, FIGURES)
    assert note.startswith("measured on data as it was loaded")
    assert f"{LABELS[0]} 25% of its CPU" in note and LABELS[1] not in note


def test_aged_data_is_named(results: Results) -> None:
    aged = replace(results, header=msgspec.structs.replace(results.header, aged=[TEST]))
    (note,) = regime_notes(aged, TEST, {})
    assert note.startswith("measured on aged data") and "put off" not in note


def test_a_short_test_says_how_long_it_was_and_what_comes_later(results: Results) -> None:
    driven = driven_figures(results)
    assert driven.keys() >= {(TEST, label) for label in LABELS[:2]}
    assert all(len(of_blocks[DRIVEN_S]) == 2 for of_blocks in driven.values())
    (note,) = regime_notes(results, TEST, driven)
    seconds = driven[TEST, LABELS[0]][DRIVEN_S][0]
    assert f"driven for {seconds:.2g}" in note and "s per block: checkpoints of a full log" in note
    (long,) = regime_notes(results, TEST, {(TEST, label): {DRIVEN_S: [600.0]} for label in LABELS[:2]})
    assert "driven" not in long


def test_a_lead_in_is_named_in_place_of_what_comes_later(results: Results) -> None:
    plan = {
        "type": "slots",
        "block": 0,
        "test": TEST,
        "slot": {"ops": 9},
        "settle": {"ops": 0},
        "rows": 2,
        "lead_in_s": 40.0,
    }
    led = replace(results, records=(*results.records, *records_of(plan)))
    (note,) = regime_notes(led, TEST, driven_figures(results))
    assert (
        "in every block after a lead-in of 40 s on the slowest target, uncounted" in note and "come later" not in note
    )
    # an embedded DBMS puts nothing off
    embedded = replace(led, records=tuple(each for each in led.records if not isinstance(each, Drain)))
    (note,) = regime_notes(embedded, TEST, {})
    assert note.startswith("measured on data as it was loaded, in every block after a lead-in of 40 s")


def test_reads_have_no_regime(results: Results) -> None:
    assert regime_notes(results, "point-query", FIGURES) == []
