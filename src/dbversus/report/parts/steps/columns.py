"""The columns of the Insert Benchmark, for tests that last: a line per test and target, from sums over all blocks.

Unlike those of the reference they are over all clients, and of driven time, without start-up.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.report.parts.each_test.roles import roles_of_tests
from dbversus.report.parts.steps.io import disk, over, paid
from dbversus.results.stored import Results
from dbversus.results.tables.stalls import WHOLE_NS

FEWEST_SECONDS = 10
"""Fewer tell no share of the time in which a rate was exceeded."""

COLUMNS: Mapping[str, str] = {
    "test": "",
    "target": "",
    "blocks": "blocks that all figures are sums over",
    "seconds": "driven time, mean of blocks",
    "ips": "rows inserted or indexed, 1/s",
    "qps": "queries, 1/s",
    "ops": "operations of the test, 1/s",
    "rps": "reads of the disk, 1/s",
    "rmbps": "read from the disk, MB/s",
    "wps": "writes of the disk, 1/s",
    "wmbps": "written to the disk, MB/s",
    "rpq": "reads of the disk, per row or query",
    "rkbpq": "read from the disk, kB per row or query",
    "wpi": "writes of the disk, per inserted row",
    "wkbpi": "written to the disk, kB per inserted row",
    "csps": "context switches of the server, 1/s",
    "cspq": "context switches of the server, per row or query",
    "cpups": "CPU of the server, % of one CPU",
    "cpupq": "CPU of the server, µs per row or query",
    "fcpupq": "the part of it of threads or processes that serve clients, µs per row or query",
    "bcpupq": "the part of it of all others, µs per row or query",
    "ccpupq": "CPU of the clients, µs per row or query",
    "dcpupq": "CPU that the server used after the test to pay its debt, µs per row or query",
    "dwmb": "written after the test to pay the debt, MB, mean of blocks",
    "dwkbpi": "written after the test to pay the debt, kB per inserted row",
    "wamp": "write amplification: bytes written by the server in the test and to pay its debt / bytes of inserted rows",
    "samp": "space amplification: bytes of the data directory / bytes of the rows in it, at the end",
    "dbgb1": "database at the end: tables and indexes, GB, mean of blocks",
    "dbgb2": "data directory at the end: logs too, GB, mean of blocks",
    "rss": "largest resident memory of a process of the server, GB",
    "maxop": "longest response time, s",
    "p50": "rate that was exceeded in 50 % of the seconds, 1/s",
    "p99": "rate that was exceeded in 99 % of the seconds, 1/s",
    "stall": "longest stall, s",
    "sla": "whether all rates were reached: met or failed; empty without rates",
}
"""Name → what it is, with its unit. `row or query`: queries where there are any, else rows inserted, else operations."""

_SLOTS = """SELECT test, target, count(DISTINCT block) AS blocks, sum(elapsed_ns) / 1e9 AS seconds, sum(ops) AS ops,
    sum(affected) AS affected, max(max_ns) / 1e9 AS max_s,
    sum(driven_write_bytes) AS write_bytes, sum(server_switches) AS switches, sum(server_cpu_ns) / 1e3 AS cpu_us,
    sum(server_foreground_cpu_ns) / 1e3 AS foreground_us, sum(server_background_cpu_ns) / 1e3 AS background_us,
    sum(client_cpu_ns) / 1e3 AS client_us, sum(disk_reads) AS disk_reads, sum(disk_writes) AS disk_writes,
    sum(disk_read_bytes) AS disk_read_bytes, sum(disk_write_bytes) AS disk_write_bytes
  FROM slots GROUP BY test, target"""
_ROLES = """SELECT test, target, role, sum(ops) AS ops, sum(affected) AS affected, max(max_ns) / 1e9 AS max_s
  FROM roles GROUP BY test, target, role"""
_DRAINS = """SELECT test, target, sum(ops) AS ops, sum(server_cpu_ns) / 1e3 AS cpu_us, sum(server_write_bytes) AS write_bytes
  FROM drains GROUP BY test, target"""
_AMOUNTS = """SELECT test, target, avg(database_bytes) / 1e9 AS database_gb, avg(data_dir_bytes) / 1e9 AS data_dir_gb,
    sum(inserted_bytes) AS inserted_bytes,
    CASE WHEN count(live_bytes) = count(*) THEN sum(data_dir_bytes) / nullif(sum(live_bytes), 0) END AS space
  FROM amounts GROUP BY test, target"""
_MEMORY = "SELECT test, target, max(peak_rss_bytes) AS bytes FROM memory GROUP BY test, target"
_STALLS = "SELECT test, target, max(longest_s) AS longest_s FROM stalls WHERE role = '' GROUP BY test, target"

Line = dict[str, Any]


def steps(results: Results) -> list[Line]:
    """A line of COLUMNS per test and target, of tests that have seconds or roles; None: not known."""
    slots, memory, stalls = (_by_place(results, query) for query in (_SLOTS, _MEMORY, _STALLS))
    drains, amounts = (_by_place(results, query) for query in (_DRAINS, _AMOUNTS))
    roles: dict[tuple[str, str], dict[str, Line]] = {}
    for line in results.lines(_ROLES):
        roles.setdefault((line["test"], line["target"]), {})[line["role"]] = line
    lasting = {row["test"] for row in results.timeline} | {test for test, _ in roles}
    failed = _sla(results)
    found = []
    for test in results.tests:
        for place in ((test, target.label) for target in results.targets):
            if test in lasting and (sums := slots.get(place)) and sums["seconds"]:
                line = _line(results, sums, roles.get(place, {}))
                line |= paid(sums, line, drains.get(place, {}), amounts.get(place, {}))
                rss, stall = memory.get(place, {}).get("bytes"), stalls.get(place, {}).get("longest_s")
                found.append(line | {"rss": over(rss, 1e9), "stall": stall, "sla": failed.get(place, "")})
    return [{name: line[name] for name in COLUMNS} for line in found]


def _by_place(results: Results, query: str) -> dict[tuple[str, str], Line]:
    return {(line["test"], line["target"]): line for line in results.lines(query)}


def _line(results: Results, sums: Line, of_roles: Mapping[str, Line]) -> Line:
    test, seconds, blocks = sums["test"], sums["seconds"], sums["blocks"]
    rows, queries, longest_s = _done(results, sums, of_roles)
    base = queries or rows or sums["ops"]
    return {
        "test": test,
        "target": sums["target"],
        "base": base,
        "rows": rows,
        "blocks": blocks,
        "seconds": seconds / blocks,
        "ips": over(rows, seconds),
        "qps": over(queries, seconds),
        "ops": sums["ops"] / seconds,
        **disk(sums, base, rows),
        "csps": over(sums["switches"], seconds),
        "cspq": over(sums["switches"], base),
        "cpups": over(sums["cpu_us"], seconds * 1e4),
        "cpupq": over(sums["cpu_us"], base),
        "fcpupq": over(sums["foreground_us"], base),
        "bcpupq": over(sums["background_us"], base),
        "ccpupq": over(sums["client_us"], base),
        "maxop": longest_s,
        **_rates(results, test, sums["target"]),
    }


def _done(results: Results, sums: Line, of_roles: Mapping[str, Line]) -> tuple[int | None, int | None, float | None]:
    """Rows inserted or indexed, queries, and the longest response time of what is counted first: queries, else inserts."""
    plan = results.slot_plans.get(sums["test"])
    does = plan.does if plan else {}
    parts = {role: of_roles.get(role, sums) for role in does if role in of_roles or not role}
    inserts, queries = ([parts[role] for role in parts if does[role] == kind] for kind in ("insert", "query"))
    rows = sum(part["affected"] or 0 for part in inserts) if inserts else None
    if plan and plan.rows_scanned_per_op and does.get("") == "index":
        rows = plan.rows_scanned_per_op * sums["ops"]
    longest = [part["max_s"] for part in queries or inserts or [sums] if part["max_s"] is not None]
    return rows, sum(part["ops"] for part in queries) if queries else None, max(longest, default=None)


def _rates(results: Results, test: str, label: str) -> dict[str, float | None]:
    """Of all clients and blocks; in rows per second where the test inserts and does nothing else, else in operations."""
    plan = results.slot_plans.get(test)
    unit = "affected" if plan and plan.does.get("") == "insert" else "ops"
    rates = sorted(
        (row[unit] / row["elapsed_ns"] * 1e9 for row in results.timeline if _is_of(row, test, label)), reverse=True
    )
    return {f"p{percent}": exceeded(rates, percent) for percent in (50, 99)}


def _is_of(row: Mapping[str, Any], test: str, label: str) -> bool:
    return (row["test"], row["target"]) == (test, label) and row["elapsed_ns"] >= WHOLE_NS


def exceeded(falling: Sequence[float], percent: int) -> float | None:
    """The rate that was reached in that percentage of the seconds; None of fewer than FEWEST_SECONDS."""
    count = len(falling)
    return falling[-(-percent * count // 100) - 1] if count >= FEWEST_SECONDS else None


def _sla(results: Results) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for test, parts in roles_of_tests(results).items():
        for part in parts:
            for label, figures in part.targets.items():
                if figures.rate.held_share is not None:
                    failed = figures.rate.is_missed or found.get((test, label)) == "failed"
                    found[test, label] = "failed" if failed else "met"
    return found
