"""Journals of schema 1 are read as if they were of today, and a run that began with one may go on."""

import json
import lzma
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.errors import RunError
from dbversus.results import schema1
from dbversus.results.journal import parse_journal
from dbversus.results.read import open_results
from dbversus.results.records import (
    Block,
    Check,
    Counters,
    Experiment,
    Failure,
    Finished,
    HostFigures,
    Load,
    LoadFigures,
    Record,
    Resumed,
    Row,
    Slot,
    Slots,
    State,
)
from dbversus.results.records import Test as FinishedTest
from dbversus.results.schema import HOST, JOURNAL, SCHEMA_VERSION, SLOTS
from dbversus.results.write import Journal, seal

from ..journals import HOST as NEW_HOST

OLD_HOST = "fedcba9876543210"
RUNS = Path(__file__).parents[1] / "data/runs"
HEADER: dict[str, Any] = {
    "type": "experiment",
    "schema": 1,
    "dbversus": "0.1.0",
    "targets": [{"name": "t0", "label": "old"}, {"name": "t1", "label": "new"}],
    "tests": ["load", "scan"],
    "groups": {"scan": "range queries"},
    "clients": 4,
    "judge": None,
}
ROW: dict[str, Any] = {
    "type": "row",
    "dropped": True,
    "dropped_why": "other processes",
    "id": 3,
    "tag": {"block": 1, "test": "scan", "clients": 4, "solo": "t0"},
    "row": 7,
    "order": ["t0"],
    "started_unix_ns": 5,
    "host": {"wall_ns": 9, "foreign_cpu_ns": None},
    "slots": [{"target": "t0", "position": 0, "ops": 10, "elapsed_ns": 20, "errors": {"deadlock": 2}, "dropped": 1}],
}


def write(directory: Path, *lines: dict[str, Any]) -> Path:
    path = directory / JOURNAL
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (HEADER, *lines)))
    (directory / HOST).write_text(json.dumps({"machine_id": OLD_HOST}))
    return path


def read(directory: Path, line: dict[str, Any]) -> Record:
    (_, record), _ = parse_journal(write(directory, line | {"at_unix_ns": 1}))
    return record


OF_HOST: dict[str, Any] = {"host": OLD_HOST, "at_unix_ns": 1}


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (
            ROW,
            Row(
                block=1,
                test="scan",
                solo="t0",
                clients=4,
                row=7,
                order=["t0"],
                started_unix_ns=5,
                disturbed=True,
                disturbed_why="other processes",
                host_figures=HostFigures(wall_ns=9),
                **OF_HOST,
                slots=[Slot(target="t0", position=0, ops=10, elapsed_ns=20, errors={"deadlock": 2}, dropped=1)],
            ),
        ),
        (
            {
                "type": "plan",
                "test": "scan",
                "block": 0,
                "slot": {"ms": 50},
                "settle": {"ops": 0},
                "rows": 60,
                "group": "g1",
            },
            Slots(0, "scan", {"ms": 50}, {"ops": 0}, 60, group="g1", **OF_HOST),
        ),
        ({"type": "block", "block": 2, "state": "interrupted"}, Block(2, "interrupted", **OF_HOST)),
        (
            {"type": "test", "block": 2, "test": "scan", "state": "finished", "seconds": 3},
            FinishedTest(2, "scan", 3, **OF_HOST),
        ),
        (
            {"type": "load", "target": "t0", "table": "a", "earlier": False, "rows": 5, "elapsed_ns": 9},
            Load("t0", "a", earlier=False, figures=LoadFigures(rows=5, elapsed_ns=9), **OF_HOST),
        ),
        (
            {"type": "load", "target": "t1", "table": "a", "earlier": True, "shares": "old"},
            Load("t1", "a", earlier=True, shares="old", **OF_HOST),
        ),
        ({"type": "state", "block": 0, "targets": {}, "differs": {}}, State(0, "loaded", {}, {}, **OF_HOST)),
        (
            {"type": "counters", "block": 0, "test": "scan", "ops": {"t0": 4}, "delta": {"t0": {"a": 5}}},
            Counters(0, "scan", {"t0": {"a": 5.0}}, counted_ops={"t0": 4}, **OF_HOST),
        ),
        (
            {"type": "check", "test": "scan", "targets": {}, "agree": True, "differs": []},
            Check("scan", {}, agree=True, differs=[], **OF_HOST),
        ),
        (
            {
                "type": "failure",
                "target": None,
                "stage": "engine",
                "message": "no \udc80 Unicode",
                "final": False,
                "row": 3,
            },
            Failure(None, "engine", "no \udc80 Unicode", final=False, row=3, **OF_HOST),
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_what_lines_held_is_what_records_hold(tmp_path: Path, line: dict[str, Any], record: Record) -> None:
    assert read(tmp_path, line) == record


def test_the_first_line(tmp_path: Path) -> None:
    (header,), _ = parse_journal(write(tmp_path))
    assert isinstance(header, Experiment)
    assert (header.kinds, header.clients, header.judge) == ({"scan": "range queries"}, [4], [])
    assert header.calibration == [] and header.host == OLD_HOST
    (left_out,), _ = parse_journal(write_header(tmp_path, calibration=None, clients=[1, 2]))
    assert isinstance(left_out, Experiment) and left_out.calibration is None and left_out.clients == [1, 2]


def write_header(directory: Path, **fields: Any) -> Path:
    path = directory / JOURNAL
    path.write_text(json.dumps(HEADER | fields) + "\n")
    return path


def test_without_host_json_the_host_is_not_known(tmp_path: Path) -> None:
    path = write(tmp_path, ROW)
    (tmp_path / HOST).unlink()
    assert [record.host for record in parse_journal(path)[0]] == [None, None]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"type": "row", "slots": []}, "a `row` record has no `tag`"),
        ({"type": "look", "blocks": "4", "retired": []}, "Expected `int`"),
        ({"type": "block", "block": 0}, "a `block` record has no `state`"),
        ({"type": "slots"}, "missing required field"),
        ({"no": 1}, "expected one JSON object with `type`"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: dict[str, Any], said: str) -> None:
    path = write(tmp_path, line, ROW)
    with pytest.raises(RunError, match=rf"journal\.jsonl, line 2: damaged; .*{said}"):
        parse_journal(path)


