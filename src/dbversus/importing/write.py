"""Makes the results directory of an import: all of it, or nothing."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

import dbversus
from dbversus.errors import UsageError
from dbversus.importing.names import dbms_of
from dbversus.importing.ratios import Ratios
from dbversus.results.records import Experiment, Finished, Imported, TargetFacts
from dbversus.results.schema import IMPORTED_SUITE, SCHEMA_VERSION
from dbversus.results.write import Journal
from dbversus.stats.metrics import LOAD_TEST

UNKNOWN_HOST = "unknown"
"""Files of results seldom tell where they were measured."""


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder that becomes `out` at the end, or is gone where anything went wrong.

    Raises UsageError when `out` is there and not an empty folder.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is there already; name a new folder with --out.")
    resolved = out.resolve()
    partial = resolved.with_name(f".{resolved.name}.partial")
    try:
        resolved.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)  # of an import that was killed
        partial.mkdir()
    except OSError as error:
        raise UsageError(f"{out} cannot be created ({error.strerror}); name another folder with --out.") from None
    try:
        yield partial
        partial.rename(resolved)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_journal(
    folder: Path, connection: duckdb.DuckDBPyConnection, base: str | None, command: str, ratios: Ratios
) -> Imported:
    """The journal of an import: the experiment, what was read, and its end. Raises UsageError for an unknown `base`."""
    targets = _targets(connection, base)
    clients = [row[0] for row in connection.execute(_CLIENTS).fetchall()]
    header = Experiment(
        schema=SCHEMA_VERSION,
        dbversus=dbversus.__version__,
        command=command,
        targets=[
            TargetFacts(name=f"t{place}", label=label, dbms=dbms_of(label), config=label.partition("@")[2] or None)
            for place, label in enumerate(targets)
        ],
        tests=[_case(test, of, len(clients) > 1) for test, of in _tests(connection)],
        suite=IMPORTED_SUITE,
        clients=clients,
        judge=["throughput"],
    )
    record = _imported(connection, ratios)
    with Journal(folder, UNKNOWN_HOST) as journal:
        for each in (header, record, Finished(reason=IMPORTED_SUITE)):
            journal.append(each)
    return record


_CLIENTS = "SELECT DISTINCT clients FROM places WHERE clients IS NOT NULL ORDER BY clients"
_FILE_COUNTS = """
    SELECT count(*) FILTER (format IS NOT NULL), count(*) FILTER (format IS NULL),
        count(*) FILTER (format IS NOT NULL AND problem <> '') FROM files
"""


def _targets(connection: duckdb.DuckDBPyConnection, base: str | None) -> list[str]:
    """The base, then the others in the order in which they were met."""
    query = "SELECT target FROM places GROUP BY target ORDER BY min(position)"
    found = [str(row[0]) for row in connection.execute(query).fetchall()]
    if base is not None and base not in found:
        raise UsageError(f"--base {base} is no target of what was read; accepted: {', '.join(found)}.")
    return found if base is None else [base, *(label for label in found if label != base)]


def _tests(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, int | None]]:
    """The load first, the others in the order in which they were met, each with its clients in order."""
    query = """
        SELECT test, clients FROM places GROUP BY test, clients
        ORDER BY test <> ?, min(min(position)) OVER (PARTITION BY test), clients"""
    return [(str(test), clients) for test, clients in connection.execute(query, [LOAD_TEST]).fetchall()]


def _case(test: str, clients: int | None, several: bool) -> str:
    return f"{test}@{clients}" if several and clients is not None else test


def _imported(connection: duckdb.DuckDBPyConnection, ratios: Ratios) -> Imported:
    count: Callable[[str], int] = lambda query: int((connection.execute(query).fetchone() or [0])[0])  # noqa: E731
    read, left_out, damaged = connection.execute(_FILE_COUNTS).fetchone() or (0, 0, 0)
    return Imported(
        files=read,
        left_out=left_out,
        damaged=damaged,
        figures=count("SELECT count(*) FROM figures"),
        kept_lines=count("SELECT count(*) FROM kept"),
        unknown_lines=count("SELECT count(*) FROM kept WHERE kind = 'unknown'"),
        ratios_same=ratios.same,
        ratios_within_rounding=ratios.rounding,
        ratios_other=ratios.other,
        ratios_alone=ratios.alone,
        others=ratios.examples,
    )
