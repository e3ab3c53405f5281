"""Servers that had too little memory, by their major page faults."""

from dataclasses import replace

import msgspec
import numpy as np

from dbversus.explain.conditions import MOST_FAULTS_PER_S, memory_causes
from dbversus.report.assessment import build_assessment
from dbversus.report.parts.notes.cause_words import condition_notes
from dbversus.results.stored import Results

from ..stats.twin_results import Truth, twin_results


def with_faults(faults_per_s: float, **header: object) -> Results:
    """The last target has them in `test0`."""
    results = twin_results(Truth(blocks=2, tests=2))
    slots = dict(results.slots)
    here = (slots["test"] == "test0") & (slots["target"] == results.targets[-1].label)
    faults = np.zeros(len(here), dtype=np.int64)
    faults[np.argmax(here)] = round(faults_per_s * slots["elapsed_ns"][here].sum() / 1e9)
    slots["server_major_faults"] = np.ma.array(faults)
    return replace(results, slots=slots, header=msgspec.structs.replace(results.header, **header))


def test_a_server_that_waits_for_its_own_pages_had_too_little_memory() -> None:
    results = with_faults(240.0, memory=512 * 2**20)
    (cause,) = memory_causes(results)
    (note,) = condition_notes([cause])
    target = results.targets[-1].label
    assert note.startswith(
        f"{target} had too little memory with a limit of 512m: 240 times a second it waited for a page"
    )
    assert (cause.test, cause.target) == ("test0", target)
    shown = {test.name: test.notes for test in build_assessment(results).tests}
    assert note in shown["test0"] and note not in shown["test1"]


def test_without_a_limit_none_is_named() -> None:
    (note,) = condition_notes(memory_causes(with_faults(240.0)))
    assert "had too little memory: 240 times" in note


def test_few_faults_and_emptied_caches_are_usual() -> None:
    assert not memory_causes(with_faults(MOST_FAULTS_PER_S - 1))
    assert not memory_causes(with_faults(240.0, cache="cold"))
