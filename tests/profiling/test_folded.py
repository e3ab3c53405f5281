"""Folded stacks are written and read again; damage is told with its line."""

import pytest

from dbversus.errors import UsageError
from dbversus.profiling.folded import fold, folded_text, read_folded
from dbversus.profiling.script import Sample


def test_folded_stacks_are_read_as_they_were_written() -> None:
    folded = fold([Sample(1, 5, 10, ("main", "b c")), Sample(1, 6, 10, ("main",)), Sample(2, 7, 5, ("main", "b c"))])
    text = folded_text(folded)
    assert text == "main 10\nmain;b c 15\n"
    assert read_folded(text, "x") == folded


@pytest.mark.parametrize("text", ["main;run 5\nmain;run\n", "a 1\n 5\n", "a 1\na x\n"])
def test_a_damaged_line_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=r"^scan\.folded, line 2: expected functions"):
        read_folded(text, "scan.folded")
