"""What reports say of a disturbed host: how many rows, by what, how much, and what to do; a clause where it was little."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment, Disturbance, Disturber, Waits
from dbversus.report.parts.experiment.disturbance import HYPERVISOR, PROCESSES, sentences, total_disturbance
from dbversus.results.read import open_results

from ....journals import DictJournal
from ...synthetic import FOREIGN_CPU_NS, TRUTHS, WALL_NS, write_results

QUIET = Disturbance(1200, 12, (Disturber(PROCESSES, 12, 0.7),), 0.02, 0.0)
BUSY = Disturbance(1200, 412, (Disturber(PROCESSES, 400, 0.921), Disturber(HYPERVISOR, 12, 0.31)), 0.4, 0.01)


def said(assessment: Assessment, disturbance: Disturbance, waits: Waits = Waits()) -> list[str]:  # noqa: B008 (it is frozen)
    """Of an experiment in which every test could be judged."""
    return sentences(replace(assessment, tests=(), disturbance=disturbance, waits=waits))


def test_a_few_disturbed_rows_are_one_clause(assessment: Assessment) -> None:
    assert said(assessment, QUIET) == ["The host was disturbed in 12 of 1,200 rows (1.0\u00a0%)."]
    none = Disturbance(1200, 0, (), 0.0, 0.0)
    assert said(assessment, none) == ["The host was disturbed in none of 1,200 rows."]
    assert sentences(replace(assessment, disturbance=none)) == said(assessment, none)


def test_many_are_told_with_who_did_it_how_much_it_was_and_what_helps(assessment: Assessment) -> None:
    how_many, by_processes, by_hypervisor = said(assessment, BUSY)
    assert how_many == "The host was disturbed in 412 of 1,200 rows (34.3\u00a0%); these rows count like all others."
    assert by_processes.startswith("Other processes used 0.92 of a core on average in 400 of them")
    assert "stop other work, or use --wait-quiet 5m" in by_processes
    assert by_hypervisor.startswith("The hypervisor took 0.31 of a core on average in 12 of them")
    assert "another machine, or more blocks" in by_hypervisor and "--wait-quiet" not in by_hypervisor


def test_waiting_is_told_with_what_came_of_it(assessment: Assessment) -> None:
    told = said(assessment, QUIET, Waits(3, 130.0))
    assert told[1:] == ["dbversus waited 2 min 10 s for a quiet host, before 3 blocks."]
    assert said(assessment, BUSY, Waits(3, 130.0, 1))[-1].endswith("before 3 blocks, 1 of them in vain.")


def test_tests_are_weighted_by_their_rows() -> None:
    together = total_disturbance([QUIET, BUSY])
    assert (together.rows, together.disturbed, together.disturbed_share) == (2400, 424, 424 / 2400)
    assert [(cause.what, cause.rows) for cause in together.causes] == [(PROCESSES, 412), (HYPERVISOR, 12)]
    assert together.causes[0].cores == pytest.approx((12 * 0.7 + 400 * 0.921) / 412)
    assert together.foreign_cpu_share == pytest.approx(0.21)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an experiment of which nearly half of the rows were disturbed, and that waited before two blocks."""
    truths = tuple(truth for truth in TRUTHS if truth.name == "read-only-count")
    folder = write_results(tmp_path_factory.mktemp("disturbed") / "results", targets=2, truths=truths)
    with DictJournal(folder) as journal:
        for block, quiet in ((0, True), (1, False)):
            journal.append({"type": "wait", "block": block, "seconds": 30.5, "quiet": quiet})
    return folder


@pytest.fixture(scope="module")
def disturbed(folder: Path) -> Assessment:
    return build_assessment(open_results(folder))


def test_causes_and_cores_are_those_of_the_stored_rows(disturbed: Assessment) -> None:
    found = disturbed.disturbance
    (cause,) = found.causes
    assert (cause.what, cause.rows) == (PROCESSES, found.disturbed) and found.disturbed_share > 0.3
    expected = FOREIGN_CPU_NS / WALL_NS
    assert cause.cores == pytest.approx(expected, rel=0.05)
    assert found.foreign_cpu_share == pytest.approx(found.disturbed_share * expected, rel=0.1)
    assert disturbed.waits == Waits(2, 61.0, 1)


def test_every_report_says_it(disturbed: Assessment) -> None:
    out = io.StringIO()
    text.render(disturbed, Console(file=out))
    for page in (out.getvalue(), markdown.render(disturbed), html.render(disturbed)):
        plain = " ".join(page.replace("\u00a0", " ").split())
        assert "these rows count like all others" in plain
        assert "stop other work, or use --wait-quiet 5m" in plain
        assert "dbversus waited 1 min 01 s for a quiet host, before 2 blocks, 1 of them in vain." in plain
    content = json_report.as_json(disturbed)
    assert content["disturbance"]["causes"][0]["what"] == PROCESSES
    assert content["waits"] == {"blocks": 2, "seconds": 61.0, "in_vain": 1}


def test_words_of_older_results_are_told_as_they_are(folder: Path) -> None:
    results = open_results(folder)
    why = results.slots["disturbed_why"].copy()
    why[:] = [words and "stalled: took 4.1 times the usual row (limit 3)" for words in why]
    old = build_assessment(replace(results, slots={**results.slots, "disturbed_why": why}))
    assert [(cause.what, cause.cores) for cause in old.disturbance.causes] == [("stalled", None)]
    assert sentences(old)[1].startswith("Stalled, in ")
