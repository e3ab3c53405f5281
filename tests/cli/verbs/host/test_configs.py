from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app


def ask(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "400")
    done = CliRunner().invoke(app, ["configs", *words])
    return done.exit_code, done.output


def test_a_broken_file_is_listed_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "configs/mysql").mkdir(parents=True)
    broken = tmp_path / "configs/mysql/broken.conf"
    broken.write_text("[after 8]\n")
    status, said = ask(monkeypatch, tmp_path, "list", "mysql")
    assert status == 0, said
    assert f"broken: {broken}:1: '[after 8]' is not a section" in said
    assert "mysql  bl0 " in said
    assert "postgres" not in said
    assert "postgres  fpw_off" in ask(monkeypatch, tmp_path, "list")[1]


def test_a_config_is_shown_for_each_dbms_that_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    status, said = ask(monkeypatch, tmp_path, "show", "bl0")
    assert status == 0, said
    assert said.count("skip_log_bin") == 3
    assert ask(monkeypatch, tmp_path, "show", "bl0", "--dbms", "mysql")[1].count("skip_log_bin") == 1
    status, said = ask(monkeypatch, tmp_path, "show", "bl00")
    assert (status, "did you mean 'bl0'" in said) == (2, True), said


def test_a_file_of_the_server_becomes_a_config_that_is_never_overwritten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my.cnf").write_text("[mysqld]\nsort-buffer-size = 2M\ndatadir = /x\n")
    status, said = ask(monkeypatch, tmp_path, "from", "my.cnf", "--dbms", "mysql")
    assert status == 0, said
    assert "sort_buffer_size = 2M" in said
    assert "mysql: settings taken 1, left out 1" in said
    words = ("from", "my.cnf", "--out", "configs/mysql/mine.conf")
    assert ask(monkeypatch, tmp_path, *words)[0] == 0
    assert "sort_buffer_size = 2M" in (tmp_path / "configs/mysql/mine.conf").read_text()
    status, said = ask(monkeypatch, tmp_path, *words)
    assert (status, "exists; remove it" in said) == (2, True), said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "mysql:5.7,postgres:17"], "--for takes builds of one DBMS"),
        (["--for", "sqlite:bundled"], "--for takes builds of one DBMS"),
        (["--for", "mysql:5.7@base"], "without configs"),
        (["--for", "mysql:5.7", "--dbms", "mariadb"], "with --dbms mariadb"),
        (["--for", "percona:8.0"], "mysql:/opt/percona"),
    ],
)
def test_versions_of_one_dbms_are_asked_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "my.cnf").write_text("[mysqld]\nsort-buffer-size = 2M\n")
    status, output = ask(monkeypatch, tmp_path, "from", "my.cnf", *words)
    assert (status, said in output) == (2, True), output


def test_what_is_missing_of_a_file_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text("[mysqld]\nsort-buffer-size = 2M\n!includedir /no/such.d\n")
    status, said = ask(monkeypatch, tmp_path, "from", "my.cnf")
    assert (status, "note: line 3: /no/such.d is not here" in said) == (0, True), said
