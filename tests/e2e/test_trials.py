"""The trials of docs/trials, each a script, in a shortened form."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from dbversus.home import home_dir

from ..left_out import build_at_hand
from .conftest import Bench

pytestmark = pytest.mark.e2e

TRIALS = Path(__file__).parents[2] / "docs/trials"
SHORT = {"ROWS": "2k", "TESTS": "point-query,update-index", "BUDGET": "40s"}


def _run(bench: Bench, script: str, *args: str, **settings: str) -> str:
    program = bench.folder / "dbversus"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(bench.dbversus)} "$@"\n')
    program.chmod(0o755)
    lock = str(bench.folder / "host.lock")  # other work of dbversus may be under way
    environment = os.environ | {"DBVERSUS": str(program), "DBVERSUS_HOME": str(bench.home), "DBVERSUS_HOST_LOCK": lock}
    done = subprocess.run(
        ["sh", str(TRIALS / script), *args],
        cwd=bench.folder,
        env=environment | settings,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_committer_gets_the_comment_for_a_pull_request(bench: Bench) -> None:
    said = _run(bench, "committer.sh", "sqlite:bundled", "sqlite:bundled@wal", "out", **SHORT)
    assert "**after against before** (patch-123)" in said
    assert (bench.out / "report.html").exists()


def test_a_dba_gets_what_changes_and_what_to_set(bench: Bench) -> None:
    old, new = "mariadb:10.11", "mariadb:11.4"
    for target in (old, new):
        build_at_hand(target)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    settings = {
        "ROWS": "100 1000",
        "OLD": old,
        "NEW": new,
        "TESTS": "select-orders-4",
        "PROFILE": "demo",
        "BUDGET": "3m",
    }
    said = _run(bench, "dba/upgrade.sh", "out", **settings)
    assert "NO_AUTO_CREATE_USER" in said.replace("\\", "") and "## Your settings" in said
    assert (bench.out / "results/upgrade.md").read_text() in said


def test_a_blogger_gets_a_page_charts_and_a_post(bench: Bench) -> None:
    said = _run(bench, "blogger.sh", "out", "sqlite:bundled", "sqlite:bundled@wal", **SHORT)
    assert "page: out/report.html" in said
    assert (bench.out / "report.html").exists() and (bench.out / "post.md").exists()
    assert list((bench.out / "charts").glob("*.png"))
