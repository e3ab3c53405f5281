"""What `resume` takes for the same experiment."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from dbversus.builds.model import Build, TargetSpec
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.header import check_host, check_unchanged, make_header, suite_checksum
from dbversus.results.records import Experiment
from dbversus.results.schema import HOST
from dbversus.servers.base import ServerConfig
from dbversus.suites.load import load_suite
from dbversus.suites.model import Suite

from ..journals import header as header_of

TESTS = "point-query,update-index"
NEW_FIELDS = ("checksum", "suite_checksum", "rendered", "spec", "files")


def _stage(tests: str = TESTS, **choices: Any) -> Any:
    builds = [Build("postgres", version, "path", Path("/opt"), f"sum of {version}") for version in ("17.1", "17.2")]
    targets = [
        SimpleNamespace(
            name=f"t{number}",
            label=f"/opt/pg-{number}",
            build=build,
            spec=TargetSpec(f"postgres:17.{number}", "postgres", f"17.{number}", name=f"number {number}"),
            server=SimpleNamespace(config=ServerConfig("", {"work_mem": "4MB", "shared_buffers": "1GB"})),
        )
        for number, build in enumerate(builds)
    ]
    spec = make_spec({"targets": ["postgres:17"] * 2, "table_size": 1000, **choices})
    suite = load_suite("sysbench").select(tests)
    return SimpleNamespace(spec=spec, suite=suite, targets=targets, host_facts={"machine_id": "here"})


def _journaled(header: Experiment) -> Experiment:
    """As it is read again."""
    return msgspec.json.decode(msgspec.json.encode(header), type=Experiment)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / HOST).write_text(json.dumps({"machine_id": "here"}))
    return tmp_path


def test_the_header_says_which_metrics_are_judged() -> None:
    assert make_header(_stage(), "").judge == ["cpu", "throughput", "io"]
    assert make_header(_stage(judge="p99,cpu"), "").judge == ["cpu", "p99"]


def test_the_header_says_what_tables_hold_where_the_table_size_does_not(tmp_path: Path) -> None:
    assert make_header(_stage(), "").data == []
    stage = _stage()
    (tmp_path / "schema.sql").write_text("SELECT 1;")
    table = "[tables.{}]\nrows = {}\ncolumns.id = {{ type = 'int4', values = {{ gen = 'sequence' }} }}\n"
    tests = """[tests.one]\ntitle = "t"\ngroup = "point"
