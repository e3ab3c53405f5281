"""The command that tests a cause."""

import pytest

from dbversus.explain.trial import trial_command
from dbversus.results.records import Experiment

HEADER = Experiment(
    schema=2,
    targets=[],
    tests=["scan"],
    suite="sysbench",
    table_size=1000,
    command="dbversus compare a:1 'b:2@x y=1' --profile quick --tests 'p*' --clients 1,4 --out /tmp/x --matrix m --judge p95",
)


@pytest.mark.parametrize(
    ("target", "settings", "named"),
    [
        ("postgres:17", "jit=off", "postgres:17 postgres:17@jit=off"),
        ("postgres:17#2", "jit=off", "postgres:17 postgres:17@jit=off"),
        ("postgres:17@fpw_off,jit=on", "jit=off", "postgres:17@fpw_off,jit=on postgres:17@fpw_off,jit=off"),
        ("mysql:8.0", "optimizer_switch=mrr=off", "mysql:8.0 mysql:8.0@optimizer_switch=mrr=off"),
    ],
)
def test_the_target_beside_itself_with_a_setting_in_place_of_its_own(target: str, settings: str, named: str) -> None:
    found = trial_command(HEADER, target, "scan@4", settings)
    assert found == f"dbversus compare {named} --tests scan --profile quick --clients 1,4 --judge p95"


def test_there_is_none_without_a_setting_and_where_a_list_is_set_already() -> None:
    assert trial_command(HEADER, "postgres:17", "scan", "") == ""
    assert trial_command(HEADER, "postgres:17@jit=off", "scan", "jit=off") == ""
    assert trial_command(HEADER, "mysql:8.0@optimizer_switch=x=on", "scan", "optimizer_switch=mrr=off") == ""


def test_an_experiment_that_did_not_compare_is_repeated_by_its_suite_and_size() -> None:
    header = Experiment(schema=2, targets=[], tests=[], suite="my.toml", table_size=5, command="dbversus run x.toml")
    assert trial_command(header, "a:1", "scan", "b=1").endswith("--tests scan --suite my.toml --table-size 5")
