"""Steps of an import: as printed in the summaries of the Insert Benchmark."""

from pathlib import Path

import pytest

from dbversus.importing.run import import_results
from dbversus.report.parts.steps.imported import PRINTED, imported_steps_part
from dbversus.report.parts.steps.summary import BELOW, insert_mark, rate_mark, ratio_mark, steps_part
from dbversus.report.sections.summary import INSERTS, of_steps, summaries
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from tests.importing.conftest import REFERENCE

OLD, NEW = "my5649.cx6d", "my8022.cx6d"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("imported") / "results"
    import_results([REFERENCE / "insert-2021"], folder)
    return open_results(folder)


def test_rates_are_rows_where_nothing_is_queried_and_queries_else(results: Results) -> None:
    part = steps_part(results, judge(results))
    assert part is not None
    steps = {step.name: step for step in part.steps}
    assert list(steps)[:2] == ["l.i0", "l.x"], "in the order in which they are run"
    assert steps["l.i0"].unit == "rows/s" and steps["l.i0"].cells[OLD].rate.value == 139860
    assert steps["l.i0"].cells[OLD].inserts_per_s is None
    queried = steps["q100.2"]
    inserts = queried.cells[OLD].inserts_per_s
    assert queried.unit == "queries/s" and inserts is not None and inserts.value == 100


def test_ratios_are_those_of_the_import_and_bear_no_colour(results: Results) -> None:
    part = steps_part(results, judge(results))
    assert part is not None
    load = next(step for step in part.steps if step.name == "l.i0")
    found = load.cells[NEW].finding
    assert found is not None and found.ratio == pytest.approx(85106 / 139860) and found.low is None
    assert rate_mark(load, NEW) == ratio_mark(load, OLD, NEW) == ""
    assert all(insert_mark(step, label) != BELOW for step in part.steps for label in step.cells)


def test_columns_are_named_as_what_the_reference_means(results: Results) -> None:
    part = imported_steps_part(results, ())
    assert part is not None and part.columns == PRINTED
    line = next(line for line in part.lines if (line["test"], line["target"]) == ("l.i0", OLD))
    assert (line["ips"], line["cpups"], line["maxop"]) == (139860, 45.7, 0.265)
    assert dict(of_steps(part, OLD).tables[-1].legend)["cpupq"].startswith("CPU of the machine")


def test_the_rate_that_was_asked_for_has_no_column_where_nobody_knows_it(results: Results) -> None:
    part = steps_part(results, judge(results))
    assert part is not None
    inserts = next(one for one in summaries(part, OLD) if one.title == INSERTS)
    assert [column.title for column in inserts.columns] == ["step", *(target.label for target in results.targets)]


def test_an_import_without_steps_has_none(tmp_path: Path) -> None:
    import_results([REFERENCE / "sysbench-2020"], tmp_path / "results")
    assert steps_part(open_results(tmp_path / "results"), ()) is None
