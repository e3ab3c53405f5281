import io

import pytest
from rich.console import Console

from dbversus.report.formats.text import render
from dbversus.report.model import Assessment

from ..synthetic import HOSTILE, LABELS


def printed(assessment: Assessment, verbose: bool = False, **options: object) -> str:
    out = io.StringIO()
    render(assessment, Console(file=out, **options), verbose)  # type: ignore[arg-type]
    return out.getvalue()


def line_of(text: str, test: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"{test} "))


def test_piped_output_is_plain_and_whole(assessment: Assessment) -> None:
    text = printed(assessment)
    assert "\x1b" not in text
    line = line_of(text, "update-index")
    assert "▼ regression" in line
    assert line.count("[") == 3
    assert "…" not in text


def test_table_has_every_test_for_every_target(assessment: Assessment) -> None:
    text = printed(assessment)
    for test in assessment.tests:
        assert sum(line.startswith(f"{test.name} ") for line in text.splitlines()) == len(LABELS) - 1


def test_summary_comes_first(assessment: Assessment) -> None:
    lines = printed(assessment).splitlines()
    assert lines[0] == f"{LABELS[1]} against {LABELS[0]}"
    assert lines[1] == assessment.sentences[0]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_terminal_lines_fit_its_width(assessment: Assessment, width: int) -> None:
    text = printed(assessment, force_terminal=True, width=width, no_color=True, color_system=None)
    assert max(map(len, text.splitlines())) <= width


def test_colour_on_a_terminal_only_where_wanted(assessment: Assessment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31m▼" in printed(assessment, force_terminal=True, width=120, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in printed(assessment, force_terminal=True, width=120, color_system="standard")


def test_labels_are_no_markup(assessment: Assessment) -> None:
    assert HOSTILE in printed(assessment)


def test_verbose_shows_figures_with_counts(assessment: Assessment) -> None:
    text = printed(assessment, verbose=True)
    assert "n=4" in text
    assert "latency p99.9, all operations" in text
