"""`suites from-…` on the command line: where the suite goes, and what is refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbversus.cli.main import app


def run(*words: str, status: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, ["suites", *words])
    assert done.exit_code == status, done.output
    return done.stdout, done.stderr


def test_a_suite_goes_to_standard_output_or_to_a_new_file(tmp_path: Path) -> None:
    file = tmp_path / "tpcb.toml"
    assert run("from-pgbench", "select-only", "-o", str(file)) == ("", "")
    assert run("from-pgbench", "select-only")[0] == file.read_text()
    assert "is there already; name a new file." in run("from-pgbench", "select-only", "-o", str(file), status=2)[1]


def test_what_is_left_to_do_is_said_apart(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1 FROM orders;\n")
    out, said = run("from-pgbench", str(tmp_path / "a.sql"))
    assert (
        said
        == "still to be done: say what the tables are like and what they hold, by [tables.NAME] or your own schema and files, "
        "as in docs/suites/tables.md: orders\n"
    )
    assert "[tests.a]" in out


@pytest.mark.parametrize("define", ["rows", "rows=many", "a b=1", "=1"])
def test_variables_are_integers(define: str) -> None:
    assert "NAME=INTEGER is accepted" in run("from-pgbench", "select-only", "-D", define, status=2)[1]


def test_statements_become_a_suite_to_start_from(tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text("query,calls\nSELECT a FROM t WHERE b = $1,7\nCOMMIT,9\n")
    out, said = run("from-statements", str(tmp_path / "seen.csv"))
    assert "weight = 7" in out
    assert said.splitlines() == [
        "still to be done: say what the tables are like and what they hold, by [tables.NAME] or your own schema and files, "
        "as in docs/suites/tables.md: t",
        "still to be done: say which values these parameters take, where the file says `fill in`: select-t (b)",
        "left out: 1 statement (no query and no change of rows)",
    ]
    assert (
        "--top is 0; 1 or more is accepted."
        in run("from-statements", str(tmp_path / "seen.csv"), "--top", "0", status=2)[1]
    )
