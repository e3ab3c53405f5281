import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dbversus.host import cgroups
from dbversus.host.checks.doctor import diagnose
from dbversus.host.checks.noise import probe_noise
from dbversus.host.checks.preflight import Severity, judge
from dbversus.host.facts import busy_cpus, file_system, host_facts, memory_bytes

CALM: dict[str, Any] = {
    "file_system": {"mount_point": "/", "free_bytes": 90 * 10**9, "total_bytes": 100 * 10**9},
    "memory": {"available_bytes": 8 * 10**9, "swap_used_bytes": 0, "transparent_huge_pages": "madvise"},
    "cpu": {"logical": 4, "allowed": [0, 1, 2, 3], "governor": "performance", "turbo": False},
    "busy_cpus": 0.1,
    "clock_source": "tsc",
}


def test_a_calm_host_has_no_findings() -> None:
    assert judge(CALM, disk_bytes=10**9, memory_bytes=10**9) == []


@pytest.mark.parametrize(
    ("place", "value", "subject"),
    [
        (("busy_cpus",), 2.0, "load"),
        (("cpu", "governor"), "powersave", "governor"),
        (("cpu", "turbo"), True, "turbo"),
        (("cpu", "allowed"), [0], "CPUs"),
        (("memory", "swap_used_bytes"), 10**9, "swap"),
        (("memory", "transparent_huge_pages"), "always", "huge pages"),
        (("clock_source",), "hpet", "clock"),
    ],
)
def test_each_trouble_is_found_with_what_to_change(place: tuple[str, ...], value: Any, subject: str) -> None:
    facts = copy.deepcopy(CALM)
    inner = facts
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    found = judge(facts)
    assert [one.subject for one in found] == [subject]
    assert found[0].advice


def test_too_little_disk_is_an_error_and_comes_first() -> None:
    found = judge({**CALM, "busy_cpus": 4.0}, disk_bytes=100 * 10**9, memory_bytes=9 * 10**9)
    assert [(one.severity, one.subject) for one in found] == [
        (Severity.ERROR, "disk"),
        (Severity.WARNING, "memory"),
        (Severity.WARNING, "load"),
    ]
    assert "100.00 GB are needed on / and 90.00 GB are free" in found[0].message


def test_facts_of_this_host_are_json(tmp_path: Path) -> None:
    facts = host_facts(tmp_path / "not/yet/there")
    assert json.loads(json.dumps(facts))["cpu"]["allowed"] == sorted(os.sched_getaffinity(0))
    assert facts["memory"]["total_bytes"] <= memory_bytes() * 1.01
    assert facts["file_system"]["free_bytes"] > 0
    assert facts["kernel"]
    assert (facts["machine_id"] or "") != Path("/etc/machine-id").read_text().strip()
    assert any(one.subject == "disk" for one in judge(facts, disk_bytes=2**62))


def test_busy_cpus_are_those_of_now() -> None:
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as loop:
        found = busy_cpus()
        loop.kill()
    assert found is not None and found > 0.3


def test_the_file_system_is_that_of_the_directory() -> None:
    assert file_system(Path("/proc/self"))["type"] == "proc"


def test_the_noise_of_a_spinning_loop_is_measured_and_the_affinity_put_back() -> None:
    before = os.sched_getaffinity(0)
    noise = probe_noise(seconds=0.2, slot_ms=10, cpu=min(before))
    assert noise.slots == 20
    assert noise.pair_sd >= 0
    assert 0 < noise.cpu_share <= 1
    assert os.sched_getaffinity(0) == before


def test_a_diagnosis_leaves_nothing_behind() -> None:
    diagnosis = diagnose(noise_s=0)
    assert diagnosis.noise is None
    names = {capability.name for capability in diagnosis.capabilities}
    assert {"cgroups", "freezer", "CPU counters (PMU)", "drop of caches", "user for servers", "mvn", "apt-get"} <= names
    json.dumps(diagnosis.as_dict())
    for parent in cgroups.hierarchies().every():
        assert not list((parent / cgroups.OWN_DIRECTORY).glob("doctor-*"))
