"""A dry run refuses what a run would refuse, with exit status 2, and leaves nothing behind."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.builds import tools
from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.client import NotFoundError
from dbversus.builds.providers import maven
from dbversus.cli.main import app
from dbversus.host.claims.lock import acquire_host
from dbversus.host.facts import memory_bytes


def plan(monkeypatch: pytest.MonkeyPatch, folder: Path, *targets: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DBVERSUS_HOME", str(folder / "home"))
    done = CliRunner().invoke(app, ["compare", "--dry-run", *targets])
    return done.exit_code, " ".join(done.output.split())


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("jurnal_mode=wal", "has no PRAGMA 'jurnal_mode'"),
        ("journal_mode=wall", "does not take PRAGMA journal_mode = wall: it stays at delete"),
        ("cache_size=-1048576000", "cache_size = -1048576000 asks for 1000.0 GiB, more than the"),
    ],
)
def test_an_installed_server_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, item: str, words: str) -> None:
    status, said = plan(monkeypatch, tmp_path, "sqlite:bundled", f"sqlite:bundled@{item}")
    assert (status, words in said) == (2, True), said
    assert not list((tmp_path / "home/work").glob("*"))


def test_a_build_that_is_not_here_says_so_and_what_needs_no_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    status, said = plan(monkeypatch, tmp_path, "postgres:17.11", "postgres:17.11@jemalloc,work_mem=1MB")
    assert status == 0, said
    assert said.count("to be fetched; its settings are checked once it is there") == 2, said
    assert not list((tmp_path / "home").glob("libraries/*"))
    status, said = plan(monkeypatch, tmp_path, "mysql:8.0.31", "mysql:8.0.31@datadir=/tmp/x")
    assert (status, "'datadir=/tmp/x': 'datadir' cannot be chosen" in said) == (2, True), said


def test_the_caches_of_servers_that_are_up_together_are_added_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    size = f"shared_buffers={int(memory_bytes() * 0.6) // 1024}kB"
    status, said = plan(monkeypatch, tmp_path, f"postgres:16.15@{size}", f"postgres:17.11@{size}")
    assert (status, "The servers that are up together ask for" in said) == (2, True), said
    status, said = plan(
        monkeypatch, tmp_path, f"postgres:16.15@{size}", f"postgres:17.11@{size}", "--order", "sequential"
    )
    assert status == 0, said


SHORT = """
targets = ["sqlite:bundled", "sqlite:bundled@wal"]
table_size = 1_000_000
tests = "point-query"
[scaled]
profile = "quick"
table_size = 7000
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DBVERSUS_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("home")
def test_the_short_form_of_a_file_takes_the_place_of_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SHORT)
    full, short = (
        CliRunner().invoke(app, ["run", str(tmp_path / "x.toml"), "--dry-run", *words]) for words in ((), ("--scaled",))
    )
    assert (full.exit_code, short.exit_code) == (0, 0), full.output + short.output
    assert "1,000,000 rows" in full.output and "after 3, 4, 6, 8, 12 blocks" in full.output
    assert "7,000 rows" in short.output and "after 3, 4, 6 blocks" in short.output
    assert "phase" in short.output and "random-points" not in short.output


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SHORT.partition("[scaled]")[0], "has no table [scaled]; --scaled is for experiment files that have one."),
        (SHORT.partition("[scaled]")[0] + "scaled = true", "'scaled' is True; a table with settings is accepted."),
        ('posts = ["2021-01-10-pg"]' + SHORT, "There are no claims of a post '2021-01-10-pg'."),
    ],
)
def test_a_mistake_about_short_forms_and_posts_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    done = CliRunner().invoke(app, ["run", str(tmp_path / "x.toml"), "--dry-run", "--scaled"])
    assert (done.exit_code, said in " ".join(done.output.split())) == (2, True), done.output


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("suite", "words"), [("sysbench", "data is about 3.1 times as large"), ("insert", "tests bring the data")]
)
def test_memory_is_set_beside_the_data_where_data_is_loaded(suite: str, words: str) -> None:
    asked = [
        "compare",
        "sqlite:bundled",
        "sqlite:bundled@wal",
        "--suite",
        suite,
        "--table-size",
        "1m",
        "--memory",
        "80m",
    ]
    done = CliRunner().invoke(app, [*asked, "--dry-run"])
    assert done.exit_code == 0 and words in " ".join(done.output.split()), done.output


def test_a_dry_run_as_json_is_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    status, said = plan(monkeypatch, tmp_path, "sqlite:bundled", "sqlite:bundled@wal", "--json", "--profile", "quick")
    assert status == 0, said
    found = json.loads(said)
    assert [target["label"] for target in found["targets"]] == ["sqlite:bundled", "sqlite:bundled@wal"]
    assert found["expected"]["first_verdict_s"] > 0 and found["experiment"]["profile"] == "quick"


def test_a_build_that_cannot_be_had_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(entry: CatalogEntry, progress: object) -> None:
        raise NotFoundError("no such package")

    monkeypatch.setattr(maven, "check", unknown)
    monkeypatch.setattr(tools, "client_path", lambda name: name)
    status, said = plan(monkeypatch, tmp_path, "postgres:11.10", "postgres:11.22")
    assert (status, "no package of PostgreSQL 11.10 is known; nearest: 11.7, 11.13" in said) == (2, True), said


def test_a_folder_that_is_written_like_a_name_is_told_as_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pg-a").mkdir()
    status, said = plan(monkeypatch, tmp_path, "pg-a", "pg-b")
    assert (status, "'pg-a' is a path here; write it with ./ before it: ./pg-a" in said) == (2, True), said


def test_mistakes_are_refused_before_the_host_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DBVERSUS_HOST_LOCK", str(tmp_path / "lock"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there/file").touch()
    pair = ("sqlite:bundled", "sqlite:bundled")
    with acquire_host():
        for mistake, words in {
            (*pair, "--out", "there"): "there is not empty",
            (*pair, "--out", "there/file"): "there/file is a file",
            (*pair, "--out", "n" * 300): "File name too long",
            (*pair, "--tests", "nosuch"): "nosuch",
            ("sqlite:bundled", "sqlite:bundled@nosuch"): "There is no config 'nosuch'",
            ("sqlite:bundled", "sqlite:bundled@cache_size=-1048576000"): "asks for 1000.0 GiB",
        }.items():
            done = CliRunner().invoke(app, ["compare", *mistake])
            assert (done.exit_code, words in " ".join(done.output.split())) == (2, True), done.output
