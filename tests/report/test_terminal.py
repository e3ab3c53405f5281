"""Tables on terminals of any width, and in pipes."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from dbversus.report.formats.text import render
from dbversus.report.model import Assessment
from dbversus.report.terminal import plain_table, print_table, say
from dbversus.report.words import SIGNS

LONG = "range-notcovered-secondary-index-10000"


def shown(width: int, titles: tuple[str, ...], *rows: tuple[str, ...], terminal: bool = True) -> str:
    table = plain_table(*titles)
    for row in rows:
        table.add_row(*map(Text, row))
    out = io.StringIO()
    print_table(Console(file=out, width=width, force_terminal=terminal, color_system=None), table)
    return out.getvalue()


@pytest.mark.parametrize("width", [50, 60, 80, 200])
def test_names_stay_whole_while_other_columns_fold(width: int) -> None:
    note = "a note of a dozen words that can be folded as often as needed"
    text = shown(width, ("test", "verdict", "note"), (LONG, "regression", note))
    assert max(map(len, text.splitlines())) <= width
    assert LONG in text and "regression" in text and "…" not in text
    assert all(word in text for word in note.split())


def test_columns_without_room_follow_in_a_further_table_with_the_names() -> None:
    targets = tuple(f"postgres:17.{number}@synchronous_commit=off" for number in range(6))
    text = shown(80, ("test", *targets), (LONG, *(f"1.23{number}" for number in range(6))))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count(LONG) > 1
    assert all(f"1.23{number}" in text for number in range(6))


def test_a_name_that_no_line_can_hold_is_folded_and_not_cut() -> None:
    text = shown(20, ("test", "verdict"), (LONG, "regression"))
    assert "…" not in text
    assert "".join(line[:20].split(" ")[0] for line in text.splitlines()).count("secondary") == 1


def test_a_pipe_has_no_width() -> None:
    note = "word " * 60 + "end"
    (head, line) = shown(40, ("test", "note"), (LONG, note), terminal=False).splitlines()
    assert LONG in line and "end" in line
    assert head == head.rstrip(), "nothing fills a line"


def said(width: int, words: str, terminal: bool = True) -> list[str]:
    out = io.StringIO()
    say(Console(file=out, width=width, force_terminal=terminal, color_system=None), words)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", range(16, 60))
def test_numbers_stay_with_their_signs_and_units_whatever_the_width(width: int) -> None:
    words = "The server used + 5.1 % [+ 2.0 %, + 8.3 %] more CPU: 29 µs, not 28 µs (0.97 [0.95, 0.99]), in 12 blocks of 3 s."
    lines = said(width, words)
    assert " ".join(lines) == words and max(map(len, lines)) <= width
    for whole in ("+ 5.1 %", "+ 2.0 %", "+ 8.3 %", "29 µs", "28 µs", "[0.95, 0.99]", "3 s"):
        assert any(whole in line for line in lines), (whole, lines)


def test_words_of_servers_keep_their_lines_and_pipes_are_not_folded() -> None:
    assert said(30, "FATAL: no\n\n  DETAIL: [bold] none") == ["FATAL: no", "", "  DETAIL: [bold] none"]
    assert said(30, "12 % of it all " * 9, terminal=False) == ["12 % of it all " * 9]


@pytest.mark.parametrize("width", [80, 100])
def test_tests_and_targets_are_whole_in_the_verdict_table(assessment: Assessment, width: int) -> None:
    out = io.StringIO()
    render(assessment, Console(file=out, force_terminal=True, width=width, color_system=None))
    for test in assessment.tests:
        assert sum(line.startswith(f"{test.name} ") for line in out.getvalue().splitlines()) >= 2
    assert "…" not in out.getvalue()


def test_no_sign_of_a_verdict_is_one_of_arithmetic() -> None:
    assert not set(SIGNS.values()) & set("×~=≈≠<>+-−*/·÷±")
    assert len(set(SIGNS.values())) == len(SIGNS)
