"""Which experiments are told that luck of layout is a part of their ratios, and that every report tells them."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

from dbversus.report.assessment import build_assessment
from dbversus.report.code_layout import layout_note
from dbversus.report.formats import text
from dbversus.report.formats.registry import FORMATS
from dbversus.results.records import Rendered
from dbversus.results.records.experiment import TargetFacts
from dbversus.results.stored import Results

from .formats.unpacked import unpacked

OLD = TargetFacts("t0", "postgres:16", "postgres", "16.4", checksum="9f")
NEW = TargetFacts("t1", "postgres:17", "postgres", "17.2", checksum="00")
OTHER_CONFIG = structs.replace(OLD, name="t1", label="a", rendered=Rendered("b", {"fsync": "off"}))
SAID = "luck of layout"


def with_targets(results: Results, *targets: TargetFacts) -> Results:
    """The labels, and so the figures, stay those of `results`."""
    facts = [
        structs.replace(one, name=was.name, label=was.label)
        for one, was in zip(targets, results.header.targets, strict=True)
    ]
    return replace(results, header=structs.replace(results.header, targets=facts))


def text_of(results: Results) -> str:
    out = io.StringIO()
    text.render(build_assessment(results), Console(file=out, width=10_000, color_system=None))
    return out.getvalue()


def test_two_builds_are_told_what_a_ratio_between_them_answers() -> None:
    note = layout_note([OLD, NEW])
    assert "run these very binaries" in note and "change of source" in note
    assert "More blocks do not" in note and "calibration" in note
    assert "SQLite" in note and "docs/trust.md" in note


@pytest.mark.parametrize(
    "targets",
    [
        [OLD],
        [OLD, OTHER_CONFIG],
        [OLD, structs.replace(NEW, dbms="null", checksum="")],
        [structs.replace(one, checksum=None) for one in (OLD, NEW)],
    ],
    ids=["one", "configs", "floor", "import"],
)
def test_one_build_is_told_nothing_nor_is_what_has_none(targets: list[TargetFacts]) -> None:
    assert layout_note(targets) == ""


def test_the_engines_own_sqlite_has_no_checksum_and_is_a_build_all_the_same() -> None:
    bundled = TargetFacts("t0", "sqlite:bundled", "sqlite", "bundled", checksum="")
    assert layout_note([bundled, structs.replace(bundled, version="3.40.1", checksum="2e")])
    assert not layout_note([bundled, bundled])


@pytest.mark.parametrize("name", ["html", "md", "json", "xlsx", "post"])
def test_every_report_says_it_once_and_only_of_builds_that_differ(name: str, results: Results, tmp_path: Path) -> None:
    builds, configs = (
        unpacked(FORMATS[name].write(build_assessment(with_targets(results, OLD, other, OLD)), tmp_path))
        for other in (NEW, OTHER_CONFIG)
    )
    assert builds.count(SAID.encode()) == 1
    assert SAID.encode() not in configs


def test_the_terminal_says_it_once_too(results: Results) -> None:
    assert text_of(with_targets(results, OLD, NEW, OLD)).count(SAID) == 1
    assert SAID not in text_of(with_targets(results, OLD, OTHER_CONFIG, OLD))
