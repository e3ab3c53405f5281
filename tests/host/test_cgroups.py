import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from dbversus.host import cgroups, processes

V1_MOUNTS = """cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,freezer 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
"""


@pytest.fixture(params=["v1", "v2"])
def group(request: pytest.FixtureRequest) -> Iterator[cgroups.CgroupV1 | cgroups.CgroupV2]:
    made, note = cgroups.create_cgroup(f"{os.getpid()}-test-{uuid.uuid4().hex[:8]}", kind=request.param)
    if made is None:
        pytest.skip(note)
    yield made
    made.remove()


def cpu_used(group: cgroups.CgroupV1 | cgroups.CgroupV2) -> int:
    if isinstance(group, cgroups.CgroupV1):
        return int((group.cpuacct / "cpuacct.usage").read_text())
    return int((group.path / "cpu.stat").read_text().split()[1]) * 1000


def wait_for_more(group: cgroups.CgroupV1 | cgroups.CgroupV2, than: int) -> None:
    while cpu_used(group) <= than:
        time.sleep(0.01)


@pytest.mark.slow
def test_a_group_counts_cpu_and_is_thawed_and_removed(group: cgroups.CgroupV1 | cgroups.CgroupV2) -> None:
    process = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        group.add(process.pid)
        assert cgroups.pids_in(group.directories()) == [process.pid]
        wait_for_more(group, than=0)
        freezer = group.engine_freeze()
        if freezer["kind"] != "signal":
            directory = Path(freezer.get("freezer") or freezer["path"])
            file, word = ("cgroup.freeze", "1") if freezer["kind"] == "v2" else ("freezer.state", "FROZEN")
            (directory / file).write_text(word)
            while processes.read_stat(process.pid).state == "R":  # type: ignore[union-attr]
                time.sleep(0.01)  # until it next gets a CPU, where it ends
            frozen_at = cpu_used(group)
            time.sleep(0.1)
            assert cpu_used(group) == frozen_at
            cgroups.thaw(group.directories())
            wait_for_more(group, than=frozen_at)
        with pytest.raises(OSError):
            cgroups.remove_directories(group.directories())  # it still holds a process
        cgroups.leave_directories(group.directories())
        assert all(Path(directory).exists() for directory in group.directories())
    finally:
        process.kill()
        process.wait()
    group.remove()
    assert not any(Path(directory).exists() for directory in group.directories())


def test_the_engine_is_told_where_requests_to_the_disk_are_counted(group: cgroups.CgroupV1 | cgroups.CgroupV2) -> None:
    told = group.engine_disk()
    if isinstance(group, cgroups.CgroupV2):
        assert told == {"kind": "v2", "path": str(group.path)}
    elif group.blkio is None:
        assert told is None
    else:
        assert told == {"kind": "v1", "blkio": str(group.blkio)}
        assert str(group.blkio) in group.directories()


def test_requests_are_counted_below_a_group_of_version_2_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("")
    made, _ = cgroups.create_cgroup("x", cgroups.Hierarchies(unified=tmp_path))
    assert made is None  # a plain folder has no cgroup.procs in what is made
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+io"


def test_a_name_can_be_had_once(group: cgroups.CgroupV1 | cgroups.CgroupV2) -> None:
    name = Path(group.directories()[0]).name
    kind = "v1" if isinstance(group, cgroups.CgroupV1) else "v2"
    again, note = cgroups.create_cgroup(name, kind=kind)
    assert again is None
    assert "File exists" in note


def test_groups_of_processes_that_are_gone_are_removed() -> None:
    made, note = cgroups.create_cgroup(f"{os.getpid()}-unused")  # of a living process: others clean up here too
    if made is None:
        pytest.skip(note)
    cgroups.remove_unused(lambda pid: True)
    assert all(Path(directory).exists() for directory in made.directories())
    cgroups.remove_unused(lambda pid: pid != os.getpid())
    assert not any(Path(directory).exists() for directory in made.directories())


def test_a_host_without_cgroups_gives_a_note(tmp_path: Path) -> None:
    made, note = cgroups.create_cgroup("x", cgroups.Hierarchies())
    assert made is None
    assert "no cpuacct hierarchy" in note
    assert "CPU time is summed over processes instead" in note
    made, note = cgroups.create_cgroup("x", cgroups.Hierarchies(unified=tmp_path))
    assert made is None
    assert not (tmp_path / "dbversus/x").exists()


def test_mounts_are_understood() -> None:
    where = cgroups.hierarchies(V1_MOUNTS, "4:cpu,cpuacct:/\n3:freezer:/\n0::/no/such/group\n")
    assert where.cpuacct == Path("/sys/fs/cgroup/cpu,cpuacct")
    assert where.freezer == Path("/sys/fs/cgroup/freezer")
    assert where.unified == Path("/sys/fs/cgroup/unified")
    assert where.version == "v1+v2"
    assert cgroups.hierarchies("proc /proc proc rw 0 0\n", "").version == "none"


def test_our_own_group_is_the_parent(tmp_path: Path) -> None:
    (tmp_path / "user.slice/me").mkdir(parents=True)
    where = cgroups.hierarchies(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n", "0::/user.slice/me\n")
    assert where.unified == tmp_path / "user.slice/me"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_who_is_handed_a_group_may_freeze_it_and_not_say_who_is_in_it(
    group: cgroups.CgroupV1 | cgroups.CgroupV2,
) -> None:
    for directory in map(Path, group.directories()):
        directory.chmod(0o700)
    cgroups.hand_over(group.directories(), 65534)
    names = ("freezer.state", "cgroup.freeze", "blkio.throttle.read_bps_device")
    for directory in map(Path, group.directories()):
        theirs = {path.name for path in directory.iterdir() if path.stat().st_uid == 65534}
        assert theirs == {name for name in names if (directory / name).exists()}
        assert directory.stat().st_mode & 0o777 == 0o755
