import os
from pathlib import Path

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.host.user import ServerUser, server_user


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
