"""The real engine, with its echo server."""

import platform
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.experiment.rig.engine import Engine
from dbversus.servers.process.engine import engine_binary

from ...left_out import engine_at_hand

TEST = {"name": "one", "transaction": False, "statements": [{"name": "one", "sql": "SELECT 1"}]}


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


def test_closing_waits_for_no_rows_under_way() -> None:
    engine_at_hand()
    engine = Engine()
    engine.call("target", name="t0", wire="null", address={})
    engine.call("open", targets=["t0"], test=TEST)
    orders = [["t0"]] * 100_000
    rows = engine.stream("rows", seed=1, orders=orders, settle={"ops": 0}, slot={"ms": 10})
    assert next(rows)["row"] == 0
    engine.close()
    assert engine._process.returncode == 0, "it had to be killed"
