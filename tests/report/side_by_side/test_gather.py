"""Experiments side by side: ratios, interactions, and what becomes of what cannot be compared."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from dbversus.errors import UsageError
from dbversus.importing.run import import_results
from dbversus.report.code_layout import layout_note
from dbversus.report.sections.contrast import sentences
from dbversus.report.side_by_side.gather import side_by_side
from dbversus.report.side_by_side.model import SideBySide
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Verdict

from ..pairs import Contender, wrong_answer
from .experiments import ALIKE, BASE, SLOWER, host, two_hosts, write_experiment

SMALL, LARGE = "Small CPU, 2 cores", "Large CPU, 64 cores"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> SideBySide:
    return side_by_side(two_hosts(tmp_path_factory.mktemp("hosts")))


def test_a_regression_of_one_host_is_said_to_be_there_alone(found: SideBySide) -> None:
    assert [(line.test, line.target) for line in found.lines] == [
        ("point-query", "postgres:17"),
        ("update-index", "postgres:17"),
    ]
    for line in found.lines:
        one = line.interactions[LARGE][CPU]
        assert one.verdict is Verdict.REGRESSION and one.blocks == 4
        assert one.low and one.high and one.low < 1.25 < one.high
        assert line.interactions[LARGE][THROUGHPUT].ratio == pytest.approx(0.8, rel=0.02)
        assert line.comparisons[SMALL].verdict is Verdict.EQUIVALENT
        assert line.sentence == f"CPU/op and throughput: the regression is there only on {LARGE}"
    assert sentences(found)[:2] == [
        f"{test} on postgres:17: CPU/op and throughput: the regression is there only on {LARGE}."
        for test in ("point-query", "update-index")
    ]
    assert found.notes == ()


def test_ratios_are_those_of_each_experiments_own_report(found: SideBySide) -> None:
    own = found.lines[0].comparisons[LARGE].findings[CPU]
    assert own.ratio == pytest.approx(1.25, rel=0.02) and own.blocks == 6


def test_the_other_way_round_it_is_an_improvement_on_the_second(tmp_path: Path) -> None:
    small, large = two_hosts(tmp_path)
    (line, _) = side_by_side([large, small]).lines
    assert line.interactions[SMALL][CPU].verdict is Verdict.IMPROVEMENT
    assert line.sentence == f"CPU/op and throughput: the regression is there only on {LARGE}"


def test_equal_hosts_show_nothing(tmp_path: Path) -> None:
    equal = [write_experiment(tmp_path / name, seed=seed) for seed, name in enumerate("ab")]
    found = side_by_side(equal)
    assert {line.sentence for line in found.lines} == {"the same on all"}
    said = sentences(found)
    assert said[0] == "Nothing is shown to depend on the experiment (2 comparisons)."
    assert said[1] == "6 interactions: 0 shown, 6 the same within the margin, 0 undecided."


def test_the_same_on_all_is_said_of_what_is_known_of_all(tmp_path: Path) -> None:
    experiments = [write_experiment(tmp_path / name, seed=seed) for seed, name in enumerate("abc")]
    wrong_answer(experiments[2].directory, "update-index", "t1", ["t0", "t1"])
    point, update = side_by_side([*experiments[:2], open_results(experiments[2].directory)]).lines
    assert (point.sentence, update.sentence) == ("the same on all", "not shown to depend on the experiment")
    assert update.interactions["b"] and not update.interactions["c"]


def test_a_regression_on_all_that_is_larger_on_one(tmp_path: Path) -> None:
    much = replace(SLOWER, time=1.6, cpu=1.6)
    contenders = {"a": (BASE, SLOWER), "b": (BASE, much), "c": (BASE, SLOWER)}
    found = side_by_side([write_experiment(tmp_path / name, both, seed=7) for name, both in contenders.items()])
    assert (
        found.lines[0].sentence == "CPU/op and throughput: a regression on all, worse against the base on b than on a"
    )
    assert found.lines[0].interactions["c"][CPU].verdict is Verdict.EQUIVALENT


def test_metrics_can_be_chosen_and_change_no_verdict(tmp_path: Path) -> None:
    hosts = two_hosts(tmp_path)
    all_of_them, some = side_by_side(hosts), side_by_side(hosts, metrics=["cpu"])
    assert [metric.name for metric in some.judged] == [CPU]
    assert some.lines[0].interactions[LARGE] == {CPU: all_of_them.lines[0].interactions[LARGE][CPU]}
    with pytest.raises(UsageError, match=r"--metric p95 is not judged in all .*; accepted: cpu, throughput, io\."):
        side_by_side(hosts, metrics=["p95"])


def test_only_metrics_that_all_judge_are_compared(tmp_path: Path) -> None:
    small, large = two_hosts(tmp_path, judge=["cpu"])
    found = side_by_side([small, large])
    assert [metric.name for metric in found.judged] == [CPU]
    assert any(note.startswith("Only metrics that all experiments judge are here") for note in found.notes)
    other = write_experiment(tmp_path / "c", judge=["throughput"])
    with pytest.raises(UsageError, match=r"judge no metric in common: .*b cpu, .*c throughput"):
        side_by_side([large, other], names=["b", "c"])


def test_wrong_answers_have_no_interaction(tmp_path: Path) -> None:
    small, large = two_hosts(tmp_path)
    wrong_answer(large.directory, "update-index", "t1", ["t0", "t1"])
    found = side_by_side([small, open_results(large.directory)])
    point, update = found.lines
    assert update.interactions[LARGE] == {} and point.interactions[LARGE]
    assert update.left_out == (f"CPU/op, throughput and IO/op on {LARGE}: wrong result, so in no interaction",)
    assert f"update-index, postgres:17: {update.left_out[0]}." in found.notes


def test_one_block_has_ratios_and_no_verdict(tmp_path: Path) -> None:
    both = [write_experiment(tmp_path / name, blocks=1) for name in "ab"]
    one = side_by_side(both).lines[0].interactions["b"][CPU]
    assert (one.verdict, one.low, one.note) == (Verdict.UNDECIDED, None, "1 of 4 blocks: no verdict")


def test_an_import_stands_beside_without_an_interaction(tmp_path: Path) -> None:
    measured = write_experiment(tmp_path / "a", (BASE, ALIKE), suite="")
    (tmp_path / "runs.csv").write_text("version,point_query_per_s\npostgres:11,1000\npostgres:17,1100\n")
    import_results([tmp_path / "runs.csv"], tmp_path / "b")
    found = side_by_side([measured, open_results(tmp_path / "b")])
    (line,) = found.lines
    assert line.test == "point-query" and line.interactions["b"] == {}
    imported = line.comparisons["b"].findings[THROUGHPUT]
    assert imported.ratio == pytest.approx(1.1) and imported.low is None
    assert imported.verdict is Verdict.NOT_REPLICATED
    assert any(note.startswith("b is an import: ratios of runs without blocks") for note in found.notes)
    (said,) = sentences(found)
    assert said.startswith("Whether anything depends on the experiment is not judged (1 comparison): ")


def test_tests_and_targets_of_some_are_named(tmp_path: Path) -> None:
    more = Contender("postgres:18", "postgres", "18.0")
    small = write_experiment(tmp_path / "a", (BASE, ALIKE, more))
    large = write_experiment(tmp_path / "b", suite_checksum="bb", tests=["point-query"])
    found = side_by_side([small, large])
    assert [(line.test, line.target) for line in found.lines] == [("point-query", "postgres:17")]
    assert "Tests that not all experiments have: update-index (only on a)." in found.notes
    assert "Targets that not all experiments have: postgres:18 (only on a)." in found.notes


def test_what_two_of_three_have_is_shown(tmp_path: Path) -> None:
    first, second = (write_experiment(tmp_path / name, seed=seed) for seed, name in enumerate("ab"))
    third = write_experiment(tmp_path / "c", suite_checksum="cc", tests=["update-index"], host=host())
    found = side_by_side([first, third, second])
    point, update = found.lines
    assert list(point.comparisons) == ["a", "b"] and list(update.comparisons) == ["a", "c", "b"]


def test_that_builds_differ_in_code_is_said_once_of_all_experiments(tmp_path: Path) -> None:
    def with_checksums(results: Results, *checksums: str) -> Results:
        facts = [
            structs.replace(one, checksum=sum_) for one, sum_ in zip(results.header.targets, checksums, strict=True)
        ]
        return replace(results, header=structs.replace(results.header, targets=facts))

    pair = two_hosts(tmp_path)
    note = layout_note(with_checksums(pair[0], "9f", "00").header.targets)
    assert side_by_side([with_checksums(each, "9f", "00") for each in pair]).notes == (note,)
    assert side_by_side([with_checksums(each, "9f", "9f") for each in pair]).notes == ()
