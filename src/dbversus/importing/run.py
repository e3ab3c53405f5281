"""`dbversus import`: files in, results directory out."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import duckdb

from dbversus.errors import UsageError
from dbversus.importing.find import Wanted, find_sources
from dbversus.importing.gather import gather
from dbversus.importing.parts import open_parts, write_results
from dbversus.importing.ratios import check_ratios
from dbversus.importing.runs import files_of_runs, pooled, tell_runs
from dbversus.importing.write import new_folder, write_journal
from dbversus.results.records import Imported

_PARTS = "parts"
_EXAMPLES = 20


@dataclass(frozen=True)
class Outcome:
    """`remarks`: what the user should know, in sentences that name file and line."""

    record: Imported
    targets: list[str]
    tests: int
    remarks: list[str]


def import_results(
    paths: Sequence[Path], out: Path, wanted: Wanted | None = None, *, base: str | None = None, command: str = ""
) -> Outcome:
    """Reads all files under `paths` and writes `out`. Raises UsageError when nothing in them can be read."""
    wanted = wanted or Wanted()
    with new_folder(out) as folder:
        staging = folder / _PARTS
        staging.mkdir()
        gather(find_sources(paths, wanted, out), staging)
        with open_parts(staging) as connection:
            tell_runs(connection)
            _check_named_files(connection, paths)
            notes = [*wanted.not_named(files_of_runs(connection)), *pooled(connection, _EXAMPLES)]
            ratios = check_ratios(connection, _EXAMPLES)
            write_results(connection, folder)
            record = write_journal(folder, connection, base, command, ratios)
            outcome = _outcome(connection, record, notes)
        shutil.rmtree(staging)
    return outcome


def _check_named_files(connection: duckdb.DuckDBPyConnection, paths: Sequence[Path]) -> None:
    """A file that was named itself has to be whole; of a folder, something has to be of a known format."""
    for path in paths:
        if path.is_file():
            query = "SELECT problem FROM files WHERE file = ? AND problem <> ''"
            for (problem,) in connection.execute(query, [str(path)]).fetchall():
                raise UsageError(f"{path}: {problem}. {_ACCEPTED}")
    read = connection.execute("SELECT count(*) FROM figures").fetchone()
    if not read or not read[0]:
        why = "CASE WHEN problem <> '' THEN problem ELSE 'begins as ' || format || ', but has no figures' END"
        found = connection.execute(f"SELECT file || ': ' || {why} FROM files ORDER BY position LIMIT 3").fetchall()  # noqa: S608
        words = "; ".join(row[0] for row in found) or "there is no file"
        raise UsageError(f"{', '.join(map(str, paths))}: no figures were found ({words}). {_ACCEPTED}")


_ACCEPTED = (
    "Accepted are results of sysbench, the reference method, the Insert Benchmark, pgbench, HammerDB and BenchBase, "
    "and figures as CSV (docs/import.md)."
)


def _outcome(connection: duckdb.DuckDBPyConnection, record: Imported, notes: list[str]) -> Outcome:
    targets = [
        str(row[0])
        for row in connection.execute("SELECT target FROM places GROUP BY target ORDER BY min(position)").fetchall()
    ]
    tests = connection.execute("SELECT count(DISTINCT test) FROM places").fetchone() or (0,)
    unknown = connection.execute(
        "SELECT file || ', line ' || line || ': unknown: ' || left(text, 120) FROM kept "
        "WHERE kind = 'unknown' ORDER BY position, line LIMIT ?",
        [_EXAMPLES],
    ).fetchall()
    files = connection.execute(
        "SELECT file || ': ' || problem FROM files WHERE problem <> '' AND NOT starts_with(problem, 'not read') "
        "ORDER BY position LIMIT ?",
        [_EXAMPLES],
    ).fetchall()
    remarks = [str(row[0]) for row in chain(files, unknown)]
    return Outcome(record, targets, int(tests[0]), [*remarks, *notes, *record.others])
