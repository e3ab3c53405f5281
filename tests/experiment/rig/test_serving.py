"""Threads that serve clients run where the clients do; all others of their server stay where they are."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.experiment.rig.rig import Rig
from dbversus.experiment.rig.serving import pin_serving
from dbversus.host.pinning import PlacementPlan

from ..fakes import make_rig, records


@pytest.fixture
def process() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as started:
        yield started.pid
        started.kill()


def _split(folder: Path, cpu: int) -> Rig:
    return replace(make_rig(folder), cpus=PlacementPlan("split", (), (cpu,), (cpu,)))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU only")
def test_who_serves_runs_where_the_clients_do(tmp_path: Path, process: int) -> None:
    cpu = max(os.sched_getaffinity(0))
    pin_serving(_split(tmp_path, cpu), {"t0": [process]})
    assert os.sched_getaffinity(process) == {cpu}


def test_without_cpus_of_their_own_nobody_is_moved(tmp_path: Path, process: int) -> None:
    before = os.sched_getaffinity(process)
    pin_serving(make_rig(tmp_path), {"t0": [process]})
    assert os.sched_getaffinity(process) == before


def test_a_server_that_does_not_tell_its_threads_has_a_remark(tmp_path: Path) -> None:
    rig = _split(tmp_path, 0)
    rig.by_name("t0").server.root_pid = 1  # type: ignore[misc]
    pin_serving(rig, {"t0": [], "t1": [2**22 + 1]})
    assert [record["target"] for record in records(rig, "remark")] == ["t0"]
