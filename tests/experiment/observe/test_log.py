"""What a server logs during a test, and nothing of before."""

import platform
from pathlib import Path

import pytest

from dbversus.experiment.cell.case import measure
from dbversus.experiment.observe.log import examples_of

from ..fakes import case_of, engine_of, make_rig, records, server_of


def test_what_is_logged_during_the_rows_is_journaled_with_an_example_of_each_kind(tmp_path: Path) -> None:
    rig = make_rig(tmp_path)
    server = server_of(rig, "t1")
    server.log = "2026-11-23 17:11:40.834 UTC [7] LOG:  database system is ready to accept connections\n"
    said = (
        "2026-11-23 17:12:01.001 GMT [9] LOG:  checkpoint starting: wal\n"
        "2026-11-23 17:12:02.001 GMT [9] LOG:  checkpoint complete: wrote 12 buffers (0.1%)\n"
        "2026-11-23 17:12:09.001 GMT [9] LOG:  checkpoint complete: wrote 3451 buffers (21.1%)\n"
    )

    def during() -> None:
        server.log += said
        engine_of(rig).during.clear()

    engine_of(rig).during["rows"] = during
    with rig.only(rig.contest.turns(0)[0]):
        measure(rig, 0, case_of(rig, "point-query"))
    (record,) = records(rig, "log")
    assert (record["block"], record["test"]) == (0, "point-query")
    examples = ["LOG: checkpoint starting: wal", "LOG: checkpoint complete: wrote 12 buffers (0.1%)"]
    found = record["targets"]["t1"]
    assert (found["lines"], found["examples"]) == (3, examples)
    second = 10**9
    began_ns = 1_795_453_921_001 * 10**6
    assert [(one["what"], one["began_unix_ns"], one["ended_unix_ns"]) for one in found["events"]] == [
        ("checkpoint", began_ns, began_ns + second),
        ("checkpoint", None, began_ns + 8 * second),  # its beginning, and how long it took, are not in the log
    ]


def test_lines_do_not_tell_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "db7")
    rig = make_rig(tmp_path)
    server = server_of(rig, "t1")
    server.log = ""

    def during() -> None:
        server.log += "[Warning] 'user' entry 'root@db7' ignored\n"
        engine_of(rig).during.clear()

    engine_of(rig).during["rows"] = during
    with rig.only(rig.contest.turns(0)[0]):
        measure(rig, 0, case_of(rig, "point-query"))
    (record,) = records(rig, "log")
    assert record["targets"]["t1"]["examples"] == ["[Warning] 'user' entry 'root@…' ignored"]
    rig.failure(rig.by_name("t1"), "start", "[ERROR] root@db7: no", final=False)
    assert records(rig, "failure")[0]["message"] == "[ERROR] root@…: no"


def test_times_of_all_servers_are_left_out() -> None:
    assert examples_of(
        [
            "2026-11-23T17:11:40.834800Z 0 [Warning] [MY-011068] [Server] The syntax is deprecated",
            "2026-11-23 17:11:40 0 [Note] InnoDB: Resizing",
            "261123 17:11:40 [ERROR] mysqld: Table is full",
        ]
    ) == [
        "[Warning] [MY-011068] [Server] The syntax is deprecated",
        "[Note] InnoDB: Resizing",
        "[ERROR] mysqld: Table is full",
    ]
