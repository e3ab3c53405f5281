"""Steps and single statements in a suite file: what they become, and what does not go with them."""

from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.experiment.plan.cases import cases_of
from dbversus.experiment.plan.definitions import definitions
from dbversus.suites.load import load_suite
from dbversus.suites.model import STATEMENT, STEP, Suite
from dbversus.suites.send.define import definition, operations_of, undo_sql

SUITE = (Path(__file__).parents[2] / "data/work.toml").read_text()


def _suite(folder: Path, text: str = SUITE) -> Suite:
    path = folder / "mine.toml"
    path.write_text(text)
    return load_suite(path)


def _spec(folder: Path) -> ExperimentSpec:
    return make_spec(
        {"targets": ["sqlite:bundled", "sqlite:bundled"], "suite": str(folder / "mine.toml"), "clients": [1, 4]}
    )


def test_a_step_has_operations_in_slices(tmp_path: Path) -> None:
    test = _suite(tmp_path).tests["more"]
    assert test.work and (test.work.kind, test.work.slice_ms) == (STEP, 1000)
    assert operations_of(test.work, test, 1000, 1) == 500
    assert test.leaves_changes and [case.name for case in cases_of(test, _spec(tmp_path))] == ["more@1", "more@4"]
    with pytest.raises(UsageError, match=r"mine.toml:8: operations is 0; 1 or more is accepted"):
        operations_of(test.work, test, 1, 1)


def test_a_single_statement_is_sent_once_as_text_by_one_client(tmp_path: Path) -> None:
    test = _suite(tmp_path).tests["build"]
    assert test.work and test.work.kind == STATEMENT and operations_of(test.work, test, 10, 1) == 1
    assert [(case.name, case.clients) for case in cases_of(test, _spec(tmp_path))] == [("build", 1)]
    (sent,) = definition(test, "postgres", 10)["statements"]
    assert (sent["mode"], sent["table"]) == ("text", "client")
    assert undo_sql(test.work, "postgres") == "DROP INDEX t_id"
    assert undo_sql(test.work, "mariadb") == "DROP INDEX t_id ON t1"
    assert test.changes_data and not test.leaves_changes


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('operations = "table_size / 2"\n', "", "mine.toml:4: a step needs `operations`"),
        ('"table_size / 2"', "0", "mine.toml:8: operations is 0; 1 or more is accepted."),
        ('"table_size / 2"', '"rows"', "mine.toml:8: unknown variable 'rows'"),
        ('kind = "step"', 'kind = "steps"', "mine.toml:5: tests.more.kind is 'steps'"),
        ('kind = "step"\n', "", '`operations` is for tests of kind = "step", and this one\'s is "slots"'),
        ('"table_size / 2"', "5\nslice_ms = 0", "mine.toml:9: tests.more.slice_ms is 0"),
        ('"table_size / 2"', '5\nbounded_by = "time"', "mine.toml:9: `bounded_by` is not for tests of kind"),
        ('"table_size / 2"', '5\nundo = { sql = "ROLLBACK" }', 'mine.toml:9: `undo` is for tests of kind = "statement"'),
        ('t{table} (id)" }]', 't (id)" }]\noperations = 2', 'mine.toml:15: `operations` is for tests of kind = "step"'),
        (
            't{table} (id)" }]',
            't (id)" }, { name = "b", sql = "SELECT :x", only = ["mysql"], params = { x = { gen = "sequence" } } }]',
            "statement 'b' has `only`; it can have no `params`",
        ),
        ('t{table} (id)" }]', 't (id)" }]\ntransaction = true', "mine.toml:15: a test of kind = \"statement\" is no transaction"),
        ('t{table} (id)" }]', 't (id)", repeat = 2 }]', "are run once: leave `repeat` out"),
        ('sql = "DROP INDEX t_id",', 'sql = "DROP INDEX :id",', "mine.toml:15: `undo` is sent as it stands"),
        ('["more", "build"]', '["more", "build.warm"]', "mine.toml:18: 'build' has an end, so it does not warm caches"),
        ("[[phases]]", '[aging]\ntest = "more"\noperations = 5\n[[phases]]', "'more' has an end of its own"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_work_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SUITE
    with pytest.raises(UsageError) as error:
        _suite(tmp_path, SUITE.replace(old, new, 1))
    assert expected in str(error.value)


def test_several_statements_are_run_one_after_another_and_some_on_one_dbms_alone(tmp_path: Path) -> None:
    more = '{ name = "b", sql = "ANALYZE t{table}", only = ["postgres", "sqlite"] }'
    test = _suite(tmp_path, SUITE.replace('t{table} (id)" }]', f't{{table}} (id)" }}, {more}]', 1)).tests["build"]
    names = {dbms: [one["name"] for one in definition(test, dbms, 10)["statements"]] for dbms in ("postgres", "mysql")}
    assert names == {"postgres": ["build", "b"], "mysql": ["build"]}
    both = definitions(test, ["postgres", "mysql"], 10, 1)
    assert both["postgres"]["statements"][0]["params"] == both["mysql"]["statements"][0]["params"]


def test_undo_needs_a_text_for_each_dbms(tmp_path: Path) -> None:
    test = _suite(tmp_path, SUITE.replace('{ sql = "DROP INDEX t_id", ', "{ ")).tests["build"]
    assert test.work
    with pytest.raises(UsageError, match="statement 'undo' has no SQL for sqlite, only for mysql"):
        undo_sql(test.work, "sqlite")


def test_work_needs_data_that_is_restored(tmp_path: Path) -> None:
    _suite(tmp_path)
    spec = make_spec(
        {"targets": ["sqlite:bundled", "sqlite:bundled"], "suite": str(tmp_path / "mine.toml"), "restore": "never"}
    )
    with pytest.raises(UsageError, match=r"test more is work with an end.*needs restore = 'block'"):
        spec.read_suite()
