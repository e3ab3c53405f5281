import os
import subprocess
import sys
import time
from pathlib import Path

from dbversus.host.claims import in_use

USER = """
import sys
from pathlib import Path
from dbversus.host.claims.in_use import using
with using(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def user(path: Path) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", USER, str(path)], stdin=pipe, stdout=pipe, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_who_uses_it_is_named_until_he_ends_however_that_happens(tmp_path: Path) -> None:
    path = tmp_path / "thing"
    assert in_use.user_of(path) == ""
    process = user(path)
    try:
        assert in_use.user_of(path) == f"process {process.pid}"
        with in_use.removing(path) as who:
            assert who == f"process {process.pid}"
        with in_use.using(path):  # several may use it
            pass
    finally:
        process.kill()
        process.communicate()
    assert in_use.user_of(path) == ""
    with in_use.removing(path) as who:
        assert who == ""


def test_the_last_use_is_the_end_of_it(tmp_path: Path) -> None:
    path = tmp_path / "thing"
    path.mkdir()
    os.utime(path, (1000, 1000))
    assert in_use.last_used_unix_s(path) == 1000  # made before there were marks
    with in_use.using(path):
        os.utime(tmp_path / ".thing.used", (2000, 2000))
        assert in_use.last_used_unix_s(path) == 2000
    assert abs(in_use.last_used_unix_s(path) - time.time()) < 60
    assert in_use.last_used_unix_s(tmp_path / "nothing") == 0
