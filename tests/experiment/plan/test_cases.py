"""Cases: how many clients drive a target."""

from pathlib import Path

from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.plan.cases import cases_of, most_clients

SUITE = """\
title = "Mixed"
extends = "sysbench"

[tests.mixed]
title = "Reads beside updates"
group = "write"
[tests.mixed.roles.readers]
statements = ["point"]
[tests.mixed.roles.orders]
clients = 5
arrivals = { kind = "poisson", rate = 100 }
statements = ["update-index"]

[[phases]]
name = "all"
tests = ["mixed", "point-query"]
"""


def test_clients_of_all_roles_drive_a_target(tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(SUITE)
    asked = {"targets": ["sqlite:bundled", "sqlite:bundled@wal"], "suite": str(tmp_path / "mixed.toml")}
    spec = make_spec(asked | {"clients": [1, 4]})
    suite = spec.read_suite()
    assert [case.connections(1) for case in cases_of(suite.tests["mixed"], spec)] == [6, 9]
    assert [case.connections(1) for case in cases_of(suite.tests["point-query"], spec)] == [1, 4]
    assert most_clients(spec, suite) == 9
    assert most_clients(spec, suite.select("point-query")) == 4


def test_one_client_does_the_load_once_for_each_size(tmp_path: Path) -> None:
    asked = {"targets": ["sqlite:bundled", "sqlite:bundled@wal"], "judge_load": True, "tests": "point-query"}
    spec = make_spec(asked | {"clients": [1, 4], "table_size": [1000, 2000]})
    made = cases_of(spec.read_suite().tests["load"], spec)
    assert [(case.name, case.clients, case.table_size) for case in made] == [("load@1k", 1, 1000), ("load@2k", 1, 2000)]
