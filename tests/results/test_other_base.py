"""Another target as the base of stored results."""

from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.results.read import open_results
from dbversus.results.records import Check
from dbversus.results.stored import Results

from ..journals import DictJournal
from .samples import HEADER, row

TARGETS = [{"name": f"t{n}", "label": f"postgres:1{n}", "dbms": "postgres"} for n in range(5)]
ANSWERS = {"rows": 10, "affected": 0}


def check(answers: dict[str, str], *differs: str) -> dict[str, Any]:
    """`answers`: checksum by target; `differs`: who was found to differ from t0."""
    targets = {name: {**ANSWERS, "checksum": checksum} for name, checksum in answers.items()}
    return {"type": "check", "test": "point-query", "targets": targets, "agree": not differs, "differs": list(differs)}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Five targets, two of which have slots; `t2` and `t3` gave other answers, each its own."""
    with DictJournal(tmp_path) as journal:
        journal.append({**HEADER, "targets": TARGETS})
        journal.append(check({"t0": "a", "t1": "a.", "t2": "b", "t3": "c"}, "t2", "t3"))
        journal.append(check({"t0": "a", "t4": "b"}, "t4"))
        journal.append(row(0, 0))
    return tmp_path


def labels(results: Results) -> list[str]:
    return [target.label for target in results.targets]


@pytest.mark.parametrize("wanted", ["postgres:11", "t1"])
def test_the_chosen_target_comes_first_and_the_own_base_is_kept(directory: Path, wanted: str) -> None:
    results = open_results(directory, base=wanted)
    assert labels(results) == ["postgres:11", "postgres:10", "postgres:12", "postgres:13", "postgres:14"]
    assert results.own_base is not None
    assert results.own_base.label == "postgres:10"


def test_the_own_base_chosen_changes_nothing(directory: Path) -> None:
    results = open_results(directory, base="postgres:10")
    assert results.own_base is None
    assert results.records == open_results(directory).records


def test_answers_are_compared_with_those_of_the_chosen_base(directory: Path) -> None:
    """t1 agreed with t0, within a tolerance that only the run knew; t4 was up in another group and said what t2 did."""
    first, second = open_results(directory, base="t1").of_type(Check)
    assert (first.differs, second.differs) == (["t2", "t3"], ["t4"])


def test_who_differs_from_the_own_base_may_agree_with_another(tmp_path: Path) -> None:
    with DictJournal(tmp_path) as journal:
        journal.append({**HEADER, "targets": TARGETS})
        journal.append(check({"t0": "a", "t1": "a", "t2": "b", "t3": "c"}, "t2", "t3"))
        journal.append(check({"t0": "a", "t4": "b"}, "t4"))
    first, second = open_results(tmp_path, base="t2").of_type(Check)
    assert first.differs == ["t0", "t1", "t3"]
    assert second.differs == ["t0"]
    assert second.targets["t2"].checksum == "b"


def test_an_unknown_base_names_those_that_there_are(directory: Path) -> None:
    with pytest.raises(UsageError) as error:
        open_results(directory, base="postgres:1")
    said = str(error.value)
    assert f"--base postgres:1: {directory} has no such target; it has: postgres:10 (t0), postgres:11 (t1)," in said
    assert "Did you mean 'postgres:1" in said


def test_a_base_on_which_nothing_was_measured(directory: Path) -> None:
    with pytest.raises(
        UsageError, match=r"nothing was measured on postgres:12, .* slots of: postgres:10, postgres:11\."
    ):
        open_results(directory, base="t2")
