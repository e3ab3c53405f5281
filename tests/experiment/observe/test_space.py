"""What files take at the end of a test, from servers that answer as they are told to."""

from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.cell.case import measure

from ..fakes import case_of, make_rig, records

USE = {"database_bytes": 4096, "data_dir_bytes": 8192}


@pytest.mark.parametrize(("test", "expected"), [("update-index", [{"t0": USE, "t1": USE}]), ("point-query", [])])
def test_of_tests_that_change_data(tmp_path: Path, test: str, expected: list[object]) -> None:
    rig = make_rig(tmp_path, tests=test)
    with rig.only(rig.contest.turns(0)[0]):
        measure(rig, 0, case_of(rig, test))
    assert [record["targets"] for record in records(rig, "space")] == expected


def test_a_server_that_is_gone_leaves_the_others(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="update-index")

    def refuse() -> dict[str, int]:
        raise RunError("it does not answer")

    rig.by_name("t1").server.space = refuse  # type: ignore[method-assign]
    with rig.only(rig.contest.turns(0)[0]):
        measure(rig, 0, case_of(rig, "update-index"))
    assert [record["targets"] for record in records(rig, "space")] == [{"t0": USE}]