def test_a_run_that_an_older_dbversus_began_goes_on_in_schema_2(tmp_path: Path) -> None:
    path = write(tmp_path, ROW)
    with Journal(tmp_path, NEW_HOST) as journal:
        journal.append(Resumed("0 blocks were finished", schema=SCHEMA_VERSION))
        journal.append(Row(1, "scan", row=8, disturbed=False, slots=[]))
    with path.open("ab") as file:
        file.write(b'{"type":"resumed","reason":"again"}\n{"type":"finished","reason":"decided"}\n')
    _, before, resumed, after, again, ended = parse_journal(path)[0]
    assert isinstance(before, Row) and isinstance(after, Row) and (before.row, after.row) == (7, 8)
    assert (before.host, resumed.host, after.host) == (OLD_HOST, NEW_HOST, NEW_HOST)
    assert isinstance(again, Resumed) and isinstance(ended, Finished)


def test_columns_sealed_by_an_older_dbversus_are_read_by_their_names_of_today(tmp_path: Path) -> None:
    import duckdb

    write(tmp_path, ROW)
    seal(tmp_path)
    renamed = "* RENAME (disturbed AS dropped, disturbed_why AS dropped_why)"
    path, older = tmp_path / SLOTS, tmp_path / "older.parquet"
    duckdb.sql(f"COPY (SELECT {renamed} FROM read_parquet('{path}')) TO '{older}'")  # noqa: S608
    older.replace(path)
    results = open_results(tmp_path)
    assert results.sql("SELECT disturbed, disturbed_why, clients, ops FROM slots")[1] == [
        (True, "other processes", 4, 10)
    ]


@pytest.mark.parametrize("run", sorted(RUNS.glob("*.xz")), ids=lambda path: path.name)
def test_every_line_of_stored_runs_is_a_record(tmp_path: Path, run: Path) -> None:
    content = lzma.decompress(run.read_bytes())
    (tmp_path / JOURNAL).write_bytes(content)
    found, good_bytes = parse_journal(tmp_path / JOURNAL)
    assert len(found) == content.count(b"\n") and good_bytes == len(content)
    slots = [slot for record in found if isinstance(record, Row) for slot in record.slots]
    assert sum(slot.ops or 0 for slot in slots) == sum(
        slot["ops"]
        for line in content.splitlines()
        if line.startswith(b'{"type":"row"')
        for slot in json.loads(line)["slots"]
    )


@pytest.mark.parametrize(
    "line", [b'{"type":"row\xff"}', b'{"\xc2":1}', b'{"type":"\\ud800"}', b'{"type":"load","\\ud800":1}']
)
def test_text_that_is_none_is_damage(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        schema1.decode(line, None)


def test_facts_of_a_host_that_cannot_be_read_name_none(tmp_path: Path) -> None:
    for facts in (b"\xff", b'{"machine_id":"\xff"}', b"[" * 100_000, b"[]", b"{"):
        (tmp_path / "host.json").write_bytes(facts)
        assert schema1.host_of(tmp_path) is None
