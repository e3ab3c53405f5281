"""Tables on standard output, with texts that others chose."""

from collections.abc import Callable

import pytest

from dbversus.cli.tables import WRITERS

HOSTILE = ("=cmd|'/C calc'!A1", "@SUM(A1)", "+1", "-1", "\t=1")


def printed(capsys: pytest.CaptureFixture[str], format: str, *cells: object) -> list[str]:
    write: Callable[[list[str], list[tuple[object, ...]]], None] = WRITERS[format]
    write([f"c{number}" for number in range(len(cells))], [cells])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_of_csv_is_a_formula(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert printed(capsys, "csv", text, "plain") == ["c0,c1", f"'{text},plain"]


def test_numbers_of_csv_keep_their_sign(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "csv", -1.5, None) == ["c0,c1", "-1.5,"]


def test_json_has_texts_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert f'"c0": "{HOSTILE[0]}"' in "\n".join(printed(capsys, "json", HOSTILE[0]))


def test_markdown_has_neither_html_nor_more_cells_and_lines(capsys: pytest.CaptureFixture[str]) -> None:
    *_, line = printed(capsys, "md", "<img src=x>|two\nlines")
    assert line == r"| &lt;img src=x&gt;\|two lines |"
