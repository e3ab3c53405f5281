import tomllib
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec, read_spec, write_spec
from dbversus.suites import definition

TARGETS = {"targets": ["postgres:13", "postgres:17"]}


def test_a_written_spec_reads_back_the_same(tmp_path: Path) -> None:
    spec = make_spec(TARGETS | {"table_size": "10k", "clients": 2, "margins": {"server_cpu_us_per_op": 0.05}})
    write_spec(spec, tmp_path / "experiment.toml")
    assert read_spec(tmp_path / "experiment.toml", lambda _: {"table_size": 7}) == spec
    assert spec.table_size == 10_000 and spec.clients == [2]


@pytest.mark.parametrize(
    ("choices", "named"),
    [
        ({"table_size": 0}, "table_size"),
        ({"colour": "red"}, "colour"),
        ({"mode": "fast"}, "mode"),
        ({"looks": [4, 4]}, "looks"),
        ({"clients": [0]}, "clients"),
        ({"margins": {"speed": 0.1}}, "speed"),
        ({"margins": {"server_cpu_us_per_op": 3}}, "server_cpu_us_per_op"),
        ({"targets": []}, "targets"),
        ({"at_once": 1}, "at_once"),
        ({"at_once": 2, "order": "sequential"}, "at_once is for interleaved order"),
        ({"at_once": 2, "rows": 9000}, "up to 5000 rows"),
        ({"drain_s": -1}, "drain_s"),
        ({"lead_in_s": -1}, "lead_in_s"),
        ({"lead_in_s": 5, "cache": "mixed"}, "lead_in_s goes with cache = 'warm'"),
        ({"judge": ["cpu", "speed"]}, "unknown metric 'speed'; accepted: cpu, throughput, io, mean, p50, p95, p99"),
        ({"judge": []}, "no metric is named; name one or more of: cpu, throughput, io, mean, p50, p95, p99"),
        ({"judge": ""}, "no metric is named"),
        ({"margins": {"p99": 0.1, "latency_p99_us": 0.2}}, "a metric has two margins"),
        ({"label": ""}, "'label' is ''; accepted: a text that is not empty"),
        ({"label": "y" * 200}, "200 characters.; accepted: a text of at most 80 characters"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(choices: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named) as error:
        make_spec(TARGETS | choices)
    assert "\n" not in str(error.value)


def test_judged_metrics_are_named_in_any_order_and_stored_in_one(tmp_path: Path) -> None:
    assert make_spec(TARGETS).judge == ["cpu", "throughput", "io"]
    expected = make_spec(TARGETS | {"judge": ["cpu", "p99"]})
    assert make_spec(TARGETS | {"judge": "p99,cpu,p99"}) == make_spec(TARGETS | {"judge": ["p99", "cpu"]}) == expected
    write_spec(expected, tmp_path / "experiment.toml")
    assert read_spec(tmp_path / "experiment.toml", lambda _: {}) == expected


def test_margins_go_by_short_and_by_full_names() -> None:
    spec = make_spec(TARGETS | {"margins": {"p99": 0.2, "server_cpu_us_per_op": 0.05}})
    assert spec.margins == {"latency_p99_us": 0.2, "server_cpu_us_per_op": 0.05}


def test_a_file_that_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("targets = [\n")
    with pytest.raises(UsageError, match="TOML"):
        read_spec(tmp_path / "x.toml", lambda _: {})
    with pytest.raises(UsageError, match="does not exist"):
        read_spec(tmp_path / "y.toml", lambda _: {})


def test_servers_that_are_up_at_once() -> None:
    five = {"targets": [f"postgres:{version}" for version in range(13, 18)]}
    assert make_spec(five).servers_up == 5
    assert make_spec(five | {"at_once": 3}).servers_up == 3
    assert make_spec(five | {"order": "sequential"}).servers_up == 1


def test_a_matrix_becomes_targets(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('[matrix]\nbuilds = ["postgres:17"]\nconfigs = [["sync0", "sync1"]]\n')
    spec = read_spec(path, lambda _: {}, exclude=["@sync0"])
    assert spec.targets == ["postgres:17@sync1"]
    write_spec(spec, tmp_path / "again.toml")
    assert read_spec(tmp_path / "again.toml", lambda _: {}) == spec


@pytest.mark.parametrize(
    ("text", "builds", "named"),
    [
        ('targets = ["postgres:17"]\n', ["postgres:13"], "has no"),
        ('targets = ["postgres:17"]\n[matrix]\nbuilds = ["postgres:17"]\n', [], "x.toml:1: there are `targets` and"),
    ],
)
def test_builds_are_for_a_matrix_alone(tmp_path: Path, text: str, builds: list[str], named: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(UsageError, match=named):
        read_spec(tmp_path / "x.toml", lambda _: {}, builds)


def test_what_is_optional_in_a_matrix_is_so_in_the_experiment(tmp_path: Path) -> None:
    text = '[matrix]\nbuilds = ["postgres:17"]\nconfigs = [["comp0", "compLZ4"]]\noptional = ["compLZ4"]\n'
    (tmp_path / "x.toml").write_text(text)
    assert read_spec(tmp_path / "x.toml", lambda _: {}).optional == ["compLZ4"]


IDLE = """\
title = "Idle"
[tables.t]
columns = { id = { type = "int4", values = { gen = "sequence" } } }
[statements.vacuum]
sql = "VACUUM t"
table = "client"
[tests.read]
kind = "step"
title = "Read beside a vacuum"
group = "point"
roles.readers = { operations = 10, statements = [{ name = "look", sql = "SELECT 1" }] }
roles.cleaners = { operations = 1, statements = [{ use = "vacuum", only = ["postgres"] }] }
[tests.clean]
kind = "statement"
title = "Vacuum"
group = "write"
statements = [{ use = "vacuum", only = ["postgres"] }]
[[phases]]
name = "p"
tests = ["read", "clean"]
"""


def test_what_does_nothing_on_a_target_is_left_out_and_said(tmp_path: Path) -> None:
    suite = tmp_path / "idle.toml"
    suite.write_text(IDLE)
    one = make_spec({"targets": ["postgres:17", "postgres:16"], "suite": str(suite)})
    assert list(one.read_suite().tests) == ["read", "clean"] and one.left_out() == []
    both = make_spec({"targets": ["postgres:17", "sqlite:bundled"], "suite": str(suite)})
    assert list(both.read_suite().tests) == ["read"]
    assert both.left_out() == [
        "role cleaners of test read does nothing on SQLite: it has no statement there",
        "test clean is left out: it has no statement for SQLite",
    ]
    sent = [
        [role["counted"] for role in definition(both.read_suite().tests["read"], dbms, 10)["roles"]]
        for dbms in ("postgres", "sqlite")
    ]
    assert sent == [[True, True], [True, False]]
    with pytest.raises(
        UsageError, match=r"No test can be run: test clean is left out: it has no statement for SQLite\."
    ):
        make_spec({"targets": ["sqlite:bundled"], "suite": str(suite), "tests": "clean"}).read_suite()


def test_the_load_comes_before_the_tests_that_are_named_and_may_be_all_there_is() -> None:
    def tests_of(names: str, **choices: object) -> list[str]:
        suite = make_spec(TARGETS | {"tests": names, **choices}).read_suite()
        return [test.name for test in suite.reported_tests]

    assert tests_of("point-query", judge_load=True) == ["load", "point-query"]
    assert tests_of("load", judge_load=True) == ["load"]
    with pytest.raises(UsageError, match=r"load names the load alone, which is a test with judge_load"):
        tests_of("load")
    with pytest.raises(UsageError, match=r"test load is work with an end.*restore = 'block'"):
        tests_of("load", judge_load=True, restore="never")


def test_settings_for_the_lab_have_a_table_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('targets = ["sqlite:bundled", "sqlite:host"]\n[lab]\ncache = "mixed"\nfreeze = false\n')
    spec = read_spec(path, lambda _: {})
    assert (spec.cache, spec.freeze, spec.restart) == ("mixed", False, "block")
    write_spec(spec, tmp_path / "again.toml")
    assert tomllib.loads((tmp_path / "again.toml").read_text())["lab"]["cache"] == "mixed"
    assert read_spec(tmp_path / "again.toml", lambda _: {}) == spec
    path.write_text('targets = ["sqlite:bundled", "sqlite:host"]\n[scaled.lab]\nplacement = "none"\n')
    assert [read_spec(path, lambda _: {}, scaled=form).placement for form in (False, True)] == ["auto", "none"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('restart = "never"\n', r"x\.toml:2: 'restart' is a setting for the lab; write it under \[lab\]\."),
        ('[scaled]\ncache = "cold"\n', r"x\.toml:3: 'cache' is .*; write it under \[scaled\.lab\]\."),
        ("[lab]\nclients = 2\n", r"x\.toml:3: \[lab\] has no 'clients'; accepted: placement, "),
        ("settle_ms = 3\n", r"x\.toml:2: 'settle_ms' is called 'warm_up_ms' now\."),
        ("lab = 1\n", r"x\.toml:2: 'lab' is 1; a table is accepted"),
    ],
)
def test_a_setting_in_the_wrong_table_is_told_where_it_belongs(more: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('targets = ["sqlite:bundled", "sqlite:host"]\n' + more)
    with pytest.raises(UsageError, match=sentence):
        read_spec(tmp_path / "x.toml", lambda _: {}, scaled="scaled" in more)
