from pathlib import Path

import pytest

from dbversus.builds.model import TargetSpec
from dbversus.builds.target import (
    absolute_target,
    build_path,
    labels,
    parse_target,
    same_targets,
    spelling,
    split_name,
    suggested_name,
)
from dbversus.errors import UsageError

from .samples import server


@pytest.mark.parametrize(
    ("text", "dbms", "selector", "configs"),
    [
        ("postgres:17", "postgres", "17", ()),
        ("postgres:17.2@fpw_off", "postgres", "17.2", ("fpw_off",)),
        ("pg:9.6.24", "postgres", "9.6.24", ()),
        ("PostgreSQL:19rc1", "postgres", "19rc1", ()),
        ("postgres:npm/17.10", "postgres", "npm/17.10", ()),
        ("postgres:mybuild", "postgres", "mybuild", ()),
        ("postgres:/opt/pg@a,b=c", "postgres", "/opt/pg", ("a", "b=c")),
        ("postgres:17@work_mem=64MB,fpw_off", "postgres", "17", ("work_mem=64MB", "fpw_off")),
        ("postgres:17@search_path='a,b',x=1", "postgres", "17", ("search_path=a,b", "x=1")),
        ('postgres:17@s="a,\'b"', "postgres", "17", ("s=a,'b",)),
        ("postgres:17@s='it''s'", "postgres", "17", ("s=it's",)),
        ("postgres:17@mail=a@b", "postgres", "17", ("mail=a@b",)),
        ("postgres:17@empty=", "postgres", "17", ("empty=",)),
        ("mysql:8.0@dive10", "mysql", "8.0", ("dive10",)),
        ("mariadb:11", "mariadb", "11", ()),
        ("myrocks:mariadb-10.11", "myrocks", "10.11", ()),
        ("myrocks:10.11", "myrocks", "10.11", ()),
        ("myrocks:apt/mariadb-10.11.19", "myrocks", "apt/10.11.19", ()),
        ("mariadb:mariadb-10.11", "mariadb", "mariadb-10.11", ()),
        ("myrocks:/opt/mariadb-10.11", "myrocks", "/opt/mariadb-10.11", ()),
        ("sqlite:bundled@wal", "sqlite", "bundled", ("wal",)),
        ("sqlite:host", "sqlite", "host", ()),
        ("sqlite:3.34.1", "sqlite", "3.34.1", ()),
        ("sqlite:/x/libsqlite3.so", "sqlite", "/x/libsqlite3.so", ()),
        ("null", "null", "", ()),
        ("null@x", "null", "", ("x",)),
    ],
)
def test_parse(text: str, dbms: str, selector: str, configs: tuple[str, ...]) -> None:
    assert parse_target(text) == TargetSpec(text, dbms, selector, configs)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("oracle:23", "'oracle'; known are postgres, mysql, mariadb, myrocks, sqlite, null"),
        ("17", "unknown DBMS '17'"),
        ("", "names no build"),
        ("@x", "names no build"),
        ("postgres", "accepted: a version"),
        ("postgres:", "accepted: a version"),
        ("postgres:17..2", "'17..2' is not a version"),
        ("postgres:17 2", "'17 2'"),
        ("postgres:a/b/c", "'a/b/c'"),
        ("sqlite", "accepted: bundled, host"),
        ("myrocks:mariadb-10..2", "'10..2' is not a version"),
        ("null:3", "null has no versions"),
        ("postgres:17@", "'' after @"),
        ("postgres:17@a,,b", "'' after @"),
        ("postgres:17@a b", "'a b' after @"),
        ("postgres:17@=3", "'=3' after @"),
        ("postgres:17@a='b", "is not closed"),
        ("/nowhere/at/all", "/nowhere/at/all does not exist"),
    ],
)
def test_mistakes_are_named(text: str, named: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_target(text)
    assert named in str(error.value)


def test_bare_path_detects_the_dbms(tmp_path: Path) -> None:
    prefix = server(tmp_path / "pg")
    assert parse_target(f"{prefix}@x") == TargetSpec(f"{prefix}@x", "postgres", str(prefix), ("x",))


def test_path_may_contain_an_at(tmp_path: Path) -> None:
    prefix = server(tmp_path / "pg@home")
    for text in (f"{prefix}@x", f"pg:{prefix}@x"):
        spec = parse_target(text)
        assert (spec.selector, spec.configs) == (str(prefix), ("x",))


def test_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server(tmp_path / "pg")
    monkeypatch.chdir(tmp_path)
    assert parse_target("./pg").selector == str(tmp_path / "pg")


def test_folder_without_a_dbms_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="bin/postgres"):
        parse_target(str(tmp_path))


