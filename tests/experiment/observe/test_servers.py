import json
from collections.abc import Sequence
from pathlib import Path

from dbversus.errors import RunError
from dbversus.experiment.observe.servers import _plans

from ..fakes import make_rig, records, server_of


def test_a_statement_that_is_not_explained_costs_no_other_plan(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    server, explain = server_of(rig, "t1"), server_of(rig, "t1").plan

    def plan(sql: str, session_sql: Sequence[str] = ()) -> str:
        if sql.startswith("UPDATE"):
            raise RunError("only queries are explained")
        return explain(sql)

    server.plan = plan  # type: ignore[method-assign]
    assert list(_plans(rig, rig.by_name("t1"))) == ["point-query/point"]
    (remark,) = records(rig, "remark")
    assert remark["target"] == "t1"
    assert remark["words"] == "no plan of update-index/update-index: only queries are explained"
    assert len(_plans(rig, rig.base)) == 2 and json.dumps(_plans(rig, rig.base))


def test_each_refusal_is_told_in_its_own_words(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query,update-index,update-nonindex,delete")

    def plan(sql: str, session_sql: Sequence[str] = ()) -> str:
        if sql.startswith("SELECT"):
            return "Index Scan"
        raise RunError(f"no plan for {sql.split()[0]}")

    server_of(rig, "t0").plan = plan  # type: ignore[method-assign]
    assert list(_plans(rig, rig.base)) == ["point-query/point"]
    words = [remark["words"] for remark in records(rig, "remark")]
    assert "no plan of update-index/update-index, update-nonindex/update-nonindex: no plan for UPDATE" in words
    assert any(text.endswith("no plan for DELETE") for text in words) and len(words) >= 2
