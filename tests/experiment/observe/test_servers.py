import json
from collections.abc import Sequence
from pathlib import Path

from dbversus.errors import RunError
from dbversus.experiment.observe.servers import PLANS, _plans, store_late_plans
from dbversus.results.schema import SERVERS
from dbversus.suites.load import load_suite

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


def test_plans_of_what_builds_on_others_are_those_of_the_end_of_a_pass(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    rig.suite = load_suite("insert").select("l.i0,l.x,l.i1,l.i2,qp100")
    assert list(_plans(rig, rig.base)) == ["l.i0/insert"]
    folder = tmp_path / SERVERS / "t0"
    folder.mkdir(parents=True)
    (folder / PLANS).write_text('{"l.i0/insert": "Insert"}')
    (tmp_path / SERVERS / "t1").mkdir()
    store_late_plans(rig)
    plans = json.loads((folder / PLANS).read_text())
    assert plans["l.i0/insert"] == "Insert" and plans["qp100/queries/point"].startswith("Result: SELECT")
    assert not [name for name in plans if "marketsegment" in name] and not records(
        rig, "remark"
    )  # no plan of CREATE INDEX
