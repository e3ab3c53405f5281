"""An upgrade from one SQLite to another: the page, what programs read, and that it can be asked again."""

import json

from .conftest import Bench

ASKED = ["upgrade", "old=sqlite:host", "new=sqlite:bundled", "--profile", "demo", "--tests", "point-query,scan"]


def test_an_upgrade_ends_with_a_page_that_says_what_changes_and_what_is_open(bench: Bench) -> None:
    done = bench.run(*ASKED, "--table-size", "5k", "--out", bench.out, "--json")
    told = json.loads(done.stdout)
    assert told["title"] == "Upgrade of old to new"
    assert any("old" in sentence and "new" in sentence for sentence in told["summary"])
    page = (bench.out / "upgrade.md").read_text()
    assert page.startswith("# Upgrade of old to new\n")
    assert "the defaults of its version" in page
    assert (bench.out / "versions" / "report.html").is_file()
    again = bench.run("report", bench.out)
    assert "Upgrade of old to new" in again.stdout
    assert "versions" in bench.run("show", bench.out).stdout


def test_what_is_no_upgrade_is_refused_in_a_sentence(bench: Bench) -> None:
    for asked, said in (
        (["postgres:17", "sqlite:bundled"], "between versions of one DBMS"),
        (["sqlite:host", "new=sqlite:host"], "are the same build"),
        (["sqlite:host", "sqlite:bundled@wal"], "name the build alone, and your settings with --config"),
        (["sqlite:host", "sqlite:bundled", "--config", "my.cnf"], "SQLite has no config files"),
        (["mysql:5.7", "mysql:8.0", "--config", "no-such.cnf"], "no-such.cnf cannot be read"),
    ):
        done = bench.run("upgrade", *asked, "--out", bench.out, status=2)
        assert said in done.stderr
        assert not bench.out.exists()
