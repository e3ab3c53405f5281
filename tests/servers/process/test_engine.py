"""Where the engine is found, and what is asked of one of its own."""

import os
import platform
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.host.user import server_user
from dbversus.servers.process.engine import ask_engine, engine_binary

from ...left_out import engine_at_hand


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package that is not in a source tree; no engine is named, none in PATH."""
    package = tmp_path / "site-packages/dbversus"
    (package / "bin").mkdir(parents=True)
    monkeypatch.setattr("dbversus.servers.process.engine.__file__", str(package / "servers/process/engine.py"))
    monkeypatch.delenv("DBVERSUS_ENGINE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return package


def make_engine(path: Path) -> Path:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_engine_in_the_package_comes_before_one_in_path(installed: Path, tmp_path: Path) -> None:
    in_path = make_engine(tmp_path / "dbversus-engine")
    assert engine_binary() == in_path

    in_package = make_engine(installed / "bin/dbversus-engine")
    assert engine_binary() == in_package


def test_an_engine_that_is_named_comes_first(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_engine(installed / "bin/dbversus-engine")
    named = make_engine(tmp_path / "dbversus-engine")

    for name in (named, tmp_path):  # the program, or the folder that holds it
        monkeypatch.setenv("DBVERSUS_ENGINE", str(name))
        assert engine_binary() == named


def test_a_named_engine_that_is_none_is_refused(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_engine(installed / "bin/dbversus-engine")
    monkeypatch.setenv("DBVERSUS_ENGINE", "/nowhere/engine")

    with pytest.raises(
        RunError, match="DBVERSUS_ENGINE is /nowhere/engine; it has to name the program dbversus-engine"
    ):
        engine_binary()


def test_an_installation_without_engine_says_what_would_be_accepted(installed: Path) -> None:
    machine = platform.machine()

    with pytest.raises(
        RunError, match=f"installed without an engine for linux-{machine} .*accepted: a dbversus wheel for"
    ):
        engine_binary()


def test_a_source_tree_without_engine_names_the_command(installed: Path) -> None:
    source = installed.parents[1] / "engine"
    source.mkdir()
    (source / "Cargo.toml").touch()

    with pytest.raises(RunError, match="is not built; `make engine` builds it"):
        engine_binary()


@pytest.mark.parametrize(
    ("said", "words"),
    [("echo nonsense", "it left with status 0"), ("echo gone >&2; exit 3", "gone"), ("kill -9 $$", "status -9")],
)
def test_an_engine_that_a_library_has_ended_or_talks_over_is_told(installed: Path, said: str, words: str) -> None:
    make_engine(installed / "bin/dbversus-engine").write_text(f"#!/bin/sh\n{said}\n")
    with pytest.raises(RunError, match=f"^The engine cannot be asked: .*{words}"):
        ask_engine(server_user(), {"cmd": "hello"})


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_engine_of_its_own_has_not_our_rights(tmp_path: Path) -> None:
    engine_at_hand()
    tmp_path.chmod(0o700)  # so that only root gets at what is below
    target = {"cmd": "target", "name": "t", "wire": "sqlite", "address": {"path": str(tmp_path / "x.db")}}
    reply = ask_engine(server_user(), target, {"cmd": "query", "target": "t", "sql": "SELECT 1"})
    assert "unable to open database file" in reply["error"]["message"]