statements = [{ name = "s", sql = "SELECT :id", params = { id = { gen = "uniform", low = 1, high = HIGH } } }]
[[phases]]\nname = "p"\ntests = ["one"]\n"""

    def said(tables: str, high: str = "7") -> list[str]:
        text = f"title = 't'\n[setup]\nsql = 'schema.sql'\n{tables}{tests.replace('HIGH', high)}"
        (tmp_path / "own.toml").write_text(text)
        stage.suite = load_suite(tmp_path / "own.toml")
        return make_header(stage, "").data

    made = "what schema.sql makes"
    assert said("") == [made]
    assert said("", '"table_size"') == [made, "table size 1,000"]
    assert said(table.format("a", 5000)) == ["a: 5,000 rows", made]
    followed = table.format("a", 5000) + table.format("b", "'table_size * 3'")
    assert said(followed) == ["a: 5,000 rows", "b: 3,000 rows", made, "table size 1,000"]


def test_the_same_may_go_on(results: Path) -> None:
    check_unchanged(results, _journaled(make_header(_stage(), "")), _stage())


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"version": "17.3"}, "/opt/pg-1 was version 17.2 so far and is 17.3 now"),
        ({"checksum": "of a new binary"}, "/opt/pg-1 is another build of version 17.2 than the one measured so far"),
    ],
)
def test_another_build_is_refused_by_name(results: Path, facts: dict[str, str], said: str) -> None:
    stage = _stage()
    stage.targets[1].build = replace(stage.targets[1].build, **facts)
    with pytest.raises(UsageError) as error:
        check_unchanged(results, make_header(_stage(), ""), stage)
    assert str(error.value) == f"{said}; put back what was measured, or start a new experiment."


@pytest.mark.parametrize("stage", [_stage(f"{TESTS},scan"), _stage(table_size=2000), _stage(tables=2)])
def test_other_tests_are_refused(results: Path, stage: Any) -> None:
    with pytest.raises(UsageError, match="The tests of suite sysbench are not what they were so far"):
        check_unchanged(results, make_header(_stage(), ""), stage)


def test_another_host_is_refused_before_anything_is_looked_at(results: Path) -> None:
    (results / HOST).write_text(json.dumps({"machine_id": "there"}))
    with pytest.raises(UsageError, match=f"{results} was measured on another host"):
        check_host(results)


def test_settings_that_came_out_otherwise_are_refused_or_kept_as_stored(results: Path) -> None:
    header = _journaled(make_header(_stage(), ""))
    stage = _stage()
    stage.targets[1].server.config = ServerConfig("", {"work_mem": "4MB", "shared_buffers": "512MB"})
    with pytest.raises(UsageError, match=r"/opt/pg-1: shared_buffers was 1GB so far and is 512MB now, .* --as-stored"):
        check_unchanged(results, header, stage)
    check_unchanged(results, header, stage, as_stored=True)
    assert stage.targets[1].server.config == _stage().targets[1].server.config


def test_secrets_and_folders_are_not_in_the_header_and_are_there_when_it_goes_on(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    config = ServerConfig(
        "", {"primary_conninfo": "password=hidden7", "work_mem": "4MB"}, {"LD_PRELOAD": "/home/me/lib.so:/opt/lib.so"}
    )
    stage = _stage()
    stage.targets[1].server.config = config
    header = _journaled(make_header(stage, ""))
    assert "hidden7" not in str(header) and "/home/me" not in str(header)
    check_unchanged(results, header, stage)
    stage.targets[1].server.config = replace(config, settings={**config.settings, "work_mem": "8MB"})
    with pytest.raises(UsageError, match="work_mem was 4MB so far and is 8MB now"):
        check_unchanged(results, header, stage)
    check_unchanged(results, header, stage, as_stored=True)
    assert stage.targets[1].server.config == config


def test_results_that_know_less_may_go_on(tmp_path: Path) -> None:
    header = msgspec.to_builtins(make_header(_stage(), ""))
    for holder in (header, *header["targets"]):
        for name in NEW_FIELDS:
            holder.pop(name, None)
    header = header_of(**header)
    stage = _stage()
    stage.targets[1].build = replace(stage.targets[1].build, checksum="of a new binary")
    check_unchanged(tmp_path, header, stage)


def test_words_make_no_other_suite_and_statements_do(tmp_path: Path) -> None:
    def with_sql(title: str, sql: str) -> Suite:
        path = tmp_path / "mine.toml"
        path.write_text(
            f'title = "{title}"\nextends = "sysbench"\n[tests.one]\ntitle = "{title}"\ngroup = "point"\n'
            f'statements = [{{ name = "one", sql = "{sql}" }}]\n[[phases]]\nname = "p"\ntests = ["one"]\n'
        )
        return load_suite(path)

    stages = [_stage() for _ in range(3)]
    for stage, (title, sql) in zip(stages, [("a", "SELECT 1"), ("b", "SELECT 1"), ("a", "SELECT 2")], strict=True):
        stage.suite = with_sql(title, sql)
    first, retitled, other = map(suite_checksum, stages)
    assert first == retitled != other


def test_a_target_with_a_name_is_recorded_with_what_it_is() -> None:
    targets = make_header(_stage(), "").targets
    assert [(target.label, target.spelled) for target in targets] == [
        ("/opt/pg-0", "postgres:17.0"),
        ("/opt/pg-1", "postgres:17.1"),
    ]
    assert [target.written for target in targets] == ["postgres:17.0", "postgres:17.1"]
