"""The audit finds what it is there to find: results that are right pass, each kind of damage is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbversus.results.write import seal

from ..journals import DictJournal
from .audit import audit, given_up, has_ended, read_records
from .faults import Injection
from .plan import Fault, Kind
from .traces import untraced

Record = dict[str, Any]
FAILURE: Record = {"type": "failure", "target": "t1", "stage": "slot", "message": "lost", "final": False}


def _row(block: int, test: str, number: int, *, disturbed: bool = False) -> Record:
    figures = {"elapsed_ns": 15_000_000 + number, "ops": 100, "position": 0}
    return {
        "type": "row",
        "disturbed": disturbed,
        "disturbed_why": "a reason" if disturbed else None,
        "block": block,
        "test": test,
        "clients": 1,
        "row": number,
        "started_unix_ns": 1_000 + number,
        "slots": [{"target": name, **figures} for name in ("t0", "t1")],
    }


def _journal() -> list[Record]:
    targets = [{"name": name, "label": f"sqlite#{name}", "dbms": "sqlite"} for name in ("t0", "t1")]
    records: list[Record] = [{"type": "experiment", "schema": 2, "targets": targets, "tests": ["load", "a", "b"]}]
    records += [
        {"type": "slots", "test": test, "block": 0, "slot": {"ms": 15}, "settle": {"ops": 0}, "rows": 3}
        for test in ("a", "b")
    ]
    for block in (0, 1):
        for test in ("a", "b"):
            records += [_row(block, test, number, disturbed=number == 1) for number in range(3)]
            records.append({"type": "test", "block": block, "test": test})
        records.append({"type": "block", "block": block, "event": "finished"})
    return [
        *records,
        FAILURE,
        {"type": "resumed", "reason": "", "schema": 2},
        {"type": "finished", "reason": "looks used up"},
    ]


def _store(directory: Path, records: list[Record], *, report: bool = True) -> Path:
    with DictJournal(directory) as journal:
        for record in records:
            journal.append(record)
    seal(directory)
    if report:
        failures = [record for record in records if record["type"] == "failure"]
        outcome = "It was resumed once."
        (directory / "report.json").write_text(json.dumps({"failures": failures, "outcome": outcome}))
        (directory / "report.html").write_text("a page")
    return directory


def _is_row(record: Record, block: int, test: str, number: int) -> bool:
    expected = _row(block, test, number)
    return all(record.get(name) == expected[name] for name in ("type", "row", "block", "test"))


def _twice(records: list[Record]) -> None:
    records.insert(8, _row(0, "a", 2))


def _gap(records: list[Record]) -> None:
    records[:] = [record for record in records if not _is_row(record, 1, "b", 1)]


def _too_few(records: list[Record]) -> None:
    records[:] = [record for record in records if not any(_is_row(record, 1, "b", number) for number in (2, 3))]


def _test_lost(records: list[Record]) -> None:
    records[:] = [record for record in records if (record["type"], record.get("test")) != ("test", "b")]


def _block_twice(records: list[Record]) -> None:
    records.insert(-2, {"type": "block", "block": 1, "event": "finished"})


def _wrong_answers(records: list[Record]) -> None:
    records.insert(3, {"type": "check", "test": "a", "targets": {}, "agree": False, "differs": ["t1"]})


def _backwards(records: list[Record]) -> None:
    next(record for record in records if record["type"] == "row")["slots"][0]["elapsed_ns"] = -5


def test_a_whole_experiment_passes(tmp_path: Path) -> None:
    assert audit(_store(tmp_path, _journal())) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_twice, "row 2 is there 2 times"),
        (_gap, "gaps"),
        (_too_few, "has 2 rows; planned are 3"),
        (_test_lost, "block 0 lacks b"),
        (_block_twice, "order [0, 1, 1]"),
        (_wrong_answers, "answers of a differ on t1"),
        (_backwards, "operations in -5 ns"),
    ],
)
def test_damage_is_named(tmp_path: Path, spoil: Callable[[list[Record]], None], words: str) -> None:
    records = _journal()
    spoil(records)
    assert any(words in wrong for wrong in audit(_store(tmp_path, records)))


def test_slots_that_are_not_those_of_the_journal_are_named(tmp_path: Path) -> None:
    _store(tmp_path, _journal())
    with (tmp_path / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps(_row(2, "b", 0, disturbed=True) | {"at_unix_ns": 9}) + "\n")
    assert audit(tmp_path) == ["slots.parquet lacks 2 slots of the journal and has 0 that are not in it"]


def test_what_a_report_keeps_to_itself_is_named(tmp_path: Path) -> None:
    _store(tmp_path, _journal())
    (tmp_path / "report.json").write_text(json.dumps({"failures": [], "outcome": ""}))
    said = audit(tmp_path)
    assert [any(words in each for each in said) for words in ("slot: lost", "resumed 1 times")] == [True, True]
    (tmp_path / "report.json").unlink()
    assert any("report.json is missing" in each for each in audit(tmp_path))


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    _store(tmp_path, _journal())
    journal = tmp_path / "journal.jsonl"
    journal.write_text(journal.read_text().replace('{"type":"slots"', '{"type""slots"', 1))
    assert "line 2" in audit(tmp_path)[0]


def test_a_run_that_goes_on_has_not_ended(tmp_path: Path) -> None:
    records = [*_journal(), {"type": "resumed", "reason": ""}]
    assert has_ended(_journal()) and not has_ended(records) and not has_ended([])
    final = FAILURE | {"final": True}
    assert given_up(_journal()) == set() and given_up([*_journal(), final]) == {"t1"}
    assert read_records(tmp_path) == []


def _injection(kind: Kind, victim: str | None = None) -> Injection:
    return Injection(Fault(kind, 1, 0, 0), 100, victim)


def _after(*records: Record) -> list[Record]:
    return [record | {"at_unix_ns": 101 + number} for number, record in enumerate(records)]


def test_a_kill_that_rows_followed_has_to_be_on_record() -> None:
    row = _row(0, "a", 1) | {"started_unix_ns": 105}
    killed = _injection(Kind.KILL_SERVER, "t1")
    assert list(untraced(killed, _after(row)))
    assert not list(untraced(killed, _after(FAILURE, row)))
    assert list(untraced(killed, _after(FAILURE | {"target": "t0"}, row)))
    assert not list(untraced(killed, _after({"type": "block", "event": "finished"}, row)))
    assert not list(untraced(killed, _after(row | {"started_unix_ns": 99})))
    assert list(untraced(_injection(Kind.KILL_ENGINE), _after({"type": "block"}, row)))
    assert not list(untraced(_injection(Kind.KILL_ENGINE), _after(FAILURE | {"stage": "engine"}, row)))


def test_a_failure_may_be_on_record_before_whoever_killed_looks_at_the_clock() -> None:
    row = _row(0, "a", 1) | {"started_unix_ns": 105}
    failure = FAILURE | {"stage": "engine", "at_unix_ns": 90}
    killed = Injection(Fault(Kind.KILL_ENGINE, 1, 0, 0), 100, None, 80)
    assert not list(untraced(killed, [failure, *_after(row)]))
    assert list(untraced(killed, [failure | {"at_unix_ns": 70}, *_after(row)]))


def test_a_clock_that_jumped_shows_in_the_journal() -> None:
    jump = _injection(Kind.CLOCK_JUMP)
    records = _after(_row(0, "a", 1), _row(0, "a", 2))
    assert list(untraced(jump, records))
    records[1]["at_unix_ns"] -= 3_600_000_000_000
    assert not list(untraced(jump, records))
