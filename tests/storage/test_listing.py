import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from dbversus.builds import store
from dbversus.builds.target import parse_target
from dbversus.host.claims import in_use
from dbversus.servers.data import snapshot
from dbversus.storage.listing import Kind, list_kept, own_installations, summary

from .samples import DAY_S, KEY, aged, dead_pid


def test_all_that_can_be_removed_is_there_with_size_and_age(home: Path) -> None:
    aged(home / "snapshots" / snapshot.snapshot_key(KEY), 40)
    found = {one.name: one for one in list_kept()}
    key = snapshot.snapshot_key(KEY)
    assert {name: one.kind for name, one in found.items()} == {
        "postgres:shelf/17.2": Kind.BUILD,
        "postgres:local/archived": Kind.BUILD,
        key[:12]: Kind.SNAPSHOT,
        "libraries/libshelf2": Kind.LIBRARY,
        "cache/maven": Kind.DOWNLOAD,
        f"work/{dead_pid()}": Kind.LEFTOVER,
        f"run/{dead_pid()}.json": Kind.LEFTOVER,
        "snapshots/0123.partial": Kind.LEFTOVER,
        "builds/postgres/.partial-shelf-17.3": Kind.LEFTOVER,
    }
    assert 1_000_000 <= found[key[:12]].size_bytes < 1_100_000
    assert found[key[:12]].about == "postgres:shelf/17.2, 2 tables of 1,000 rows"
    assert abs(found[key[:12]].unused_s() - 40 * DAY_S) < 60
    assert found["postgres:local/archived"].added
    assert own_installations() == {"postgres:local/mine": home.parent / "mine"}


def test_what_is_being_made_and_what_a_living_process_has_is_no_leftover(home: Path) -> None:
    (home / f"work/{os.getpid()}").mkdir()
    (home / "builds/postgres/shelf-17.4").mkdir()
    assert not {one.name for one in list_kept()} & {f"work/{os.getpid()}", "builds/postgres/shelf-17.4"}
    os.utime(home / "builds/postgres/shelf-17.4", (time.time() - 2 * DAY_S,) * 2)
    assert "builds/postgres/shelf-17.4" in {one.name for one in list_kept()}


def test_a_use_makes_a_build_young_again(home: Path) -> None:
    aged(home / "builds/postgres/shelf-17.2", 40)
    store.obtain(parse_target("postgres:shelf/17.2"))
    (build,) = [one for one in list_kept() if one.name == "postgres:shelf/17.2"]
    assert build.unused_s() < 60


def test_a_build_of_a_run_under_way_and_one_that_somebody_executes_are_in_use(home: Path) -> None:
    def user() -> str:
        return next(one.user for one in list_kept() if one.name == "postgres:shelf/17.2")

    assert user() == ""
    with store.obtained(parse_target("postgres:shelf/17.2")):
        assert user() == f"process {os.getpid()}"
    program = home / "builds/postgres/shelf-17.2/root/bin/sleep"
    shutil.copy("/bin/sleep", program)
    process = subprocess.Popen([program, "60"])
    try:
        assert user() == f"process {process.pid}"
    finally:
        process.kill()
        process.wait()


def test_a_library_that_a_process_has_loaded_is_in_use(home: Path) -> None:
    folder = home / "libraries/libshelf2"
    shutil.copy("/bin/sleep", folder / "sleep")
    process = subprocess.Popen([folder / "sleep", "600"])
    try:
        (library,) = [one for one in list_kept() if one.kind is Kind.LIBRARY]
        assert (library.user, library.about) == (f"process {process.pid}", "libshelf.so.2, sleep")
    finally:
        process.kill()
        process.wait()


def test_what_could_be_freed_is_not_in_use(home: Path) -> None:
    before = summary(list_kept())
    assert {kind: one["count"] for kind, one in before.items()} == {
        "builds": 2,
        "snapshots": 1,
        "libraries": 1,
        "downloads": 1,
        "leftovers": 4,
    }
    with in_use.using(home / "snapshots" / snapshot.snapshot_key(KEY)):
        assert "snapshots" not in summary(list_kept())


def test_a_key_of_another_form_does_no_harm(home: Path) -> None:
    file = home / "snapshots" / snapshot.snapshot_key(KEY) / "key.json"
    for text in ("", "[]", "{}", json.dumps({"dbms": "mysql", "tables": [7]})):
        file.write_text(text)
        assert [one.about for one in list_kept() if one.kind is Kind.SNAPSHOT] in (["unknown"], ["mysql"])
