"""Broken journals: a short run of what `make fuzz` does for a minute, and that a failure tells how it is repeated."""

from pathlib import Path

import fuzz_journal
import pytest


@pytest.fixture
def journals() -> list[list[bytes]]:
    old = fuzz_journal.thin(fuzz_journal.RUNS / "sqlite-demo-steal.jsonl.xz")
    return [old, fuzz_journal.of_today(old)]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["fuzz_journal.py", *arguments])
    return fuzz_journal.main()


def test_whole_journals_are_read(journals: list[list[bytes]], tmp_path: Path) -> None:
    assert all(fuzz_journal.is_read(b"".join(lines), tmp_path) for lines in journals)
    assert b'"schema":1' in journals[0][0]
    assert b'"schema":2' in journals[1][0]


def test_broken_ones_are_read_or_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "--seed", "1", "--tries", "200") == 0
    said = capsys.readouterr().out
    assert said.startswith("200 broken journals from seed 1: ")
    assert " 0 were read" not in said
    assert " 0 refused" not in said


def test_a_seed_breaks_the_same_in_the_same_way(journals: list[list[bytes]]) -> None:
    assert fuzz_journal.broken(journals, 7) == fuzz_journal.broken(journals, 7) != fuzz_journal.broken(journals, 8)
    assert journals[0] == fuzz_journal.thin(fuzz_journal.RUNS / "sqlite-demo-steal.jsonl.xz")


def test_a_failure_names_its_seed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(journal: bytes, folder: Path) -> bool:
        raise KeyError("x")

    monkeypatch.setattr(fuzz_journal, "is_read", fail)
    assert run(monkeypatch, "--seed", "41", "--tries", "3") == 1
    assert "repeat it: tools/fuzz_journal.py --seed 41 --tries 1" in capsys.readouterr().out
