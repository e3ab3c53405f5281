"""Exit statuses of `report`, on a synthetic experiment that has every verdict."""

import io
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from dbversus.cli.ending import reports_errors
from dbversus.cli.outcome import FAIL_ON_MET, NOT_JUDGED, heeding, status_of
from dbversus.errors import RunError
from dbversus.experiment.asked.demands import Demands
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.comparison import compare

from .synthetic import TRUTHS, write_results


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_results(tmp_path_factory.mktemp("outcome") / "results")


@pytest.fixture(scope="module")
def measured(directory: Path) -> Results:
    return open_results(directory)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One test, too unstable to be judged."""
    unstable = tuple(truth for truth in TRUTHS if truth.name == "scan")
    folder = write_results(tmp_path_factory.mktemp("silent") / "results", targets=2, truths=unstable)
    return open_results(folder)


def status(results: Results, demands: Demands) -> int:
    return status_of(results, compare(results), demands)


def test_a_condition_comes_before_a_lack_of_verdicts(measured: Results) -> None:
    assert status(measured, Demands(("regression",), 1.0)) == FAIL_ON_MET
    assert status(measured, Demands((), 1.0)) == NOT_JUDGED
    assert status(measured, Demands((), 0.01)) == 0
    assert status(measured, Demands()) == 0


def test_silence_is_never_green(silent: Results, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(silent, Demands(("regression",))) == NOT_JUDGED
    assert "dbversus: nothing could be judged of postgres:17.11" in capsys.readouterr().err
    assert status(silent, Demands(("unstable",))) == FAIL_ON_MET
    assert status(silent, Demands()) == 0


def ended(directory: Path, demands: Demands, error: BaseException) -> tuple[int, str]:
    @reports_errors
    def verb() -> None:
        with heeding(directory, demands):
            raise error

    return exit_of(verb)


def exit_of(verb: Callable[[], None]) -> tuple[int, str]:
    said = io.StringIO()
    with redirect_stderr(said):
        try:
            verb()
        except Exception as exit:
            return int(getattr(exit, "exit_code", -1)), said.getvalue()
    return 0, said.getvalue()


def test_a_run_that_fails_is_told_with_the_condition_that_it_meets(directory: Path, tmp_path: Path) -> None:
    gone = RunError("the server is gone")
    assert ended(directory, Demands(("regression",)), gone)[0] == FAIL_ON_MET
    assert ended(directory, Demands((), 1.0), gone) == (1, "dbversus: the server is gone\n")
    assert ended(tmp_path, Demands(("regression",)), gone)[0] == 1  # nothing was measured
    assert ended(directory, Demands(("regression",)), KeyboardInterrupt())[0] == 130


def test_a_full_disk_too(directory: Path) -> None:
    code, said = ended(directory, Demands(("regression",)), OSError(28, "No space left on device", "/x"))
    assert code == FAIL_ON_MET
    assert said.splitlines()[-1] == "dbversus: /x: No space left on device"


def test_a_damaged_folder_keeps_the_failure(directory: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "results"
    shutil.copytree(directory, damaged)
    (damaged / "journal.jsonl").write_text("{}\n")
    assert ended(damaged, Demands(("regression",)), RunError("gone"))[0] == 1
