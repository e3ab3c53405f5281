"""Text that no cell could hold as it is."""

import pytest

from dbversus.report.formats.xlsx.text import MOST_UNITS, cell_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "=1+1"),
        ("one\ntwo\tthree", "one\ntwo\tthree"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("\x00\x07\x1b[31m\x7f", "␀␇␛[31m␡"),
        ("\ud800 \ufffe \uffff", "� � �"),
        ("µ → 😀", "µ → 😀"),
    ],
)
def test_what_breaks_the_file_is_replaced(text: str, shown: str) -> None:
    assert cell_text(text) == shown


def test_what_has_no_room_is_cut_off_and_told() -> None:
    assert cell_text("x" * MOST_UNITS) == "x" * MOST_UNITS
    cut = cell_text("x" * 40_000)
    assert len(cut) == MOST_UNITS
    assert cut.endswith("x … (cut off: 40,000 characters in all; the results folder has them)")


def test_room_is_counted_as_the_file_counts_and_no_character_is_halved() -> None:
    cut = cell_text("x" + "😀" * 20_000)
    assert len(cut.encode("utf-16-le")) // 2 <= MOST_UNITS
    assert cut.split(" … ")[0] == "x" + "😀" * cut.count("😀")
    assert cut.endswith("(cut off: 20,001 characters in all; the results folder has them)")
