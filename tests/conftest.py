"""Real runs that were measured once (tests/data/runs), for all tests that judge some."""

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

RUNS = Path(__file__).parent / "data/runs"


@pytest.fixture
def stored_run(tmp_path: Path) -> Callable[[str], Path]:
    """Unpacks one of them; gives its results folder."""

    def unpack(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "journal.jsonl").write_bytes(lzma.decompress((RUNS / f"{name}.jsonl.xz").read_bytes()))
        return folder

    return unpack
