"""Figures in the reference's columns and units (docs/reference-layouts.md), from slots, or as imported.

The reference counts queries, where ours counts operations: a transaction of several statements is several of its
operations. It counts CPU and context switches of the whole machine; ours are those of server and client, which is
that machine without what others did on it.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from dbversus.importing.formats.insert import COLUMNS as INSERT_COLUMNS
from dbversus.report.figures import block_figures
from dbversus.report.model import LayoutPart, LayoutTest, StepsPart
from dbversus.report.parts.experiment.efficiency import CLIENT_CPU, CLIENT_SWITCHES, SWITCHES, load_per_row
from dbversus.report.parts.layouts.names import in_a_cell, name_of_test, names_of_targets
from dbversus.report.parts.steps.imported import printed_steps
from dbversus.results.records import Slots
from dbversus.results.schema import is_load
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.metrics import CPU, DISK_READ_BYTES, DISK_READS, DISK_WRITE_BYTES, LOAD_TEST, THROUGHPUT
from dbversus.stats.model import Finding
from dbversus.stats.values.imported import MACHINE_CPU_SHARE, MACHINE_SWITCHES, is_imported, scans_of_rows

KIB = 1024
_SUM_NAMES = ("test", "target", "ops", "statements", "seconds", "cpu_us", "switches", "client_switches")
_SUMS = """SELECT test, target, sum(ops), sum(statements), sum(elapsed_ns) / 1e9, sum(server_cpu_ns + client_cpu_ns) / 1e3,
    sum(server_switches + client_switches), sum(client_switches)
  FROM slots GROUP BY test, target"""

Figures = dict[str, float]
Sums = Mapping[tuple[str, str], Mapping[str, Any]]


def layout_part(results: Results, steps: StepsPart | None, findings: Sequence[Finding] | None = None) -> LayoutPart:
    """`steps` and `findings`: of these results. Targets and tests stand in the order of the experiment."""
    dbms = frozenset(target.dbms for target in results.targets)
    if is_imported(results):
        names = {target.label: in_a_cell(target.label) for target in results.targets}
        of_steps = _imported_steps(results)
        tests = _tests(results, _of_import(results), {*of_steps}, scans_of_rows(results))
        return LayoutPart(names, dbms, tests, tuple(of_steps.values()), imported=True)
    lines = (dict(zip(_SUM_NAMES, row, strict=True)) for row in results.slot_rows(_SUMS))
    sums: Sums = {(line["test"], line["target"]): line for line in lines}
    lasting = {test for test, plan in results.slot_plans.items() if "slice_ms" in plan.slot and not is_load(test)}
    of_rows = {case for case, plan in results.slot_plans.items() if plan.rows_scanned_per_op}
    tests = _tests(results, _of_slots(results, sums, findings), lasting, of_rows)
    return LayoutPart(names_of_targets(results.targets), dbms, tests, _steps(results, steps, sums))


def _tests(
    results: Results, known: Mapping[tuple[str, str], Figures], without: set[str], of_rows: set[str]
) -> tuple[LayoutTest, ...]:
    """The load first. A test without a figure on any target is left out. `of_rows`: cases that count rows."""
    found = []
    for case in dict.fromkeys((LOAD_TEST, *results.tests)):
        name, clients = case_and_clients(results, case)
        figures = {target.label: of for target in results.targets if (of := known.get((case, target.label)))}
        if figures and name not in without and case not in without:
            shown = name if is_load(name) else name_of_test(name)
            found.append(LayoutTest(shown, clients, figures, case in of_rows))
    return tuple(found)


def case_and_clients(results: Results, case: str) -> tuple[str, int | None]:
    """`scan@4` is the test `scan` with 4 clients; the load has no number of them."""
    clients = results.header.clients or []
    if is_load(case):
        return case, None
    if len(clients) > 1 and (found := case_of(case)):
        return found
    return case, clients[0] if len(clients) == 1 else None


def _of_import(results: Results) -> dict[tuple[str, str], Figures]:
    return {
        place: _columns(
            {name: fmean(values) for name, values in known.items() if values},
            MACHINE_CPU_SHARE.name,
            MACHINE_SWITCHES.name,
        )
        for place, known in block_figures(results).items()
    }


def _of_slots(results: Results, sums: Sums, findings: Sequence[Finding] | None) -> dict[tuple[str, str], Figures]:
    """Means over blocks, per query, row read, or row loaded."""
    found = {}
    plans = results.slot_plans
    for place, of_blocks in block_figures(results, findings).items():
        known = {name: fmean(values) for name, values in of_blocks.items() if values}
        line = sums.get(place, {})
        if line.get("client_switches") is not None and line["ops"]:
            known[CLIENT_SWITCHES] = line["client_switches"] / line["ops"]
        found[place] = _per_query(_of_machine(known, _cpus(results)), _queries_per_op(plans.get(place[0]), line))
    for label in (target.label for target in results.targets):
        if known := load_per_row(results, label):
            found[LOAD_TEST, label] = _of_machine(known, _cpus(results))
    return found


def _of_machine(known: Mapping[str, float], cpus: int | None) -> Figures:
    """With CPU as percent of the machine × seconds."""
    whole = dict(known)
    if cpus and CPU in known and CLIENT_CPU in known:
        whole["cpu"] = (known[CPU] + known[CLIENT_CPU]) * 1e-6 * 100 / cpus
    if SWITCHES in known and CLIENT_SWITCHES in known:
        whole["switches"] = known[SWITCHES] + known[CLIENT_SWITCHES]
    return _columns(whole, "cpu", "switches")


def _columns(known: Mapping[str, float], cpu: str, switches: str) -> Figures:
    """The columns of the efficiency report, of those metrics that are known; o/s is the throughput too."""
    origins = (
        ("cpu/o", cpu, 1.0),
        ("cs/o", switches, 1.0),
        ("r/o", DISK_READS, 1.0),
        ("rKB/o", DISK_READ_BYTES, 1 / KIB),
        ("wKB/o", DISK_WRITE_BYTES, 1 / KIB),
        ("o/s", THROUGHPUT, 1.0),
    )
    return {column: known[metric] * factor for column, metric, factor in origins if metric in known}


def _queries_per_op(plan: Slots | None, line: Mapping[str, Any]) -> float:
    if plan and is_load(plan.test):
        return 1.0
    if plan and plan.rows_scanned_per_op:
        return plan.rows_scanned_per_op
    return line["statements"] / line["ops"] if line.get("statements") and line["ops"] else 1.0


def _per_query(figures: Figures, per_op: float) -> Figures:
    return {name: value * per_op if name == "o/s" else value / per_op for name, value in figures.items()}


def _cpus(results: Results) -> int | None:
    """Logical CPUs of the host; None: not known."""
    cpu = results.host.get("cpu")
    count = cpu.get("logical") if isinstance(cpu, Mapping) else None
    return count if isinstance(count, int) and count > 0 else None


def _imported_steps(results: Results) -> dict[str, LayoutTest]:
    """Tests that are steps, with all their columns as printed."""
    return {
        test: LayoutTest(in_a_cell(test), None, {label: _means(runs) for label, runs in targets.items()})
        for test, targets in printed_steps(results).items()
    }


def _means(runs: Mapping[str, Sequence[float]]) -> Figures:
    return {name: fmean(values) for name, values in runs.items()}


def _steps(results: Results, steps: StepsPart | None, sums: Sums) -> tuple[LayoutTest, ...]:
    found = []
    for step in (step for step in (steps.steps if steps else ()) if not is_load(step.name)):
        name, clients = case_and_clients(results, step.name)
        lines = {line["target"]: line for line in steps.lines if line["test"] == step.name} if steps else {}
        figures = {
            label: _step_columns(line, sums.get((step.name, label), {}), _cpus(results))
            for label, line in lines.items()
        }
        if figures:
            found.append(LayoutTest(name, clients, figures))
    return tuple(found)


def _step_columns(line: Mapping[str, Any], sums: Mapping[str, Any], cpus: int | None) -> Figures:
    """Ours have powers of 1000 and the server alone (parts/steps/columns.py); these, powers of 1024 and the machine."""
    inserted, queried = line["ips"] or 0.0, line["qps"] or 0.0
    base = queried or inserted or line["ops"]
    seconds, cpu_us, switches = sums.get("seconds"), sums.get("cpu_us"), sums.get("switches")
    known = {name: line[name] for name in INSERT_COLUMNS if line.get(name) is not None}
    for name in ("cpups", "cpupq", "csps", "cspq"):
        known.pop(name, None)
    if seconds and cpu_us is not None:
        known |= {"cpupq": cpu_us / seconds / base} if base else {}
        known |= {"cpups": cpu_us / seconds * 1e-4 / cpus} if cpus else {}
    if seconds and switches is not None:
        known |= {"csps": switches / seconds} | ({"cspq": switches / seconds / base} if base else {})
    for name, factor in _SMALLER.items():
        if name in known:
            known[name] *= factor
    return known | {"ips": inserted, "qps": queried}


_SMALLER = {
    "rmbps": 1e6 / KIB**2,
    "wmbps": 1e6 / KIB**2,
    "rkbpq": 1e3 / KIB,
    "wkbpi": 1e3 / KIB,
}
