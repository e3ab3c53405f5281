import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.host import cgroups, memory_limit

LIMIT_BYTES = 48 * 2**20


@pytest.fixture
def group() -> Iterator[cgroups.CgroupV1 | cgroups.CgroupV2]:
    made, note = cgroups.create_cgroup(f"{os.getpid()}-test-{uuid.uuid4().hex[:8]}", with_memory=True)
    if made is None or made.memory is None:
        pytest.skip(note)
    yield made
    made.remove()


def allocate(group: cgroups.CgroupV1 | cgroups.CgroupV2, mib: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"x = bytearray({mib} * 2**20); x[::4096] = b'1' * len(x[::4096]); print('done')"],
        preexec_fn=lambda: group.add(os.getpid()),
        capture_output=True,
        text=True,
    )


def test_a_process_gets_as_much_as_its_group_may_have(group: cgroups.CgroupV1 | cgroups.CgroupV2) -> None:
    assert group.memory
    memory_limit.set_limit(group.memory, LIMIT_BYTES)
    assert allocate(group, 8).stdout == "done\n"
    assert memory_limit.kills(group.memory) == 0
    assert allocate(group, 96).returncode == -9
    assert memory_limit.kills(group.memory) == 1
    memory_limit.set_limit(group.memory, None)
    assert allocate(group, 96).stdout == "done\n"


def test_what_the_page_cache_holds_of_its_files_is_bounded(
    group: cgroups.CgroupV1 | cgroups.CgroupV2, tmp_path: Path
) -> None:
    assert group.memory
    memory_limit.set_limit(group.memory, LIMIT_BYTES)
    command = f"dd if=/dev/zero of={tmp_path}/file bs=1M count=128 && cat {tmp_path}/file > /dev/null"
    subprocess.run(["sh", "-c", command], preexec_fn=lambda: group.add(os.getpid()), check=True, capture_output=True)
    usage = next(
        group.memory / name for name in ("memory.usage_in_bytes", "memory.current") if (group.memory / name).exists()
    )
    assert 2**20 < int(usage.read_text()) <= LIMIT_BYTES


def test_a_host_without_the_controller_gives_a_group_and_a_note(tmp_path: Path) -> None:
    (tmp_path / "cpuacct").mkdir()
    where = cgroups.Hierarchies(cpuacct=tmp_path / "cpuacct")
    group, note = cgroups.create_cgroup("x", where, with_memory=True)
    assert group and group.memory is None
    assert "no memory hierarchy is mounted" in note and "--memory" in note
    assert cgroups.create_cgroup("y", where)[1] == ""


def test_version_2_has_the_controller_enabled_from_the_top(tmp_path: Path) -> None:
    parents = tmp_path, tmp_path / "dbversus"
    parents[1].mkdir()
    for parent in parents:
        (parent / "cgroup.subtree_control").write_text("cpu\n")
    memory_limit.enable(parents)
    assert [(parent / "cgroup.subtree_control").read_text() for parent in parents] == ["+memory"] * 2
    group = parents[1] / "x"
    group.mkdir()
    memory_limit.set_limit(group, LIMIT_BYTES)
    assert (group / "memory.max").read_text() == str(LIMIT_BYTES) and (group / "memory.swap.max").read_text() == "0"
    memory_limit.set_limit(group, None)
    assert (group / "memory.max").read_text() == (group / "memory.swap.max").read_text() == "max"
    (group / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert memory_limit.kills(group) == 2
