"""Posts of stored runs say what they said when somebody last read them."""

from pathlib import Path

import pytest

from .golden import GOLDEN, IMPORTS, RUNS, said


@pytest.mark.parametrize("name", [*RUNS, *IMPORTS])
def test_posts_of_stored_runs(name: str, tmp_path: Path) -> None:
    # after a change that is meant: python -m tests.report.formats.post.golden
    assert said(name, tmp_path) == (GOLDEN / f"{name}.md").read_text()


def test_nothing_else_is_kept() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {*RUNS, *IMPORTS}
