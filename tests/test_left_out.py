import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .left_out import NO_BUILD, NOT_MEANT, complaint

ROOT = Path(__file__).parents[1]
BUILD, HOST = f"{NO_BUILD}mariadb:10.11 cannot be had: no network", "needs /dev/full"


@pytest.mark.parametrize(
    ("reason", "require", "without", "fails"),
    [
        (BUILD, "", "", False),
        (BUILD, "builds", "", True),
        (HOST, "builds", "", False),
        (BUILD, "1", "", True),
        (HOST, "1", "", True),
        (HOST, "1", "chromium; /dev/full", False),
        (HOST, "1", "chromium;", True),
        (BUILD, "builds", "mariadb:10.11", False),
        (f"{NOT_MEANT}it has the plugin", "1", "", False),
    ],
)
def test_what_is_demanded_may_not_be_left_out(reason: str, require: str, without: str, fails: bool) -> None:
    words = complaint(reason, {"DBVERSUS_TEST_REQUIRE": require, "DBVERSUS_TEST_WITHOUT": without})
    assert (words is not None) == fails
    assert not words or (reason in words and "DBVERSUS_TEST_WITHOUT" in words)


WAYS = """
import pytest
from tests.left_out import build_at_hand

@pytest.fixture
def build():
    return build_at_hand("postgres:/no/such/prefix")

def test_fixture(build): ...

def test_call():
    pytest.skip("no luck")

@pytest.mark.skipif(True, reason="no right to")
def test_mark(): ...

@pytest.mark.xfail(reason="known")
def test_known():
    assert False
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("require", "failed", "left_out"),
    [("", [], 4), ("builds", ["fixture"], 3), ("1", ["fixture", "call", "mark", "file"], 0)],
)
def test_every_way_of_leaving_out_is_seen(tmp_path: Path, require: str, failed: list[str], left_out: int) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    (tmp_path / "test_ways.py").write_text(WAYS)
    (tmp_path / "test_file.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    environment = {"DBVERSUS_TEST_REQUIRE": require, "DBVERSUS_TEST_WITHOUT": "", "PYTEST_ADDOPTS": ""}
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    # where these are set, pytest says each reason a second time, in its summary
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    options = ["-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-rA"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, options), "--continue-on-collection-errors", tmp_path],
        capture_output=True,
        text=True,
        env=inherited | environment | paths,
    )
    said = re.findall(r"^(?:FAILED|ERROR) \S*test_(\w+)(?:\.py)?(?: - .*)?$", done.stdout, re.MULTILINE)
    assert sorted(said) == sorted(failed)
    assert done.stdout.count(f"left out, though DBVERSUS_TEST_REQUIRE is {require}: ") == len(failed)
    assert (f"{left_out} skipped" in done.stdout) == bool(left_out) and "1 xfailed" in done.stdout
