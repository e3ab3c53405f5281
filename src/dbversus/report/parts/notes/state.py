"""What reports say of the data at the start of blocks: the same everywhere, or what differed and where."""

from collections.abc import Iterator, Sequence

from dbversus.results.records import State, TableFacts
from dbversus.results.stored import Results

DIFFERS = "State differs"
OF_BASE = "the base has"
"""As in the journal's words."""


def state_sentences(results: Results) -> tuple[str, ...]:
    """From the journal's `state` records; empty where there are none (older experiments, or data of no tables)."""
    records = [record for record in results.of_type(State) if any(_tables(record))]
    if not records:
        return ()
    differences = list(_differences(results, records))
    return (*differences, _summary(results, records, differs=bool(differences)))


def _tables(record: State) -> Iterator[TableFacts]:
    for state in record.targets.values():
        yield from state.tables.values()


def _differences(results: Results, records: Sequence[State]) -> Iterator[str]:
    """Once each: a block that was begun again after an interruption has two records."""
    of_base = f"{results.own_base.label} has" if results.own_base else OF_BASE
    said = [
        f"{DIFFERS}: {results.label(name)}, block {record.block + 1}: {words.replace(OF_BASE, of_base)}."
        for record in records
        for name, found in record.differs.items()
        for words in found
    ]
    yield from dict.fromkeys(said)


def _summary(results: Results, records: Sequence[State], *, differs: bool) -> str:
    count = len({record.block for record in records})
    when = "at the start of the one block" if count == 1 else f"at the start of all {count} blocks"
    counted = all(table.rows_counted for record in records for table in _tables(record))
    rows = "rows" if counted else "rows by statistics"
    kept = results.header.restore == "never"
    what = "structure, debt" if kept else f"{rows}, structure, sizes, statistics, debt"
    aged = "; data was restored once, and has aged since" if kept else ""
    said = "all else was the same" if differs else "the same"
    return f"State: {said} {when} ({what}){aged}."
