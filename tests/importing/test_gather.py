"""However files are shared out, the same is stored of them."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dbversus.importing import gather, model
from dbversus.importing.run import import_results
from dbversus.results.read import open_results
from dbversus.results.records import Imported
from dbversus.results.tables.imported import TABLES, imported_table
from tests.importing.conftest import REFERENCE

several_cpus = pytest.mark.skipif(os.cpu_count() == 1, reason="with one CPU all is read in one process")

Tables = dict[str, "Counter[tuple[object, ...]]"]
Stored = tuple[Imported, list[str], Tables]


def _stored(out: Path) -> Stored:
    outcome = import_results([REFERENCE], out)
    tables = {
        name: Counter(zip(*(map(str, values) for values in imported_table(out, name).values()), strict=True))
        for name in TABLES
    }
    return outcome.record, [*outcome.targets, *outcome.remarks, *open_results(out).tests], tables


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Of files that are read one after another."""
    return _stored(tmp_path_factory.mktemp("together") / "results")


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param({"_FILES_OF_TASK": 20}, id="in several processes"),
        pytest.param({"_LARGE_BYTES": 1000}, id="large files by themselves"),
    ],
)
def test_files_in_tasks(
    together: Stored, limits: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(gather, name, limit)

    assert _stored(tmp_path / "shared-out") == together


@pytest.mark.slow
def test_figures_that_are_passed_on_before_a_file_ends(
    together: Stored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "_MOST_NUMBERS", 7 * 10)
    monkeypatch.setattr(model, "_MOST_LINES", 10)

    assert _stored(tmp_path / "in-pieces") == together


@several_cpus
def test_processes_end_in_silence(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path\n"
        "from dbversus.importing import gather, find\n"
        "if __name__ == '__main__':\n"
        "    gather._FILES_OF_TASK = 5\n"
        f"    gather.gather(find.find_sources([Path({str(REFERENCE)!r})], find.Wanted(), Path('out')), Path({str(tmp_path)!r}))\n"
    )
    (tmp_path / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True, timeout=600
    )

    assert done.stdout + done.stderr == ""
    assert len(list(tmp_path.glob("all_figures-*.parquet"))) > 2


@several_cpus
def test_processes_end_with_one_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from dbversus.importing import gather, find\n"
        "def files():\n"
        f"    yield from find.find_sources([Path({str(REFERENCE)!r})], find.Wanted(), Path('out'))\n"
        "    print(*Path(f'/proc/self/task/{os.getpid()}/children').read_text().split(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "if __name__ == '__main__':\n"
        "    gather._FILES_OF_TASK = 5\n"
        f"    gather.gather(files(), Path({str(tmp_path)!r}))\n"
    )
    (tmp_path / "program.py").write_text(program)
    # they have its standard output, too, which is read to its end: until the last of them is gone
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True, check=False, timeout=600
    )

    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.split()) >= 2
