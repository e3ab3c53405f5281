import json
import os
import pwd
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.host.claims.lock import acquire_host, lock_path

# imports come first: another user may have no right to read our packages
HOLDER = """
import os, sys, time
from pathlib import Path
from dbversus.host.claims.lock import acquire_host
if len(sys.argv) > 2:
    os.umask(0o077)
    os.setgroups([])
    os.setuid(int(sys.argv[2]))
lock = acquire_host(what="postgres:13 against postgres:17", path=Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""
NOBODY = pwd.getpwnam("nobody").pw_uid
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def holder(path: Path, *user: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLDER, str(path), *map(str, user)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    process.stdout.close()
    return process


def refused(path: Path, *user: int) -> str:
    """What another process, of a user, says that finds the host in use."""
    command = [sys.executable, "-c", HOLDER, str(path), *map(str, user)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    return done.stderr


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A lock file's place in a sticky folder that everybody may write to, as /tmp is."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == pwd.getpwuid(os.geteuid()).pw_name and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    (tmp_path / "sticky").mkdir()
    (tmp_path / "sticky").chmod(0o1777)
    return tmp_path / "sticky/lock"


def test_a_second_one_is_refused_with_a_reason(shared: Path) -> None:
    process = holder(shared)
    try:
        with pytest.raises(RunError, match=rf"process {process.pid} \(postgres:13 against postgres:17, for \d+ s\)"):
            acquire_host(path=shared)
    finally:
        process.kill()
        process.wait()
    acquire_host(path=shared).close()  # a killed one holds nothing


@root_only
@pytest.mark.parametrize(("first", "second"), [((), (NOBODY,)), ((NOBODY,), ())])
def test_another_user_is_refused_and_is_let_in_afterwards(
    shared: Path, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    process = holder(shared, *first)
    try:
        assert re.search(
            rf"process {process.pid} \(postgres:13 against postgres:17, for \d+ s\)", refused(shared, *second)
        )
    finally:
        process.kill()
        process.wait()
    process = holder(shared, *second)
    try:
        assert f"process {process.pid} (postgres:13 against postgres:17" in refused(shared, *first)
    finally:
        process.kill()
        process.wait()


@root_only
@pytest.mark.parametrize("left_behind", ["", json.dumps({"pid": 1, "what": "an old one", "since_unix_s": 0})])
def test_a_file_that_we_may_only_read_locks_too_and_the_kernel_names_who_holds_it(
    shared: Path, left_behind: str
) -> None:
    shared.write_text(left_behind)
    shared.chmod(0o644)
    process = holder(shared, NOBODY)
    try:
        with pytest.raises(RunError, match=rf"in use by process {process.pid} \(.*acquire_host"):
            acquire_host(path=shared)
    finally:
        process.kill()
        process.wait()
    assert shared.read_text() == left_behind


def test_what_another_user_has_written_cannot_move_the_cursor(shared: Path) -> None:
    with acquire_host(path=shared, what="\x1b[2Jnothing\nto see"), pytest.raises(RunError) as caught:
        acquire_host(path=shared)
    assert "(\ufffd[2Jnothing to see, for" in str(caught.value)


def test_a_second_one_waits_when_told_to_and_says_so(shared: Path) -> None:
    first = acquire_host(path=shared, what="the first")
    said: list[str] = []
    waiting, taken = threading.Event(), threading.Event()

    def say(words: str) -> None:
        said.append(words)
        waiting.set()

    def second() -> None:
        with acquire_host(wait=True, path=shared, say=say):
            taken.set()

    thread = threading.Thread(target=second)
    thread.start()
    assert waiting.wait(600) and not taken.is_set()
    first.close()
    thread.join(600)
    assert taken.is_set()
    (words,) = said
    assert words.startswith(f"this host is in use by process {os.getpid()} (the first, for ")


def test_who_waits_is_told_who_has_the_host_now(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, said = holder(shared), list[str]()
    turns = [lambda: end(first), lambda: later.append(holder(shared)), lambda: None, lambda: end(later[0])]
    later: list[subprocess.Popen[str]] = []

    def next_turn(_: float) -> None:
        turns.pop(0)()
        if first.returncode is not None and not later:  # nobody has it for a moment: another one is faster
            turns.pop(0)()

    monkeypatch.setattr("dbversus.host.claims.lock.time.sleep", next_turn)
    acquire_host(wait=True, path=shared, say=said.append).close()
    assert [re.findall(r"in use by process (\d+)", words) for words in said] == [[str(first.pid)], [str(later[0].pid)]]


def end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()


def test_who_waited_for_a_file_that_was_removed_does_not_hold_the_host_with_it(shared: Path) -> None:
    first = acquire_host(path=shared)
    waiting, taken, done = threading.Event(), threading.Event(), threading.Event()

    def second() -> None:
        with acquire_host(wait=True, path=shared, say=lambda _: waiting.set()):
            taken.set()
            done.wait(600)

    thread = threading.Thread(target=second)
    thread.start()
    assert waiting.wait(600)
    shared.unlink()
    first.close()
    assert taken.wait(600)
    with pytest.raises(RunError, match="in use"):
        acquire_host(path=shared)
    done.set()
    thread.join(600)


def test_children_do_not_inherit_the_lock(shared: Path) -> None:
    with acquire_host(path=shared):
        child = subprocess.Popen(["sleep", "600"], close_fds=False)
    try:
        acquire_host(path=shared).close()
    finally:
        child.kill()
        child.wait()


def test_a_lock_that_says_nothing_is_refused_too(shared: Path) -> None:
    with acquire_host(path=shared):
        os.truncate(shared, 0)
        with pytest.raises(RunError, match=f"in use by (process {os.getpid()} |another dbversus process)"):
            acquire_host(path=shared)


def test_a_link_is_not_followed_and_what_it_leads_to_stays_as_it_is(shared: Path) -> None:
    precious = shared.with_name("precious")
    precious.write_text("text")
    shared.symlink_to(precious)
    with pytest.raises(UsageError, match=f"{shared}, is a symbolic link; name a file .* in DBVERSUS_HOST_LOCK"):
        acquire_host(path=shared)
    shared.unlink()
    shared.hardlink_to(precious)
    with pytest.raises(UsageError, match="is not a plain file of its own"):
        acquire_host(path=shared)
    assert precious.read_text() == "text"


def test_every_home_and_every_user_has_the_same_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DBVERSUS_HOST_LOCK", raising=False)
    seen = set()
    for home in ("a", "b"):
        monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / home))
        seen.add(lock_path())
    assert len(seen) == 1
    assert seen.pop().parent.stat().st_mode & 0o002


def test_the_environment_names_another_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DBVERSUS_HOST_LOCK", str(tmp_path / "new" / "lock"))
    with acquire_host(), pytest.raises(RunError, match="in use"):
        acquire_host(path=tmp_path / "new" / "lock")
    monkeypatch.setenv("DBVERSUS_HOST_LOCK", str(tmp_path))
    with pytest.raises(UsageError, match=f"{tmp_path}, is not a plain file"):
        acquire_host()
    monkeypatch.setenv("DBVERSUS_HOST_LOCK", "/proc/none/lock")
    with pytest.raises(UsageError, match="/proc/none/lock, cannot be opened: No such file"):
        acquire_host()
