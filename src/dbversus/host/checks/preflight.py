"""Looks before a run: what would spoil it, and what would make it noisier than need be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_BUSY_SHARE = 0.3
_RESERVE_SHARE = 0.05


class Severity(StrEnum):
    ERROR = "error"  # the run cannot succeed
    WARNING = "warning"  # it will be noisier, or measure something else
    INFO = "info"


@dataclass(frozen=True)
class HostFinding:
    """What was found, and what the user can change."""

    severity: Severity
    subject: str
    message: str
    advice: str = ""


def judge(facts: Mapping[str, Any], disk_bytes: int = 0, memory_bytes: int = 0) -> list[HostFinding]:
    """Findings, worst first, before a run of so many bytes. `facts`: as `host_facts` gives them."""
    found = [_disk(facts, disk_bytes), _memory(facts, memory_bytes)]
    found += [check(facts) for check in _CHECKS]
    order = list(Severity)
    return sorted((one for one in found if one), key=lambda one: order.index(one.severity))


def _disk(facts: Mapping[str, Any], needed: int) -> HostFinding | None:
    place = facts["file_system"]
    free = place["free_bytes"]
    if needed > free:
        text = f"{_gigabytes(needed)} are needed on {place['mount_point']} and {_gigabytes(free)} are free"
        return HostFinding(
            Severity.ERROR, "disk", text, "free some, use a smaller table, or name another home in DBVERSUS_HOME"
        )
    if free - needed < _RESERVE_SHARE * place["total_bytes"]:
        text = f"{place['mount_point']} will be over {1 - _RESERVE_SHARE:.0%} full, which makes many file systems slow"
        return HostFinding(Severity.WARNING, "disk", text, "free some space")
    return None


def _memory(facts: Mapping[str, Any], needed: int) -> HostFinding | None:
    available = facts["memory"]["available_bytes"] or 0
    if needed <= available:
        return None
    text = f"{_gigabytes(needed)} of memory are needed and {_gigabytes(available)} are available"
    return HostFinding(
        Severity.WARNING, "memory", text, "use a smaller table or fewer targets; servers may read from disk or swap"
    )


def _load(facts: Mapping[str, Any]) -> HostFinding | None:
    busy, count = facts["busy_cpus"], facts["cpu"]["logical"] or 1
    if busy is None or busy <= _BUSY_SHARE * count:
        return None
    return HostFinding(
        Severity.WARNING,
        "load",
        f"other work keeps {busy:.1f} of {count} CPUs busy",
        "stop it, or use --wait-quiet 5m: interleaving cancels much of its effect, not all",
    )


def _governor(facts: Mapping[str, Any]) -> HostFinding | None:
    governor = facts["cpu"]["governor"]
    if governor in (None, "performance"):
        return None
    return HostFinding(
        Severity.WARNING,
        "governor",
        f"the CPU frequency governor is '{governor}': speed follows load",
        "cpupower frequency-set -g performance",
    )


def _turbo(facts: Mapping[str, Any]) -> HostFinding | None:
    if not facts["cpu"]["turbo"]:
        return None
    text = "turbo is on: CPU speed depends on heat and on what other cores do"
    return HostFinding(
        Severity.INFO, "turbo", text, "turn it off in /sys/devices/system/cpu (intel_pstate/no_turbo or cpufreq/boost)"
    )


def _swap(facts: Mapping[str, Any]) -> HostFinding | None:
    if not facts["memory"]["swap_used_bytes"]:
        return None
    text = f"{_gigabytes(facts['memory']['swap_used_bytes'])} are swapped out"
    return HostFinding(
        Severity.WARNING, "swap", text, "swapoff -a, or free memory: a page of a server may be read back in a slot"
    )


def _huge_pages(facts: Mapping[str, Any]) -> HostFinding | None:
    if facts["memory"]["transparent_huge_pages"] != "always":
        return None
    text = "transparent huge pages are 'always': whether a server gets them differs from start to start"
    return HostFinding(Severity.INFO, "huge pages", text, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")


def _cpus(facts: Mapping[str, Any]) -> HostFinding | None:
    if len(facts["cpu"]["allowed"]) > 1:
        return None
    text = "one CPU only: the controller runs on the core that is measured"
    return HostFinding(Severity.WARNING, "CPUs", text, "use a host with two or more")


def _clock(facts: Mapping[str, Any]) -> HostFinding | None:
    if facts["clock_source"] in (None, "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"):
        return None
    text = f"the clock source is '{facts['clock_source']}', which is slow to read"
    return HostFinding(Severity.WARNING, "clock", text, "boot with clocksource=tsc where the hardware allows")


_CHECKS: tuple[Callable[[Mapping[str, Any]], HostFinding | None], ...] = (
    _load,
    _governor,
    _turbo,
    _swap,
    _huge_pages,
    _cpus,
    _clock,
)


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.2f} GB"
