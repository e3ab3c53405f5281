"""Every number of every file is found again, with its file and line."""

import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from dbversus.results.stored import Results
from tests.importing.conftest import REFERENCE, TOOLS, Import

PUBLISHED = Path(os.environ.get("DBVERSUS_REFERENCE_DATA", "/nonexistent"))
"""All that the reference's author has published, where it is at hand."""
NUMBER = re.compile(r"(?<![\w.$])(\d+(?:\.\d+)?)(?:ms|s)?(?![\w.])")


def found_again(results: Results) -> tuple[dict[tuple[str, int], Counter[float]], dict[tuple[str, int], str]]:
    """(file, line) → its figures; and → its text, where the line was kept."""
    figures: dict[tuple[str, int], Counter[float]] = defaultdict(Counter)
    for file, line, value in results.sql("SELECT file, line, value FROM imported WHERE value IS NOT NULL")[1]:
        figures[file, line][value] += 1
    kept = {(file, line): text for file, line, text in results.sql("SELECT file, line, text FROM imported_lines")[1]}
    return figures, kept


def lost(folder: Path, results: Results) -> list[str]:
    figures, kept = found_again(results)
    missing = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            place = str(path), number
            if place in kept:
                continue
            there = Counter(float(text) for text in NUMBER.findall(line))
            if there - figures[place]:
                missing.append(f"{path}:{number}: {line}")
    return missing


def test_no_number_of_the_small_files_is_lost(imported: Import) -> None:
    results = imported(REFERENCE)

    assert lost(REFERENCE, results) == []


def test_no_line_is_unknown_and_no_file_is_left_out(imported: Import) -> None:
    results = imported(REFERENCE, TOOLS / "pg17")

    assert results.sql("SELECT file, line, text FROM imported_lines WHERE kind = 'unknown'")[1] == []
    assert results.sql("SELECT file, problem FROM imported_files WHERE problem <> '' OR format IS NULL")[1] == []


@pytest.mark.parametrize("folder", ["sysbench-2020", "sysbench-2025", "insert-2021", "published"])
def test_no_number_of_the_published_files_is_lost(folder: str, imported: Import) -> None:
    if not PUBLISHED.is_dir():
        pytest.skip("DBVERSUS_REFERENCE_DATA names no folder")
    results = imported(PUBLISHED / folder)

    assert lost(PUBLISHED / folder, results) == []
    assert results.sql("SELECT file, line, text FROM imported_lines WHERE kind = 'unknown'")[1] == []


def test_what_is_not_known_stays_unknown(imported: Import) -> None:
    results = imported(REFERENCE / "insert-2021")

    query = "SELECT DISTINCT test, metric FROM imported WHERE value IS NULL ORDER BY ALL"
    assert results.sql(query)[1] == [("l.x", "p50"), ("l.x", "p99")]


def test_passwords_are_not_kept(imported: Import) -> None:
    results = imported(REFERENCE / "sysbench-2025")

    [(text,)] = results.sql("SELECT text FROM imported_lines WHERE kind = 'command' LIMIT 1")[1]
    assert "--mysql-password=…" in text
    assert "--mysql-host=127.0.0.1" in text
