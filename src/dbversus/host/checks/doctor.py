"""What this host can and cannot measure, and what to change."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dbversus.errors import DbversusError
from dbversus.home import home_dir
from dbversus.host import cgroups
from dbversus.host.checks.noise import Noise, probe_noise
from dbversus.host.checks.preflight import HostFinding, judge
from dbversus.host.facts import host_facts
from dbversus.host.pinning import place
from dbversus.host.user import OWN, VARIABLE, server_user

_TOOLS = {
    "mvn": "no builds from Maven packages",
    "npm": "no builds from npm packages",
    "pip": "no builds from Python packages",
    "apt-get": "no builds from Debian packages",
    "sysbench": "no comparison with sysbench itself",
    "perf": "no profiles",
}


@dataclass(frozen=True)
class Capability:
    """Something that a host may or may not allow. `without`: what happens when it does not."""

    name: str
    available: bool
    detail: str = ""
    without: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """`as_dict` gives all of it as JSON values."""

    facts: Mapping[str, Any]
    capabilities: list[Capability]
    findings: list[HostFinding]
    noise: Noise | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def diagnose(noise_s: float = 5.0, data_dir: Path | None = None) -> Diagnosis:
    """Examines this host; with `noise_s` 0 the noise is not probed."""
    facts = host_facts(data_dir or home_dir())
    plan = place(1)
    noise = probe_noise(noise_s, cpu=plan.client_cpus[0] if plan.client_cpus else None) if noise_s else None
    return Diagnosis(facts, capabilities(facts), judge(facts), noise)


def capabilities(facts: Mapping[str, Any]) -> list[Capability]:
    group, note = cgroups.create_cgroup(f"doctor-{uuid.uuid4().hex[:8]}")
    freezes = group is not None and group.engine_freeze()["kind"] != "signal"
    if group:
        group.remove()
    return [
        Capability("cgroups", group is not None, facts["cgroups"], note),
        Capability("freezer", freezes, "", "idle servers are stopped with SIGSTOP instead"),
        Capability("CPU counters (PMU)", bool(facts["pmu"]), "", "no instructions or cache misses per operation"),
        Capability(
            "pressure (PSI)",
            facts["pressure_stall_information"],
            "",
            "disturbance is seen in other processes' CPU only",
        ),
        Capability(
            "drop of caches",
            os.access("/proc/sys/vm/drop_caches", os.W_OK),
            "",
            "no tests with a cold cache, which take root",
        ),
        *_users(),
        *(Capability(tool, bool(path := shutil.which(tool)), path or "", without) for tool, without in _TOOLS.items()),
    ]


def _users() -> Iterator[Capability]:
    """As whom servers run; and whether others do, too."""
    try:
        user = server_user()
    except DbversusError as error:
        yield Capability("user for servers", False, "", str(error))
        return
    yield Capability("user for servers", True, user.name)
    words = (
        f"other services that run as {user.name} can read and change loaded data; `dbversus doctor --make-user` makes a system "
        f"user {OWN}, or name one in {VARIABLE}"
    )
    yield Capability("own user for servers", not user.is_shared, "", words)
