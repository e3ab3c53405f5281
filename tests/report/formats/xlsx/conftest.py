"""Workbooks of results of every kind; each is judged and written once."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.xlsx.write import write
from dbversus.report.model import Assessment
from dbversus.results.read import open_results

from ...pairs import write_pairs
from ...parts.steps import test_summary
from ...sections import test_scaleup, test_sizes
from ...synthetic import write_results

IMPORTED = Path(__file__).parents[3] / "data/imported/reference"


def _imported(folder: Path) -> Path:
    out = folder / "results"
    import_results([IMPORTED], out)
    return out


KINDS: Mapping[str, Callable[[Path], Path]] = {
    "alone": lambda folder: write_results(folder / "results", targets=1),
    "pairs": lambda folder: write_pairs(folder / "results"),
    "scaleup": test_scaleup.write,
    "sizes": test_sizes.write,
    "steps": test_summary.write,
    "imported": _imported,
}


class Written:
    """By kind: the assessment, and the bytes of the file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[Assessment, bytes]] = {}

    def __call__(self, kind: str) -> tuple[Assessment, bytes]:
        if kind not in self._known:
            folder = self._folder / kind
            folder.mkdir()
            assessment = build_assessment(open_results(KINDS[kind](folder)))
            self._known[kind] = assessment, content_of(assessment, folder)
        return self._known[kind]


def content_of(assessment: Assessment, folder: Path) -> bytes:
    path = folder / "report.xlsx"
    write(assessment, path)
    return path.read_bytes()


@pytest.fixture(scope="session")
def of_kind(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return Written(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="session")
def content(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Of the synthetic experiment."""
    return content_of(assessment, tmp_path_factory.mktemp("synthetic"))


@pytest.fixture(scope="session")
def book(content: bytes) -> Any:
    from .reading import open_book

    return open_book(content)
