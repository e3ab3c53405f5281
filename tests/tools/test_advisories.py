"""What `make audit` says when advisories are known, are not, or cannot be had. The two programs are scripts here."""

import json
from pathlib import Path
from typing import Any

import advisories
import pytest

CLEAN = {"dependencies": [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "version": "2", "vulns": []}]}
FAULTY = {"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}]}
SKIPPED = {"dependencies": [{"name": "a", "skip_reason": "not found"}]}
NO_CRATE = {"lockfile": {"dependency-count": 90}, "vulnerabilities": {"list": []}}
A_CRATE = {
    "lockfile": {"dependency-count": 90},
    "vulnerabilities": {
        "list": [{"advisory": {"id": "RUSTSEC-1", "title": "bad"}, "package": {"name": "c", "version": "3"}}]
    },
}


def offer(path: Path, answer: Any, status: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = answer if isinstance(answer, str) else json.dumps(answer)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("python", "rust", "status", "lines"),
    [
        (
            CLEAN,
            NO_CRATE,
            0,
            ["No vulnerability of 2 Python packages and 90 crates is known but what was read by hand"],
        ),
        (
            FAULTY,
            NO_CRATE,
            1,
            ["a 1: PYSEC-1 (mended in 1.1)", "Known vulnerabilities of 1 Python packages and 90 crates: 1."],
        ),
        (CLEAN, A_CRATE, 1, ["c 3: RUSTSEC-1 (bad)", "Known vulnerabilities of 2 Python packages and 90 crates: 1."]),
        (SKIPPED, NO_CRATE, 2, ["Not everything was audited: 1 Python packages"]),
        (
            SKIPPED,
            A_CRATE,
            1,
            ["c 3: RUSTSEC-1 (bad)", "Not everything was audited: 1 Python packages"],
        ),
        ("no network", "error: no network", 2, ["Not everything was audited: pip-audit could not ask"]),
    ],
)
def test_what_is_said(
    python: Any,
    rust: Any,
    status: int,
    lines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(advisories, "ENVIRONMENT", tmp_path / "audit")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    offer(tmp_path / "audit/bin/pip-audit", python, status)
    offer(tmp_path / "bin/cargo", rust, status)
    offer(tmp_path / "bin/cargo-audit", "", 0)
    assert advisories.main() == status
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(lines)
    assert all(one.startswith(start) for one, start in zip(said, lines, strict=True)), said


def test_without_cargo_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "cargo install cargo-audit" in advisories.audit_rust().missed


def test_without_pip_audit_and_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advisories, "ENVIRONMENT", tmp_path / "file/audit")
    (tmp_path / "file").touch()
    assert "cannot be installed" in advisories.audit_python().missed


def test_what_was_read_by_hand_is_in_the_page() -> None:
    page = (advisories.ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert [one for one in advisories.READ_BY_HAND if one not in page] == []
