from pathlib import Path

import pytest

from dbversus.builds.lock import locked
from dbversus.errors import RunError, UsageError
from dbversus.host.claims import in_use
from dbversus.servers.data import snapshot
from dbversus.storage.listing import Kind, list_kept, own_installations
from dbversus.storage.removal import choose, parse_age, remove, unused

from .samples import KEY, aged


def named(*names: str) -> list[str]:
    return [one.name for one in choose(list_kept(), names, own_installations())]


def test_names(home: Path) -> None:
    key = snapshot.snapshot_key(KEY)
    assert named("pg:shelf/17.2") == named("postgres:17.2") == ["postgres:shelf/17.2"]
    assert named(key) == named(key[:4]) == named(key[:12], key) == [key[:12]]
    assert named("builds") == ["postgres:shelf/17.2"]  # what the user added has to be named
    assert named("postgres:local/archived", "downloads") == ["postgres:local/archived", "cache/maven"]
    assert named("libraries") == ["libraries/libshelf2"]
    assert len(named("leftovers")) == 4


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("postgres:17.3", r"Nothing called 'postgres:17\.3' is kept\. Did you mean 'postgres:shelf/17\.2'"),
        ("snapshot", r"Did you mean 'snapshots' or"),
        ("zzz", r"Nothing called 'zzz' is kept\. List it all: dbversus clean"),
        ("", "Nothing called '' is kept"),
        ("../..", "Nothing called"),
        ("postgres:local/mine", r"postgres:local/mine is your own installation in .*/mine; clean leaves it alone"),
    ],
)
def test_what_is_not_kept_is_refused_before_anything_is_removed(home: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        named("snapshots", name)


def test_a_name_of_several_things_is_refused(home: Path) -> None:
    (home / "builds/postgres/other-17.2").mkdir()
    text = (home / "builds/postgres/shelf-17.2/build.json").read_text()
    (home / "builds/postgres/other-17.2/build.json").write_text(
        text.replace("shelf-17.2", "other-17.2").replace('"shelf"', '"other"')
    )
    with pytest.raises(
        UsageError, match=r"'postgres:17\.2' is several: postgres:.*/17\.2, postgres:.*/17\.2; name one"
    ):
        named("postgres:17.2")


def test_all_of_it_can_be_removed_and_nothing_else_is(home: Path) -> None:
    for one in list_kept():
        assert remove(one) == ""
        assert not one.path.exists()
    assert list_kept() == []
    assert (home / "calibrations/host/one.json").exists()
    assert (home.parent / "mine/bin/postgres").exists()
    assert snapshot.find(KEY) is None


def test_unused_spares_what_is_young_and_what_cannot_be_had_again(home: Path) -> None:
    aged(home / "builds/postgres/shelf-17.2", 29)
    aged(home / "builds/postgres/local-archived", 400)
    aged(home / "snapshots" / snapshot.snapshot_key(KEY), 31)
    old = unused(list_kept(), parse_age("30d"))
    assert [one.name for one in old if one.kind is not Kind.LEFTOVER] == [snapshot.snapshot_key(KEY)[:12]]
    assert "postgres:shelf/17.2" in {one.name for one in unused(list_kept(), parse_age("4w"))}


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "30y", "1h30m"])
def test_an_age_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"--unused is '.*'; write hours, days or weeks, such as 12h, 30d or 2w"):
        parse_age(text)


def test_a_snapshot_of_a_run_or_that_is_being_copied_is_left_alone(home: Path) -> None:
    path = home / "snapshots" / snapshot.snapshot_key(KEY)
    (one,) = [one for one in list_kept() if one.path == path]
    with snapshot.using(KEY):
        assert remove(one).startswith("in use by process")
    with locked(path.with_suffix(".lock"), print):
        assert remove(one) == "in use by another process"
    assert snapshot.find(KEY) == path
    assert remove(one) == ""


def test_who_waits_for_a_removal_finds_it_gone(home: Path) -> None:
    path = home / "snapshots" / snapshot.snapshot_key(KEY)
    (one,) = [one for one in list_kept() if one.path == path]
    assert remove(one) == ""
    with in_use.using(path):
        assert snapshot.find(KEY) is None


def test_a_folder_that_cannot_be_removed_is_named(home: Path) -> None:
    (one,) = [one for one in list_kept() if one.name == "cache/maven"]
    one.path.rename(home / "elsewhere")
    with pytest.raises(RunError, match=r"cache/maven cannot be removed: No such file"):
        remove(one)
