"""What this host is: everything that may explain a figure later. Values that cannot be read are None."""

import hashlib
import os
import platform
import re
import time
from pathlib import Path
from typing import Any

from dbversus.host import cgroups, cpus, pmu

_SYSTEM = Path("/sys")
_PROC = Path("/proc")
_SAMPLE_S = 0.5
_BUSY_FIELDS = (0, 1, 2, 5, 6)


def host_facts(data_dir: Path | None = None) -> dict[str, Any]:
    """Facts for host.json; sizes in bytes. `data_dir`: whose file system is meant."""
    return {
        "machine_id": machine_id(),
        "kernel": platform.release(),
        "distribution": _distribution(),
        "architecture": platform.machine(),
        "virtualisation": virtualisation(),
        "container": Path("/.dockerenv").exists() or Path("/run/.containerenv").exists(),
        "cpu": cpu_facts(),
        "memory": memory_facts(),
        "file_system": file_system(data_dir or Path.cwd()),
        "cgroups": cgroups.hierarchies().version,
        "pressure_stall_information": (_PROC / "pressure/cpu").exists(),
        "pmu": pmu.instructions_counted(),
        "perf_event_paranoid": _number(_PROC / "sys/kernel/perf_event_paranoid"),
        "steal_ticks_since_boot": steal_ticks(),
        "clock_source": read(_SYSTEM / "devices/system/clocksource/clocksource0/current_clocksource"),
        "load_average": list(os.getloadavg()),
        "busy_cpus": busy_cpus(),
    }


def read(path: Path) -> str | None:
    """A kernel file's text, or None."""
    try:
        return path.read_text(errors="replace", encoding="utf-8").strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = read(path)
    return int(text) if text and re.fullmatch(r"-?\d+", text) else None


def machine_id() -> str | None:
    """Tells hosts apart in combined results without telling which they are: a hash of the system's own id."""
    text = read(Path("/etc/machine-id")) or read(_SYSTEM / "class/dmi/id/product_uuid") or platform.node()
    return hashlib.sha256(f"dbversus {text}".encode()).hexdigest()[:16] if text else None


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def cpu_facts() -> dict[str, Any]:
    info = read(_PROC / "cpuinfo") or ""
    model = re.search(r"^(?:model name|Model|CPU part)\s*:\s*(.+)$", info, re.M)
    cache = re.search(r"^cache size\s*:\s*(\d+) KB$", info, re.M)
    first = cpus.SYSTEM / "cpu0/cpufreq"
    return {
        "model": model[1] if model else None,
        "logical": os.cpu_count(),
        "allowed": sorted(os.sched_getaffinity(0)),
        "cores": len({cpus.siblings(cpu) for cpu in cpus.parse_cpu_list(read(cpus.SYSTEM / "online") or "0")}),
        "smt": read(cpus.SYSTEM / "smt/active") == "1",
        "cache_bytes": int(cache[1]) * 1024 if cache else None,
        "governor": read(first / "scaling_governor"),
        "turbo": _turbo(),
        "hypervisor_bit": bool(re.search(r"^flags\s*:.*\bhypervisor\b", info, re.M)),
    }


def _turbo() -> bool | None:
    """Whether the CPU may run above its nominal frequency, which depends on heat and neighbours; None: not shown."""
    if (no_turbo := read(cpus.SYSTEM / "intel_pstate/no_turbo")) is not None:
        return no_turbo == "0"
    boost = read(cpus.SYSTEM / "cpufreq/boost")
    return None if boost is None else boost == "1"


def memory_facts() -> dict[str, Any]:
    sizes = {
        name: int(size) * 1024 for name, size in re.findall(r"^(\w+):\s+(\d+) kB", read(_PROC / "meminfo") or "", re.M)
    }
    return {
        "total_bytes": sizes.get("MemTotal"),
        "available_bytes": sizes.get("MemAvailable"),
        "swap_total_bytes": sizes.get("SwapTotal"),
        "swap_used_bytes": sizes.get("SwapTotal", 0) - sizes.get("SwapFree", 0),
        "swappiness": _number(_PROC / "sys/vm/swappiness"),
        "transparent_huge_pages": transparent_huge_pages(),
        "dirty_background_ratio": _number(_PROC / "sys/vm/dirty_background_ratio"),
        "dirty_ratio": _number(_PROC / "sys/vm/dirty_ratio"),
        "numa_nodes": len(list((_SYSTEM / "devices/system/node").glob("node[0-9]*"))) or 1,
    }


def memory_bytes() -> int:
    """All of the host's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def transparent_huge_pages() -> str | None:
    """The mode in force: always, madvise or never."""
    match = re.search(r"\[(\w+)\]", read(_SYSTEM / "kernel/mm/transparent_hugepage/enabled") or "")
    return match[1] if match else None


def file_system(path: Path) -> dict[str, Any]:
    """Of the nearest existing directory: type, mount options and free bytes."""
    existing = next(parent for parent in [path.absolute(), *path.absolute().parents] if parent.exists()).resolve()
    best = ("", "unknown", "")
    for line in (read(_PROC / "self/mounts") or "").splitlines():
        _, point, kind, options = line.split()[:4]
        # later lines hide earlier ones on the same point
        if (existing == Path(point) or Path(point) in existing.parents) and len(point) >= len(best[0]):
            best = (point, kind, options)
    found = os.statvfs(existing)
    return {
        "mount_point": best[0],
        "type": best[1],
        "options": best[2],
        "free_bytes": found.f_bavail * found.f_frsize,
        "total_bytes": found.f_blocks * found.f_frsize,
    }


def virtualisation() -> str:
    """`none`, or the name of the hypervisor as far as the firmware tells."""
    vendor = read(_SYSTEM / "class/dmi/id/sys_vendor")
    product = read(_SYSTEM / "class/dmi/id/product_name")
    if re.search(r"^flags\s*:.*\bhypervisor\b", read(_PROC / "cpuinfo") or "", re.M):
        return " ".join(filter(None, (vendor, product))) or "virtual machine"
    return "none"


def steal_ticks() -> int | None:
    """Clock ticks in which the hypervisor gave our CPUs to others, since boot."""
    fields = _cpu_ticks()
    return fields[7] if len(fields) > 7 else None


def busy_cpus() -> float | None:
    """CPUs that did anything (user, system or interrupts) in the half second that this takes, on average.

    The load average still holds what ended a minute ago, such as an experiment of our own.
    """
    before, began = _cpu_ticks(), time.monotonic()
    time.sleep(_SAMPLE_S)
    after, seconds = _cpu_ticks(), time.monotonic() - began
    if len(before) <= max(_BUSY_FIELDS) or len(after) != len(before):
        return None
    ticks = sum(after[field] - before[field] for field in _BUSY_FIELDS)
    return max(0.0, ticks / os.sysconf("SC_CLK_TCK") / seconds)


def _cpu_ticks() -> list[int]:
    """Clock ticks of all CPUs since boot: user, nice, system, idle, iowait, irq, softirq, steal, …; empty if unknown."""
    match = re.search(r"^cpu\s+(.+)$", read(_PROC / "stat") or "", re.M)
    return [int(field) for field in match[1].split()] if match else []
