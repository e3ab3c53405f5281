"""Is everything that was measured in a results directory, and once? Read from its files, as raw as can be."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from dbversus.errors import RunError
from dbversus.results.journal import parse_journal
from dbversus.results.schema import JOURNAL, SLOTS

Record = dict[str, Any]
Part = tuple[int, str, str]
"""Block, test, and the group that was up."""


def read_records(results: Path) -> list[Record]:
    """The whole lines of a journal; none when it has not been begun. Raises RunError when it is damaged."""
    journal = results / JOURNAL
    if not journal.exists():
        return []
    _, good_bytes = parse_journal(journal)
    return [json.loads(line) for line in journal.read_bytes()[:good_bytes].splitlines()]


def has_ended(records: list[Record]) -> bool:
    """Whether nothing is left to do: a run that is resumed has not ended, whatever it said before."""
    states = [record["type"] for record in records if record["type"] in ("finished", "resumed")]
    return bool(states) and states[-1] == "finished"


def given_up(records: list[Record]) -> set[str]:
    """Names of targets that left the run for good."""
    return {str(record["target"]) for record in records if record["type"] == "failure" and record["final"]}


def audit(results: Path) -> list[str]:
    """All that is wrong with a results directory whose experiment is over (ended, or no target is left)."""
    try:
        records = read_records(results)
    except RunError as error:
        return [str(error)]
    if not records:
        return [f"there is no journal in {results}"]
    wrong = [*_rows_once(records), *_tests_complete(records), *_answers(records), *_figures(records)]
    if has_ended(records):
        wrong += [*_blocks_complete(records), *_sealed(results, records)]
    return [*wrong, *_reported(results, records)]


def _part(record: Record) -> Part:
    return record["block"], record["test"], str(record.get("solo") or record.get("group", ""))


def _of(records: list[Record], kind: str) -> list[Record]:
    return [record for record in records if record["type"] == kind]


def _rows_of(records: list[Record]) -> dict[Part, list[Record]]:
    rows: dict[Part, list[Record]] = {}
    for row in _of(records, "row"):
        rows.setdefault(_part(row), []).append(row)
    return rows


def _rows_once(records: list[Record]) -> Iterator[str]:
    counts = Counter((*_part(row), row["row"]) for row in _of(records, "row"))
    for (block, test, group, row), count in counts.items():
        if count > 1:
            yield f"block {block}, {test}{group and ', ' + group}: row {row} is there {count} times"


def _tests_complete(records: list[Record]) -> Iterator[str]:
    """A finished test has all rows that were planned, and no more."""
    rows = _rows_of(records)
    done = Counter(map(_part, _of(records, "test")))
    yield from (f"{part} is finished {count} times" for part, count in done.items() if count > 1)
    plans = {(plan["test"], str(plan.get("group", ""))): plan["rows"] for plan in _of(records, "slots")}
    for part in done:
        _, test, group = part
        planned = plans.get((test, group)) or plans.get((test, ""))
        found = rows.get(part, [])
        if planned is None:
            yield f"{part} is finished and was never planned"
            continue
        numbers = sorted(row["row"] for row in found)
        if len(numbers) != planned:
            yield f"{part} has {len(numbers)} rows; planned are {planned}"
        if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            yield f"{part} has gaps: rows {numbers}"


def _blocks_complete(records: list[Record]) -> Iterator[str]:
    """In a finished block every test is finished that no earlier look had retired; blocks come once, in order."""
    finished = [record["block"] for record in _of(records, "block") if record["event"] == "finished"]
    if finished != list(range(len(finished))):
        yield f"blocks were finished in the order {finished}"
    tests = [test for test in records[0]["tests"] if test != "load"]
    done = {(block, test) for block, test, _ in map(_part, _of(records, "test"))}
    for block in finished:
        retired = {test for look in _of(records, "look") if look["blocks"] <= block for test in look["retired"]}
        yield from (
            f"block {block} lacks {test}" for test in tests if test not in retired and (block, test) not in done
        )


def _answers(records: list[Record]) -> Iterator[str]:
    """The targets are all the same: their answers agree, whatever became of them on the way."""
    for check in _of(records, "check"):
        if not check["agree"]:
            yield f"answers of {check['test']} differ on {', '.join(check['differs'])}, which is the same as the base"


def _figures(records: list[Record]) -> Iterator[str]:
    """A clock that jumps, or a process that is stopped, makes no time negative and none of hours."""
    for row in _of(records, "row"):
        for slot in row["slots"]:
            if not 0 < slot["elapsed_ns"] < 600e9 or slot["ops"] < 1:
                yield f"{_part(row)}, row {row['row']}: {slot['ops']} operations in {slot['elapsed_ns']} ns"


def _sealed(results: Path, records: list[Record]) -> Iterator[str]:
    """slots.parquet holds the journal's rows and nothing else."""
    path = results / SLOTS
    if not path.exists():
        yield f"{path} is missing"
        return
    labels = {target["name"]: target["label"] for target in records[0]["targets"]}
    journaled = Counter(_slots_of(records, labels))
    with duckdb.connect() as connection:
        columns = "test, block, target, row, position, ops, elapsed_ns, disturbed"
        sealed = Counter(connection.execute(f"SELECT {columns} FROM read_parquet($1)", [str(path)]).fetchall())  # noqa: S608
    if journaled != sealed:
        lacking, foreign = (journaled - sealed).total(), (sealed - journaled).total()
        yield f"{SLOTS} lacks {lacking} slots of the journal and has {foreign} that are not in it"


def _slots_of(records: list[Record], labels: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
    for row in _of(records, "row"):
        block, test, _ = _part(row)
        for slot in row["slots"]:
            figures = slot["position"], slot["ops"], slot["elapsed_ns"]
            yield test, block, labels[slot["target"]], row["row"], *figures, row["disturbed"]


def _reported(results: Path, records: list[Record]) -> Iterator[str]:
    """The report shows every failure, and that the experiment did not run in one go."""
    path = results / "report.json"
    if not path.exists():
        yield f"{path} is missing"
        return
    report = json.loads(path.read_text())
    failures = Counter((record["stage"], record["message"], record["final"]) for record in _of(records, "failure"))
    shown = Counter((failure["stage"], failure["message"], failure["final"]) for failure in report["failures"])
    for (stage, message, _), count in (failures - shown).items():
        yield f"the report lacks {count} failures ({stage}: {message[:80]})"
    resumed = len(_of(records, "resumed"))
    if has_ended(records) and resumed and "resumed" not in report["outcome"]:
        yield f"the report does not say that the experiment was resumed {resumed} times"
    if has_ended(records) and not (results / "report.html").exists():
        yield f"{results}/report.html is missing"
