import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app
from dbversus.host.claims import in_use
from dbversus.servers.data import snapshot

from .samples import KEY, aged


def clean(*words: str, status: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["clean", *words])
    assert done.exit_code == status, done.output
    return done.stdout, done.stderr


def test_a_list(home: Path) -> None:
    out, err = clean()
    lines = out.splitlines()
    assert lines[0].split() == ["kind", "name", "size", "last", "used", "what"]
    assert len(lines) == 10
    assert any("postgres:shelf/17.2, 2 tables of 1,000 rows" in line for line in lines)
    assert f"in {home}; remove some" in err
    found = json.loads(clean("--json")[0])
    assert {one["kind"] for one in found} == {"build", "snapshot", "library", "download", "leftover"}


def test_a_dry_run_removes_nothing(home: Path) -> None:
    out, _ = clean("snapshots", "-n")
    assert out.startswith(f"would remove snapshot {snapshot.snapshot_key(KEY)[:12]} (1.0 MB)\nwould free 1.0 MB")
    assert snapshot.find(KEY)
    assert clean("--unused", "0d", "-n")[0].count("would remove") == 8


def test_names_and_age_go_together(home: Path) -> None:
    assert clean("snapshots", "--unused", "30d")[0] == "freed 0 B\n"
    aged(home / "snapshots" / snapshot.snapshot_key(KEY), 40)
    assert clean("builds", "snapshots", "--unused", "30d")[0].startswith("removed snapshot ")
    assert snapshot.find(KEY) is None


def test_what_does_not_exist_removes_nothing_of_what_does(home: Path) -> None:
    out, err = clean("snapshots", "postgres:17.3", status=2)
    assert not out and err.startswith("dbversus: Nothing called 'postgres:17.3' is kept. Did you mean")
    assert snapshot.find(KEY)
    assert "'3x'" in clean("--unused", "3x", status=2)[1]


def test_what_is_in_use_is_named_and_the_rest_removed(home: Path) -> None:
    with snapshot.using(KEY):
        out, err = clean("snapshots", "postgres:17.2", status=1)
        assert "is kept: in use by process" in err and "removed build postgres:shelf/17.2" in out
        done = json.loads(clean("--unused", "0d", "--json")[0])
    assert [one["name"] for one in done["kept"]] == [snapshot.snapshot_key(KEY)[:12]]
    assert done["freed_bytes"] == sum(one["size_bytes"] for one in done["removed"]) > 0


def test_what_was_made_of_data_files_is_listed_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path))
    folder = tmp_path / "data" / "orders-3e8c388a2fe31e6a"
    folder.mkdir(parents=True)
    (folder / "1.tsv").write_text("1\n")
    (folder.parent / "hashes.json").write_text(
        json.dumps({"/my files/orders.csv 7 12 99": "3e8c388a2fe31e6a" + "0" * 48})
    )
    found = json.loads(clean("--json")[0])
    assert [(one["kind"], one["name"], one["about"]) for one in found] == [
        ("data", "data/orders-3e8c388a2fe31e6a", "of /my files/orders.csv")
    ]
    with in_use.using(folder):
        assert "is kept: in use by process" in clean("data", status=1)[1]
    assert clean("data")[0].startswith("removed data data/orders-3e8c388a2fe31e6a")
    assert not folder.exists()


def test_an_empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "none"))
    assert clean() == ("", f"nothing is kept in {tmp_path / 'none'}\n")


def test_doctor_mentions_what_could_be_freed(home: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", "--seconds", "0"], env={"COLUMNS": "400"})
    assert "snapshots 1.0 MB (1)" in done.stdout and "`dbversus clean` lists it" in done.stdout
    done = CliRunner().invoke(app, ["doctor", "--seconds", "0", "--json"])
    assert json.loads(done.stdout)["could_be_freed"]["snapshots"]["count"] == 1
