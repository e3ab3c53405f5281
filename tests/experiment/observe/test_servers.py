import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.experiment.observe import servers
from dbversus.experiment.observe.servers import (
    EXECUTED,
    PLANS,
    _plans,
    store_executed_plans,
    store_late_plans,
    store_log_tails,
    store_server_facts,
)
from dbversus.results.schema import SERVERS
from dbversus.servers.base import Executed, Execution
from dbversus.suites.load import load_suite

from ..fakes import make_rig, records, server_of


def test_what_is_kept_of_servers_tells_neither_the_host_nor_secrets_nor_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("DBVERSUS_HOME", "/home/me/cache")
    monkeypatch.setattr(platform, "node", lambda: "db7.example.org")
    rig = make_rig(tmp_path, targets=1)
    said = "[Warning] 'root@db7' ignored\nserver_uid fXdYp7ZWAMM=\nGenerating a new UUID: 4d7e-02fc\n/home/me/cache/run7/data"
    facts: dict[str, Any] = {
        "settings": {"hostname": "db7", "server_uuid": "4d7e", "datadir": "/home/me/cache/run7/data", "vault_token": "hidden7"},
        "sizes": {}, "counters": {},
        "config_text": "init_connect = SET x = 'hidden7'\nplugin_load = /home/me/a.so\nwork_mem = 1MB\n",
        "status_text": "at db7", "log_tail": said,
    }  # fmt: skip
    for name, fact in facts.items():
        monkeypatch.setattr(server_of(rig, "t0"), name, lambda *_, fact=fact: fact, raising=False)
    store_server_facts(rig)
    store_log_tails(rig)
    folder = tmp_path / SERVERS / "t0"
    assert json.loads((folder / "settings.json").read_text()) == {"vault_token": "…"}
    assert (folder / "config.txt").read_text() == "init_connect = …\nplugin_load = ~/a.so\nwork_mem = 1MB\n"
    everything = "".join(path.read_text() for path in folder.iterdir())
    assert not [word for word in ("hidden7", "/home/me", "db7", "fXdY", "4d7e") if word in everything]
    assert "$DBVERSUS_HOME/run7/data" in (folder / "log_tail.txt").read_text()


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


def test_facts_of_servers_go_through_no_link(tmp_path: Path) -> None:
    outside, directory = tmp_path / "outside", tmp_path / "results"
    outside.mkdir()
    directory.mkdir()
    rig = make_rig(directory)
    for place in (SERVERS, f"{SERVERS}/t0"):
        link = directory / place
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(outside)
        with pytest.raises(UsageError, match=f"{link} is a link"):
            store_log_tails(rig)
        link.unlink()
    (directory / SERVERS / "t0").mkdir(parents=True)
    (directory / SERVERS / "t0/log_tail.txt").symlink_to(outside / "new")
    store_log_tails(rig)
    assert list(outside.iterdir()) == []


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


def executed(directory: Path, target: str = "t0") -> dict[str, str]:
    found: dict[str, str] = json.loads((directory / SERVERS / target / EXECUTED).read_text())
    return found


def test_statements_are_executed_for_their_plans_as_clients_prepare_them(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query,read-only-10")
    store_executed_plans(rig)
    plans = executed(tmp_path)
    assert plans["point-query/point"].endswith("id = $1")
    assert {name.partition("/")[0] for name in plans} == {"point-query", "read-only-10"}
    assert not records(rig, "remark")
    rig.spec = rig.spec.with_choices({"mode": "unprepared"})
    store_executed_plans(rig)
    assert "$1" not in executed(tmp_path)["point-query/point"]


def test_what_is_refused_is_remarked_on_and_costs_no_other_plan(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, tests="point-query,update-index")

    def refuse(statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        return [Executed(refused="too slow") if "UPDATE" in one.sql else Executed("Index Scan") for one in statements]

    server_of(rig, "t0").executed_plans = refuse  # type: ignore[method-assign]
    store_executed_plans(rig)
    assert executed(tmp_path) == {"point-query/point": "Index Scan"}
    (remark,) = records(rig, "remark")
    assert remark["words"] == "not executed for the plan of update-index/update-index: too slow"


def test_when_the_time_is_used_up_the_rest_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = make_rig(tmp_path, tests="point-query,update-index")
    monkeypatch.setattr(servers, "EXECUTED_S", -1)
    store_executed_plans(rig)
    assert executed(tmp_path) == {}
    assert "used up" in records(rig, "remark")[0]["words"]


def test_where_data_is_kept_nothing_is_executed(tmp_path: Path) -> None:
    rig = make_rig(tmp_path, restore="never", restart="never")
    store_executed_plans(rig)
    assert not (tmp_path / SERVERS / "t0" / EXECUTED).exists()
