"""The order of a post: phases as they were run, groups of like tests in them."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.formats.post.phases import Phase, names, phases
from dbversus.report.model import Assessment
from dbversus.results.read import open_results
from dbversus.results.schema import IMPORTED_SUITE
from dbversus.results.stored import Results
from dbversus.stats.model import Verdict
from tests.importing.conftest import REFERENCE, Import, imported
from tests.results.samples import write_judged_load

__all__ = ["imported"]


def told(assessment: Assessment) -> dict[str, list[str]]:
    """Title of each phase → names of its cases."""
    return {phase.title: [case.name for case in phase.cases] for phase in phases(assessment)}


def named(assessment: Assessment, **groups: str) -> Assessment:
    """With tests of these names (`_` for a blank, `-` or dot) and groups."""
    first = assessment.tests[0]
    tests = tuple(replace(first, name=name, group=group) for name, group in groups.items())
    return replace(assessment, tests=tests, findings=(), steps=None)


def test_what_reads_before_and_after_the_writes_is_told_apart(assessment: Assessment) -> None:
    some = named(assessment, a="point queries", b="writes", c="point queries", d="writes", e="other")
    assert told(some) == {
        "Reads before the writes": ["a"],
        "Writes": ["b"],
        "Reads after the writes": ["c"],
        "More writes": ["d"],
        "Other": ["e"],
    }


def test_reads_alone_are_neither_before_nor_after(assessment: Assessment) -> None:
    assert told(named(assessment, a="point queries", b="range queries with aggregation")) == {"Reads": ["a", "b"]}


def test_an_import_in_the_order_of_names_goes_by_names(assessment: Assessment) -> None:
    some = {"delete": "writes", "hot-points": "point queries", "insert": "writes", "scan.pre": "point queries"}
    assert told(as_import(named(assessment, **some))) == {
        "Reads before the writes": ["scan.pre"],
        "Writes": ["delete", "insert"],
        "Reads after the writes": ["hot-points"],
    }


def as_import(assessment: Assessment) -> Assessment:
    return replace(assessment, header=msgspec.structs.replace(assessment.header, suite=IMPORTED_SUITE))


def test_groups_are_those_of_the_posts(imported: Import) -> None:
    found = phases(build_assessment(imported(REFERENCE / "sysbench-2020")))
    assert [group.title for phase in found for group in phase.groups] == ["Load", "Point queries", "Inserts"]
    assert [phase.clients for phase in found] == [[None], [1, 2, 3], [1, 2, 3]]
    assert len(found[1].groups[0].with_clients(2).cases) == 1


def test_steps_are_told_in_their_order_with_what_they_do(imported: Import) -> None:
    found = phases(build_assessment(imported(REFERENCE / "insert-2021")))
    assert titles(found) == {
        "Load, indexes and inserts": [
            "Inserts in the order of the primary key (l.i0)",
            "Creating the secondary indexes (l.x)",
            "Inserts with secondary indexes (l.i1)",
        ],
        "Queries while rows are inserted": ["Queries (q….2)"],
    }


def titles(found: tuple[Phase, ...]) -> dict[str, list[str]]:
    return {phase.title: [group.title for group in phase.groups] for phase in found}


@pytest.mark.parametrize("prefix", ["small", "a/b"])
def test_tests_of_servers_are_apart(assessment: Assessment, prefix: str) -> None:
    some = named(assessment, **{f"{prefix}/update-index": "writes", "large/update-index": "writes"})
    (phase,) = phases(some)
    assert [group.title for group in phase.groups] == [f"{prefix}: Updates", "large: Updates"]


def test_the_loads_of_several_sizes_are_no_tests_among_others(assessment: Assessment) -> None:
    some = named(assessment, **{"load@20k": "writes", "load@40k": "writes", "scan@20k": "other", "scan@40k": "other"})
    first = next(iter(assessment.findings))
    once = replace(some, findings=(replace(first, test="load", metric="load_rows_per_s"),))
    assert told(once) == {"Load": ["load@20k", "load@40k"], "Other": ["scan@20k", "scan@40k"]}
    assert titles(phases(once))["Load"] == ["Load"]


def test_loads_of_measured_targets_have_the_metrics_of_other_tests(results: Results) -> None:
    load, *_ = phases(build_assessment(results))
    assert load.title == "Load" and all(item.findings for item in load.cases[0].comparisons.values())


def test_sizes_of_one_step_are_told_together(assessment: Assessment) -> None:
    (phase,) = phases(named(assessment, **{f"scan@{size}": "point queries" for size in ("20m", "100m", "500m")}))
    assert [(group.title, len(group.cases)) for group in phase.groups] == [("Full scans", 3)]


def test_a_load_that_blocks_repeat_is_told_once_and_with_its_verdict(tmp_path: Path) -> None:
    write_judged_load(tmp_path)
    found = phases(build_assessment(open_results(tmp_path)))
    assert [phase.title for phase in found if any(case.test == "load" for case in phase.cases)] == ["Load"]
    (load,) = found[0].cases
    assert not load.loaded_once and load.comparisons["postgres:17.2"].verdict is not Verdict.NOT_REPLICATED


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["x.my5649.x6d.pk1", "x.my8022.x6d.pk1"], ["my5649.x6d", "my8022.x6d"]),
        (["x.my5649.x6d.pk0", "x.my5649.x6d.pk1"], ["x.my5649.x6d.pk0", "x.my5649.x6d.pk1"]),
        (["postgres:11.13@x5", "postgres:13.1@x5,dedup_off"], ["postgres:11.13", "postgres:13.1@dedup_off"]),
        (["postgres:13.1@x5"], ["postgres:13.1@x5"]),
    ],
)
def test_names_leave_out_what_all_targets_have(assessment: Assessment, labels: list[str], expected: list[str]) -> None:
    facts = assessment.targets[0]
    targets = tuple(replace(facts, target=replace(facts.target, label=label)) for label in labels)
    assert list(names(replace(assessment, targets=targets)).values()) == expected
