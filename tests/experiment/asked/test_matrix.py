"""Builds × configs, with real configs and the catalog of builds; nothing is fetched."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from dbversus.dbms.versions import version_key
from dbversus.errors import UsageError
from dbversus.experiment.asked.bundled import find_experiment, ready_experiments
from dbversus.experiment.asked.matrix import UnknownBuilds, expand, read_matrix
from dbversus.experiment.asked.spec import read_choices
from dbversus.suites.file.source import Source
from dbversus.suites.load import load_suite


def expanded(text: str, builds: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    return expand(read_matrix(Source("x.toml", text, tomllib.loads(text))), builds, exclude)


DURABILITY = """
[matrix]
builds = ["postgres:16", "postgres:17"]
configs = [["sync0", "sync1"], ["fpi1", "fpi0"]]
"""


def test_builds_then_configs_the_first_list_slowest() -> None:
    combinations = ["sync0,fpi1", "sync0,fpi0", "sync1,fpi1", "sync1,fpi0"]
    assert expanded(DURABILITY) == [f"postgres:{build}@{configs}" for build in (16, 17) for configs in combinations]


def test_an_empty_item_is_no_config_and_builds_may_have_some() -> None:
    text = '[matrix]\nbuilds = ["postgres:17@jit_on"]\nconfigs = [["", "work_mem=8MB"], ["", "fpi0"]]'
    assert expanded(text) == [
        "postgres:17@jit_on",
        "postgres:17@jit_on,fpi0",
        "postgres:17@jit_on,work_mem=8MB",
        "postgres:17@jit_on,work_mem=8MB,fpi0",
    ]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("@sync1,fpi0", ["16@sync0,fpi1", "16@sync0,fpi0", "16@sync1,fpi1", "17@sync0,fpi1", "17@sync0,fpi0", "17@sync1,fpi1"]),
        ("postgres:16", ["17@sync0,fpi1", "17@sync0,fpi0", "17@sync1,fpi1", "17@sync1,fpi0"]),
        ("postgres:1[67]@sync?", []),
        ("postgres:17@fpi*", ["16@sync0,fpi1", "16@sync0,fpi0", "16@sync1,fpi1", "16@sync1,fpi0"]),
    ],
)  # fmt: skip
def test_patterns_leave_targets_out(pattern: str, left: list[str]) -> None:
    written = f'{DURABILITY}exclude = ["{pattern}"]'
    if not left:
        with pytest.raises(UsageError, match="Nothing is left"):
            expanded(written)
        return
    assert expanded(written) == [f"postgres:{target}" for target in left]
    assert expanded(DURABILITY, exclude=[pattern]) == expanded(written)


def test_included_targets_come_after_those_of_their_build_or_last() -> None:
    text = '[matrix]\nbuilds = ["postgres:16", "postgres:17"]\nconfigs = [["sync0"]]\ninclude = ["@jit_on", "sqlite:bundled"]'
    assert expanded(text) == [
        "postgres:16@sync0",
        "postgres:16@jit_on",
        "postgres:17@sync0",
        "postgres:17@jit_on",
        "sqlite:bundled",
    ]


def test_an_optional_config_is_left_out_where_the_version_has_none() -> None:
    text = '[matrix]\nbuilds = ["postgres:13", "postgres:17"]\nconfigs = [["comp0", "compLZ4"]]\noptional = ["compLZ4"]'
    assert expanded(text) == ["postgres:13@comp0", "postgres:17@comp0", "postgres:17@compLZ4"]


PARTS = """
[[matrix]]
dbms = ["mysql", "mariadb"]
configs = [["bl0", "bl1"]]
[[matrix]]
dbms = ["postgres"]
configs = [["sync0", "sync1"]]
"""


def test_builds_go_to_the_part_for_their_dbms_in_the_order_given() -> None:
    assert expanded(PARTS, ["postgres:17", "mariadb:10.11"]) == [
        "postgres:17@sync0",
        "postgres:17@sync1",
        "mariadb:10.11@bl0",
        "mariadb:10.11@bl1",
    ]
    assert expanded(PARTS, ["mysql:8.0"]) == ["mysql:8.0@bl0", "mysql:8.0@bl1"]


@pytest.mark.parametrize(("pattern", "least"), [("postgres:13.*", 2), ("postgres", 20), ("postgres:*", 20)])
def test_a_pattern_stands_for_all_builds_the_oldest_first(pattern: str, least: int) -> None:
    targets = expanded("[[matrix]]\n", [pattern])
    versions = [target.removeprefix("postgres:") for target in targets]
    assert len(versions) >= least
    assert versions == sorted(set(versions), key=version_key)
    if pattern == "postgres:13.*":
        assert all(version.startswith("13.") for version in versions)


@pytest.mark.parametrize(
    ("text", "builds", "expected"),
    [
        ("matrix = []", [], "x.toml:1: matrix is []"),
        ("matrix = 3", [], "x.toml:1: matrix is 3"),
        ("[[matrix]]\n", [], "x.toml:1: no builds are named"),
        (PARTS, [], "x.toml:2: no builds of mysql, mariadb are named; give them with --builds"),
        (PARTS, ["sqlite:bundled"], "sqlite:bundled: this matrix has no configs for sqlite; it has some for mysql, maria"),
        (PARTS, ["oracle:19"], "unknown DBMS 'oracle'"),
        (PARTS, ["postgres:99"], "no package of PostgreSQL 99 is known"),
        (PARTS, ["postgres:99.*"], "no build of postgres matches 'postgres:99.*'; there are "),
        (DURABILITY.replace("sync1", "sync2"), [], "x.toml:4: There is no config 'sync2' for postgres 16."),
        (DURABILITY.replace('"sync1"', '"sync1", "compLZ4"').replace("16", "13"), [], "x.toml:4: Config 'compLZ4' is for"),
        (DURABILITY.replace("configs", "axes"), [], "x.toml:4: matrix: unknown key 'axes'."),
        (DURABILITY.replace('["sync0", "sync1"]', '"sync0"'), [], "x.toml:4: matrix.configs.0 is 'sync0'; it has to be a list"),
        (DURABILITY.replace('["sync0", "sync1"]', "[]"), [], "x.toml:4: matrix.configs.0 is []; it has to be at least one"),
        (DURABILITY.replace('"sync1"', '"sync0"'), [], "The matrix comes to postgres:16@sync0,fpi1 twice"),
        (DURABILITY + 'exclude = ["@sync2"]', [], "x.toml:5: '@sync2' matches no target; there are postgres:16@sync0,fpi1"),
        (DURABILITY + 'include = ["@sync2"]', [], "x.toml:5: There is no config 'sync2' for postgres 16"),
        (DURABILITY + 'include = ["postgres:16@sync0,fpi1"]', [], "The matrix comes to postgres:16@sync0,fpi1 twice"),
        (DURABILITY + 'optional = ["sync2"]', [], "x.toml:5: 'sync2' is in no list of `configs`. Did you mean 'sync"),
        (DURABILITY.replace("sync1", "nosuch") + 'optional = ["nosuch"]', [], "x.toml:4: There is no config 'nosuch' for"),
        (DURABILITY + 'dbms = ["postgre"]', [], "x.toml:5: unknown DBMS 'postgre'. Did you mean 'postgres'?"),
        ('[matrix]\nbuilds = ["postgres:99.*"]', [], "x.toml:2: no build of postgres matches"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line(text: str, builds: list[str], expected: str) -> None:
    with pytest.raises(UsageError) as error:
        expanded(text, builds)
    assert str(error.value).startswith(expected)
    assert "\n" not in str(error.value)


def test_builds_that_cannot_be_had_are_told_together_and_can_be_left_out() -> None:
    known = '"postgres:16", "postgres:17"'
    text = DURABILITY.replace(known, f'{known}, "postgres:99", "mysql:8.0.99"').replace('"fpi1", "fpi0"', '""')
    text = text.replace('"sync0", "sync1"', '"sync0"')
    with pytest.raises(
        UnknownBuilds, match=r"PostgreSQL 99 .*MySQL 8\.0\.99 .*--exclude mysql:8\.0\.99 measures the rest"
    ) as error:
        expanded(text)
    assert error.value.builds == ("postgres:99", "mysql:8.0.99")
    assert expanded(text, exclude=error.value.builds) == ["postgres:16@sync0", "postgres:17@sync0"]


def test_where_no_build_can_be_had_there_is_no_rest() -> None:
    with pytest.raises(UnknownBuilds) as error:
        expanded(DURABILITY.replace("16", "98").replace("17", "99"))
    assert "--exclude" not in str(error.value)


def test_targets_that_are_listed_can_be_left_out_too(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('targets = ["postgres:16@sync0", "postgres:17@sync1"]')
    assert read_choices(tmp_path / "x.toml", (), ["postgres:16"])["targets"] == ["postgres:17@sync1"]
    with pytest.raises(
        UsageError, match="'postgres:15' matches no target; there are postgres:16@sync0, postgres:17@sync1"
    ):
        read_choices(tmp_path / "x.toml", (), ["postgres:15"])
    with pytest.raises(UsageError, match="Nothing is left"):
        read_choices(tmp_path / "x.toml", (), ["postgres:*"])


def test_a_pattern_on_the_command_line_that_matches_nothing() -> None:
    with pytest.raises(UsageError, match="--exclude: '@sync9' matches no target"):
        expanded(DURABILITY, exclude=["@sync9"])


def test_unknown_experiments_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        UsageError, match=r"Unknown experiment 'durabilty'\. Did you mean 'durability' or .*\? Accepted: alloc.*posts/…"
    ):
        find_experiment("durabilty")
    assert find_experiment("mine.toml").name == "mine.toml"


READY = {
    "durability": (["mysql:8.0", "mariadb:10.11", "postgres:17"], 12 + 8 + 12),
    "allocators": (["mariadb:10.11", "postgres:17"], 8 + 8),
    "myrocks-compression": (["myrocks:mariadb-10.11"], 8),
    "versions": (["mysql:5.6", "mysql:8.0"], 2),
}


def test_ready_experiments_are_all_looked_at() -> None:
    assert set(READY) == {name for name in ready_experiments() if not name.startswith("posts/")}


@pytest.mark.parametrize("name", sorted(READY))
def test_ready_experiments_make_sense(name: str) -> None:
    builds, count = READY[name]
    choices = read_choices(find_experiment(name), builds)
    assert len(choices["targets"]) == count
    assert choices["targets"][0].startswith(builds[0])
    assert load_suite(choices["suite"]).select(choices.get("tests")).phases


def test_the_durability_matrix_is_that_of_the_reference() -> None:
    targets = read_choices(find_experiment("durability"), ["mysql:8.0", "postgres:17"])["targets"]
    names = {target.replace("@", " ").replace(",", "_") for target in targets}
    mysql = {f"mysql:8.0 bl{b}_sync{s}_dw{d}" for b in "01" for s in "01" for d in ("0", "1", "DO")}
    postgres = {f"postgres:17 sync{s}_comp{c}_fpi{f}" for s in "01" for c in ("0", "1", "LZ4") for f in "01"}
    assert names == mysql | postgres


def test_the_example_of_the_documentation() -> None:
    text = (Path(__file__).parents[3] / "docs/experiments.md").read_text()
    example = text.split("## A matrix")[1].split("```toml\n")[1].split("```")[0]
    targets = expanded(example)
    assert targets[:3] == ["mysql:8.0@sync0,dw1", "mysql:8.0@sync0,dw0", "mysql:8.0@sync0,dwDO"]
    assert "mysql:8.0@dive200" in targets and targets[-1] == "mariadb:10.11"
    assert not any("sync1,dw0" in target for target in targets)
