import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.host.lock import acquire_host

HOLDER = """
import sys, time
from pathlib import Path
from dbversus.host.lock import acquire_host
lock = acquire_host(what="postgres:13 against postgres:17", home=Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def holder(home: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    process.stdout.close()
    return process


def test_a_second_one_is_refused_with_a_reason(tmp_path: Path) -> None:
    process = holder(tmp_path)
    try:
        with pytest.raises(RunError, match=rf"process {process.pid} \(postgres:13 against postgres:17, for 0 min\)"):
            acquire_host(home=tmp_path)
    finally:
        process.kill()
        process.wait()
    acquire_host(home=tmp_path).close()  # a killed one holds nothing


def test_a_second_one_waits_when_told_to(tmp_path: Path) -> None:
    first = acquire_host(home=tmp_path)
    taken = threading.Event()

    def second() -> None:
        with acquire_host(wait=True, home=tmp_path):
            taken.set()

    thread = threading.Thread(target=second)
    thread.start()
    time.sleep(0.1)
    assert not taken.is_set()
    first.close()
    thread.join(5)
    assert taken.is_set()


def test_children_do_not_inherit_the_lock(tmp_path: Path) -> None:
    with acquire_host(home=tmp_path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        acquire_host(home=tmp_path).close()
    finally:
        child.kill()
        child.wait()


def test_a_lock_that_says_nothing_is_refused_too(tmp_path: Path) -> None:
    with acquire_host(home=tmp_path):
        os.truncate(tmp_path / "host.lock", 0)
        with pytest.raises(RunError, match="another dbversus process"):
            acquire_host(home=tmp_path)
