"""Which experiments cannot stand side by side, and what is said of those that differ in other things."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dbversus.errors import UsageError
from dbversus.report.side_by_side.alike import check_alike, differences, renamed
from dbversus.report.side_by_side.gather import side_by_side
from dbversus.results.records import Rendered, StoredFile

from ..pairs import FOUR
from .experiments import ALIKE, BASE, write_experiment

NAMES = ["a", "b"]


def test_one_alone_is_refused(tmp_path: Path) -> None:
    only = write_experiment(tmp_path / "a", blocks=1)
    with pytest.raises(UsageError, match=r"Name two results directories or more: .*a alone has nothing beside it\."):
        check_alike([only])
    with pytest.raises(UsageError, match="is named twice; name different results directories"):
        check_alike([only, replace(only, directory=tmp_path / "." / "b" / ".." / "a")])


@pytest.mark.parametrize(
    ("contenders", "header", "message"),
    [
        (
            (FOUR[1], ALIKE),
            {},
            "a has the base postgres:11 and .*b the base mysql:5.6; name experiments whose first target",
        ),
        (
            (BASE, ALIKE),
            {"suite": "insert"},
            "a is of the suite sysbench and .*b of insert; name experiments of one suite",
        ),
        ((BASE, ALIKE), {"suite_checksum": "bb"}, "tests of the suite sysbench do something else in .*a than in .*b"),
        (
            (BASE, ALIKE),
            {"tests": ["load", "scan"], "suite_checksum": "bb"},
            "no test of the same target in common: the first has point-query and update-index of postgres:17, the other "
            r"scan of postgres:17\.",
        ),
        ((BASE, FOUR[1]), {}, "no test of the same target in common: .* of postgres:17, the other .* of mysql:5.6"),
        ((BASE,), {}, "the other point-query and update-index of no target but the base"),
    ],
)
def test_what_is_not_of_the_same_thing_is_refused(tmp_path: Path, contenders: Any, header: Any, message: str) -> None:
    first = write_experiment(tmp_path / "a", blocks=1)
    other = write_experiment(tmp_path / "b", contenders, blocks=1, **header)
    with pytest.raises(UsageError, match=message):
        check_alike([first, other])


def test_folders_with_other_labels_stand_beside_each_other_when_they_are_renamed(tmp_path: Path) -> None:
    first = write_experiment(tmp_path / "a", blocks=4)
    other = write_experiment(
        tmp_path / "b", (replace(BASE, label="pg11=old"), replace(ALIKE, label="pg17-run2")), blocks=4
    )
    with pytest.raises(UsageError, match=f"under another label: --rename 'pg11=old={BASE.label}'"):
        check_alike([first, other])

    beside = side_by_side(renamed([first, other], [f"pg11=old={BASE.label}", f"pg17-run2={ALIKE.label}"]), names=NAMES)

    assert {line.target for line in beside.lines} == {ALIKE.label}
    assert all(set(line.comparisons) == set(NAMES) and line.interactions["b"] for line in beside.lines)
    assert not beside.notes


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        ("postgres:17", "--rename postgres:17: write OLD=NEW"),
        ("postgres:1=x", "no experiment has the target postgres:1; accepted: postgres:11, postgres:17"),
        ("postgres:17=postgres:11", "a would have two targets called postgres:11"),
    ],
)
def test_a_rename_that_cannot_be(rename: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        renamed([write_experiment(tmp_path / "a", blocks=1)], [rename])


def test_other_sizes_have_other_checksums_and_files_tell_then(tmp_path: Path) -> None:
    def made(name: str, size: int, sha256: str) -> Any:
        files = [StoredFile("suite/mine.toml", sha256, "/x/mine.toml")]
        one = write_experiment(tmp_path / name, blocks=1, suite="/x/mine.toml", suite_checksum=name, table_size=size)
        return replace(one, header=structs.replace(one.header, files=files))

    first, same, changed = made("a", 1000, "1"), made("b", 2000, "1"), made("c", 2000, "2")
    check_alike([first, same])
    with pytest.raises(UsageError, match=r"tests of the suite mine\.toml do something else"):
        check_alike([first, changed])


def test_suites_are_named_by_their_file_wherever_it_lay(tmp_path: Path) -> None:
    pair = [write_experiment(tmp_path / name, blocks=1, suite=f"/{name}/mine.toml") for name in "ab"]
    check_alike(pair)


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ({"table_size": 5000}, "The experiments differ in table size (1k in a and 5k in b): "),
        ({"clients": [1, 4]}, "The experiments differ in number of clients (1 in a and 1 and 4 in b): "),
        ({"memory": 2**29}, "The experiments differ in memory of each server (none said in a and 512m in b): "),
        (
            {"margins": {"server_cpu_us_per_op": 0.1}},
            "The experiments differ in margins: an interaction is judged by the wider",
        ),
        ({"suite_checksum": "b", "dbversus": "0.0"}, "The experiments are of dbversus ? and 0.0, and their sizes"),
    ],
)
def test_what_else_differs_is_said(tmp_path: Path, header: Any, note: str) -> None:
    pair = [write_experiment(tmp_path / "a", blocks=1), write_experiment(tmp_path / "b", blocks=1, **header)]
    said = differences(pair, NAMES)
    assert len(said) == 1 and said[0].startswith(note)


def test_equal_experiments_differ_in_nothing(tmp_path: Path) -> None:
    assert differences([write_experiment(tmp_path / name, blocks=1) for name in NAMES], NAMES) == []


def test_settings_that_follow_the_host_are_said(tmp_path: Path) -> None:
    pair = [write_experiment(tmp_path / name, blocks=1) for name in NAMES]
    for one, size in zip(pair, ("1GB", "16GB"), strict=True):
        settings = {"shared_buffers": size, "jit": "off"}
        rendered = Rendered("base", settings)
        one.header.targets[:] = [structs.replace(target, rendered=rendered) for target in one.header.targets[:1]]
    assert differences(pair, NAMES) == [
        "postgres:11 does not have the same settings in all experiments (shared_buffers): what seems to depend on the experiment "
        "may depend on that."
    ]


def test_other_builds_of_one_label_are_said(tmp_path: Path) -> None:
    other = replace(ALIKE, version="17.9")
    pair = [write_experiment(tmp_path / "a", blocks=1), write_experiment(tmp_path / "b", (BASE, other), blocks=1)]
    assert differences(pair, NAMES) == [
        "postgres:17 is not the same build in all experiments (17.2 in a and 17.9 in b): what seems to depend on the experiment "
        "may depend on that."
    ]
