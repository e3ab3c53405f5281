"""The file: the same results give the same bytes, and no name makes a formula, a link or a broken file of it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.report.model import Assessment

from ...pairs import FOUR, write_pairs
from ...synthetic import HOSTILE, LABELS
from .conftest import KINDS, Written, content_of
from .reading import formulas_in, lines_of, open_book, texts_of

NAMES = (
    "=cmd|'/C calc'!A0",
    '=HYPERLINK("http://example.com","x")',
    "+1+1",
    "-2-2",
    "@SUM(1)",
    "{=1+1}",
    "http://example.com/",
    "internal:Verdicts!A1",
    "[]:*?/\\ of a sheet with over forty characters",
    "a\x00b\x07\x1b[31m\r\n\td",
    "_x0041_",
    "<b>&amp;</b> ]]> \ufffe \ud800",
    "123",
    "  ",
    "y" * 40_000,
)


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """With other texts wherever these stand, however deep."""
    if isinstance(value, str):
        return names.get(value, value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{one.name: renamed(getattr(value, one.name), names) for one in fields(value) if one.init}
        )
    if isinstance(value, Mapping):
        return {renamed(key, names): renamed(item, names) for key, item in value.items()}
    return tuple(renamed(item, names) for item in value) if isinstance(value, tuple) else value


def hostile(assessment: Assessment, name: str) -> Assessment:
    """A test and a target of that name, and the name as a note, a setting, a plan, a server's words and the command."""
    changed: Assessment = renamed(assessment, {LABELS[1]: f"{name} ", "update-index": name, "jit": name, "off": name})
    failure = replace(assessment.failures[0], message=name)
    return replace(changed, title=name, command=name, failures=(failure,), host={name: name}, not_measured=(name,))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES, ids=[ascii(name[:20]) for name in NAMES])
def test_names_stay_names(assessment: Assessment, content: bytes, tmp_path: Path, name: str) -> None:
    written = content_of(hostile(assessment, name), tmp_path)
    assert formulas_in(written) == formulas_in(content)
    assert all(
        formula.startswith(("IFERROR(EXP(SUM(IF(ISNUMBER(", "SUM(IF(ISNUMBER(")) for formula in formulas_in(written)
    )
    book = open_book(written)
    assert all(cell.data_type == "s" for row in book["Plans"].iter_rows() for cell in row if cell.value is not None)
    links = [cell.hyperlink for sheet in book for row in sheet.iter_rows() for cell in row if cell.hyperlink]
    assert links and all(link.location and not link.target for link in links)


@pytest.mark.parametrize("name", ["=1+1", "<b>&</b>", "123"])
def test_names_are_whole(assessment: Assessment, tmp_path: Path, name: str) -> None:
    book = open_book(content_of(hostile(assessment, name), tmp_path))
    assert name in {line["test"] for line in lines_of(book["Verdicts"])}
    assert book["Overview"]["A1"].value == name and name in texts_of(book["Overview"])


def test_a_text_that_looks_like_a_formula_stays_one_when_it_is_edited(assessment: Assessment, tmp_path: Path) -> None:
    book = open_book(content_of(hostile(assessment, "=1+1"), tmp_path))
    assert book["Overview"]["A1"].quotePrefix
    assert not open_book(content_of(assessment, tmp_path))["Overview"]["A1"].quotePrefix


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_results_give_the_same_bytes(of_kind: Written, tmp_path: Path, kind: str) -> None:
    assessment, content = of_kind(kind)
    assert content_of(replace(assessment, directory="elsewhere"), tmp_path) == content


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_mean_is_of_is_never_in_a_formula(of_kind: Written, kind: str) -> None:
    _, content = of_kind(kind)
    assert not [formula for formula in formulas_in(content) if any(label in formula for label in (*LABELS, HOSTILE))]


def test_the_file_is_dated_when_it_was_measured(assessment: Assessment, tmp_path: Path) -> None:
    at = msgspec.structs.replace(assessment.header, at_unix_ns=1_760_000_000_123_456_789)
    properties = open_book(content_of(replace(assessment, header=at), tmp_path)).properties
    assert str(properties.created) == "2025-10-09 08:53:20"


def test_sheets_have_names_of_ours_that_the_format_accepts(of_kind: Written, content: bytes) -> None:
    for each in (content, *(of_kind(kind)[1] for kind in KINDS)):
        names = open_book(each).sheetnames
        assert len({name.lower() for name in names}) == len(names)
        assert all(len(name) <= 31 and not set("[]:*?/\\") & set(name) for name in names)


def _generations(*words: object, stdout: int = subprocess.PIPE, seed: int = 0) -> subprocess.CompletedProcess[bytes]:
    """The verb in a process of its own, in which sets have an order of their own."""
    command = [sys.executable, "-c", "from dbversus.cli.main import main; main()", "generations", *map(str, words)]
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    return subprocess.run(
        [*command, "--format", "xlsx"], stdout=stdout, stderr=subprocess.PIPE, env=environment, timeout=600
    )


@pytest.mark.slow
def test_generations_of_two_experiments_have_a_file_of_their_own(tmp_path: Path) -> None:
    old, new = (write_pairs(tmp_path / name, FOUR[place : place + 2]) for name, place in (("old", 0), ("new", 2)))
    first, second = (_generations(old, new, seed=seed) for seed in (1, 2))
    assert first.returncode == 0 and first.stdout == second.stdout
    book = open_book(first.stdout)
    assert book.sheetnames == ["Generations"]
    assert [line["test"] for line in lines_of(book["Generations"])] == ["point-query", "update-index", "load"]


@pytest.mark.slow
def test_a_terminal_is_no_place_for_a_file(tmp_path: Path) -> None:
    controller, terminal = os.openpty()
    done = _generations(write_pairs(tmp_path / "results"), stdout=terminal)
    os.close(terminal)
    os.close(controller)
    assert done.returncode == 2
    assert "--format xlsx is a file, not text for a terminal" in " ".join(done.stderr.decode().split())
