"""The host in words. What tells it from all others is left out, since pages are published."""

from collections.abc import Iterator, Mapping
from typing import Any

from dbversus.report.words import listing, number
from dbversus.units import count_of, show_bytes

Facts = Mapping[str, Any]
UNKNOWN = "not known"


def host_words(host: Facts) -> list[tuple[str, str]]:
    """What it is → how it is; without what was not recorded."""
    told = {
        "CPU": _cpu(host.get("cpu") or {}),
        "memory": _memory(host.get("memory") or {}),
        "system": ", ".join(str(host[name]) for name in ("distribution", "kernel", "architecture") if host.get(name)),
        "kind": _kind(host),
        "files": _files(host.get("file_system") or {}),
        "reads of the disk": "; ".join(_reads(host.get("read_latency") or {})),
        "placement": "; ".join(_placement(host.get("placement") or {})),
        "accounting": _accounting(host),
        "load when it began": _load(host),
        "notes": " ".join(map(str, host.get("notes") or [])),
    }
    return [(name, text) for name, text in told.items() if text]


def _cpu(cpu: Facts) -> str:
    if not cpu:
        return ""
    allowed, logical = len(cpu.get("allowed") or []), cpu.get("logical")
    parts = [str(cpu.get("model") or UNKNOWN), f"{allowed} of {logical} logical CPUs may be used"]
    if cpu.get("cores"):
        parts.append(f"{count_of(cpu['cores'], 'core')}{', SMT' if cpu.get('smt') else ''}")
    if cpu.get("cache_bytes"):
        parts.append(f"{show_bytes(cpu['cache_bytes'])} of cache")
    parts += [f"{name} {cpu[name]}" for name in ("governor", "turbo") if cpu.get(name) is not None]
    return ", ".join(parts)


def _memory(memory: Facts) -> str:
    if not memory.get("total_bytes"):
        return ""
    parts = [show_bytes(memory["total_bytes"])]
    if memory.get("available_bytes"):
        parts.append(f"{show_bytes(memory['available_bytes'])} of it available")
    swap = memory.get("swap_total_bytes")
    parts.append(f"{show_bytes(swap)} of swap" if swap else "no swap")
    if pages := memory.get("transparent_huge_pages"):
        parts.append(f"transparent huge pages: {pages}")
    if (nodes := memory.get("numa_nodes") or 1) > 1:
        parts.append(count_of(nodes, "NUMA node"))
    return ", ".join(parts)


def _kind(host: Facts) -> str:
    return ", ".join([str(host.get("virtualisation") or ""), *(["in a container"] if host.get("container") else [])])


def _files(files: Facts) -> str:
    if not files.get("type"):
        return ""
    free = f", {show_bytes(files['free_bytes'])} free" if files.get("free_bytes") else ""
    return f"{files['type']} ({files.get('options') or UNKNOWN}){free}"


def _reads(latency: Facts) -> Iterator[str]:
    for name, one in latency.items():
        if isinstance(one, Mapping) and one.get("mean_us"):
            pattern, _, size = name.partition("_")
            yield f"{pattern} {size}: {number(one['mean_us'])} µs, p99 {number(one.get('p99_us'))} µs"


def _placement(placement: Facts) -> Iterator[str]:
    for title, name in (("servers", "server_cpus"), ("clients", "client_cpus")):
        if cpus := placement.get(name):
            yield f"{title} on CPU {listing(list(map(str, cpus)))}"
    if note := placement.get("note"):
        yield str(note)


def _accounting(host: Facts) -> str:
    parts = [f"cgroups {host['cgroups']}" if host.get("cgroups") else "no cgroups"]
    parts.append("hardware counters" if host.get("pmu") else "no hardware counters")
    if host.get("clock_source"):
        parts.append(f"clock {host['clock_source']}")
    return ", ".join(parts) if host else ""


def _load(host: Facts) -> str:
    load = ", ".join(f"{one:.2f}" for one in host.get("load_average") or [])
    busy = host.get("busy_cpus")
    return "; ".join(filter(None, [load, "" if busy is None else f"other work kept {busy:.1f} CPUs busy"]))