def test_labels_are_distinct() -> None:
    texts = ["pg:17", "postgres:17", "postgres:17@a,b=1", "null", "postgres:17"]
    assert labels([parse_target(text) for text in texts]) == [
        "postgres:17",
        "postgres:17#2",
        "postgres:17@a,b=1",
        "null",
        "postgres:17#3",
    ]


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        ("before=postgres:17", "before", "postgres:17"),
        ("  patch 123 = postgres:17@a,b=c ", "patch 123", "postgres:17@a,b=c"),
        ("v1.2-rc(3)=mysql:/opt/a=b@x=y", "v1.2-rc(3)", "mysql:/opt/a=b@x=y"),
        ("nach=null@x=1", "nach", "null@x=1"),
        ("new=/opt/no=where@x", "new", "/opt/no=where@x"),
        ("postgres:17@x=y", "", "postgres:17@x=y"),
        ("/opt/a=b", "", "/opt/a=b"),
        ("./a=b", "", "./a=b"),
        ("~/a=b", "", "~/a=b"),
    ],
)
def test_a_name_is_what_stands_before_the_build(text: str, name: str, written: str) -> None:
    assert split_name(text) == (name, written)


def test_a_target_with_a_name_is_called_so_and_is_still_spelled() -> None:
    named, other = parse_target("before=postgres:17@a,b=c"), parse_target("postgres:17")
    assert (named.name, named.dbms, named.selector, named.configs) == ("before", "postgres", "17", ("a", "b=c"))
    assert labels([named, other]) == ["before", "postgres:17"]
    assert spelling(named) == "postgres:17@a,b=c"


def test_a_named_path_is_made_absolute_behind_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute_target("new=./pg@x") == f"new={tmp_path}/pg@x"
    assert build_path("new=./pg@x") == tmp_path / "pg"
    assert build_path("new=postgres:17") is None


@pytest.mark.parametrize("name", ["", " ", "<b>", "-x", "=", "a\tb", "x" * 41, "x" * 200, "(a)", "+1", '"a"', "a'b"])
def test_names_that_are_none_are_refused_with_what_is(name: str) -> None:
    with pytest.raises(UsageError, match="no name for a target; accepted are 1 to 40 letters") as error:
        parse_target(f"{name}=postgres:17")
    assert len(str(error.value)) < 400


def test_a_build_with_one_name_and_several_configs_has_both_in_its_labels() -> None:
    assert labels([parse_target(f"a=postgres:17{configs}") for configs in ("", "@x", "@y")]) == ["a", "a@x", "a@y"]
    with pytest.raises(UsageError, match="two targets are called 'a', the second is a=postgres:16"):
        labels([parse_target("a=postgres:17"), parse_target("a=postgres:16")])


def test_targets_that_nothing_tells_apart_are_named() -> None:
    said = same_targets([("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")])
    assert list(said) == ["c", "d"]
    assert said["d"].startswith("d is the same binary with the same config as a: what differs is chance.")
    assert same_targets([]) == {}


@pytest.mark.parametrize(
    ("text", "name"), [("postgres 17", "postgres 17"), ("mysql /opt/my@sql", "mysql -opt-my-sql"), ("<>", "target")]
)
def test_a_suggested_name_is_one(text: str, name: str) -> None:
    assert suggested_name(text) == name
    assert split_name(f"{suggested_name(text * 30)}=null")[1] == "null"
