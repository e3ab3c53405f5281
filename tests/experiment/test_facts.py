import json
from pathlib import Path

from dbversus.errors import RunError
from dbversus.experiment.facts import _plans

from .fakes import make_session, records, server_of


def test_a_statement_that_is_not_explained_costs_no_other_plan(tmp_path: Path) -> None:
    session = make_session(tmp_path)
    server, explain = server_of(session, "t1"), server_of(session, "t1").plan

    def plan(sql: str) -> str:
        if sql.startswith("UPDATE"):
            raise RunError("only queries are explained")
        return explain(sql)

    server.plan = plan  # type: ignore[method-assign]
    assert list(_plans(session, session.by_name("t1"))) == ["point-query/point"]
    (remark,) = records(session, "remark")
    assert remark["target"] == "t1"
    assert remark["words"] == "no plan of update-index/update-index: only queries are explained"
    assert len(_plans(session, session.base)) == 2 and json.dumps(_plans(session, session.base))
