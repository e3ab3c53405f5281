import os
import pwd
from pathlib import Path

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.host.user import ServerUser, make_own_user, server_user


def test_servers_never_run_as_root() -> None:
    user = server_user()
    assert user.uid != 0
    assert user.switch == (os.geteuid() == 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize(("name", "words"), [("no-such-user", "does not exist"), ("root", "name an unprivileged user")])
def test_a_user_who_will_not_do_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    monkeypatch.setenv("DBVERSUS_SERVER_USER", name)
    with pytest.raises(UsageError, match=words):
        server_user()


def test_a_path_that_the_user_cannot_reach_is_told_with_the_directory_to_open(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "data").mkdir(parents=True)
    closed.chmod(0o700)
    stranger = ServerUser("stranger", 54321, 54321, switch=True)
    with pytest.raises(RunError, match=r"stranger, who cannot reach the data directory .*; allow others"):
        stranger.check_reach(closed / "data", "the data directory")
    ServerUser("me", os.getuid(), os.getgid(), switch=False).check_reach(closed / "data", "the data directory")


def _account(name: str, uid: int, shell: str) -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "x", uid, uid, "", "/nonexistent", shell))


@pytest.fixture
def accounts(monkeypatch: pytest.MonkeyPatch) -> dict[str, pwd.struct_passwd]:
    """The users of the host, as root sees them."""
    known = {"nobody": _account("nobody", 65534, "/usr/sbin/nologin")}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", lambda name: known[name])
    monkeypatch.delenv("DBVERSUS_SERVER_USER", raising=False)
    return known


def test_servers_of_root_have_a_user_of_their_own_where_there_is_one(accounts: dict[str, pwd.struct_passwd]) -> None:
    assert server_user() == ServerUser("nobody", 65534, 65534, switch=True) and server_user().is_shared
    accounts["dbversus"] = _account("dbversus", 997, "/usr/sbin/nologin")
    assert server_user() == ServerUser("dbversus", 997, 997, switch=True) and not server_user().is_shared


@pytest.mark.parametrize(("uid", "shell"), [(1001, "/usr/sbin/nologin"), (997, "/bin/bash"), (0, "/usr/sbin/nologin")])
def test_the_account_of_a_person_is_not_used(accounts: dict[str, pwd.struct_passwd], uid: int, shell: str) -> None:
    accounts["dbversus"] = _account("dbversus", uid, shell)
    assert server_user().name == "nobody"
    with pytest.raises(UsageError, match=r"is there, and is no system user .* DBVERSUS_SERVER_USER"):
        make_own_user()


def _useradd(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder.mkdir()
    (folder / "useradd").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "useradd").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_a_user_is_made_once_and_said(
    accounts: dict[str, pwd.struct_passwd], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _useradd(tmp_path / "bin", monkeypatch, f'echo "$@" > {tmp_path}/made')

    def found(name: str) -> pwd.struct_passwd:
        if name == "dbversus" and (tmp_path / "made").exists():
            return _account("dbversus", 997, "/usr/sbin/nologin")
        return accounts[name]

    monkeypatch.setattr(pwd, "getpwnam", found)
    assert "user dbversus was made (useradd --system" in make_own_user()
    assert (tmp_path / "made").read_text().split()[0] == "--system"
    assert "is there already" in make_own_user()


def test_a_user_that_cannot_be_made_is_said(
    accounts: dict[str, pwd.struct_passwd], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match=r"useradd cannot be run \(No such file.* DBVERSUS_SERVER_USER"):
        make_own_user()
    _useradd(tmp_path / "bin", monkeypatch, "echo useradd: cannot lock /etc/passwd >&2; exit 1")
    with pytest.raises(RunError, match="cannot lock /etc/passwd"):
        make_own_user()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="Only root makes users"):
        make_own_user()
