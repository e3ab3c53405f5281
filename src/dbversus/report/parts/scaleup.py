"""What more clients bring: throughput and CPU per operation against the smallest number of clients, and verdicts over all."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from dbversus.report.model import Comparison, ScaleLine, ScaleUp
from dbversus.results.read import Results
from dbversus.stats.clients import case_of, growth, pooled_name
from dbversus.stats.headline import headline
from dbversus.stats.judge import judge_over_clients
from dbversus.stats.judged import judged_metrics
from dbversus.stats.means import Ratio
from dbversus.stats.metrics import THROUGHPUT, metric_named
from dbversus.stats.model import Finding, Verdict
from dbversus.stats.values.blocks import block_values

# a case with one of these says nothing of the test over all numbers of clients either
_SPOILT = (Verdict.SLA_FAILED, Verdict.WRONG_RESULT, Verdict.FAILED, Verdict.DISTURBED)

Logs = Mapping[int, float]
"""Block → ln of a figure."""

Place = tuple[str, int, str]
"""Test, number of clients, target label."""


def of_experiment(results: Results, comparisons: Sequence[Comparison] = ()) -> ScaleUp | None:
    """From stored results; None with one number of clients, or without slots. `comparisons`: of the cases, with verdicts."""
    cases = [case for test in results.tests if (case := case_of(test))]
    clients = tuple(sorted({count for _, count in cases}))
    if len(clients) < 2 or not len(results.slots["test"]):
        return None
    tests = list(dict.fromkeys(test for test, _ in cases))
    lines, pooled = _lines(results, tests, clients), _pooled(results, tests, comparisons)
    return ScaleUp(clients, tuple(lines), tuple(pooled), judged_metrics(results.header))


def _lines(results: Results, tests: Sequence[str], clients: Sequence[int]) -> list[ScaleLine]:
    rates, cpu = _block_logs(results)
    differences = _differences(results)
    lines = []
    for test in tests:
        for target in results.targets:
            growths = (_growths(logs, test, target.label, clients) for logs in (rates, cpu, differences))
            throughput, cost, against_base = growths
            if throughput:
                lines.append(ScaleLine(test, target.label, throughput, cost, against_base))
    return lines


def _growths(logs: Mapping[Place, Logs], test: str, target: str, clients: Sequence[int]) -> dict[int, Ratio]:
    first = logs.get((test, clients[0], target), {})
    found = {count: growth(logs.get((test, count, target), {}), first) for count in clients[1:]}
    return {count: ratio for count, ratio in found.items() if ratio is not None}


def _block_logs(results: Results) -> tuple[dict[Place, dict[int, float]], dict[Place, dict[int, float]]]:
    """ln of throughput and of server CPU per operation in each block, from sums over its rows."""
    query = """
        SELECT test, target, block, ln(sum(ops) / sum(elapsed_ns)), ln(sum(server_cpu_ns) / sum(ops))
        FROM slots GROUP BY ALL
        HAVING sum(ops) > 0 AND sum(elapsed_ns) > 0 AND coalesce(sum(server_cpu_ns), 1) > 0 ORDER BY block"""
    rates: dict[Place, dict[int, float]] = defaultdict(dict)
    cpu: dict[Place, dict[int, float]] = defaultdict(dict)
    for test, target, block, rate, cost in results.sql(query)[1]:
        if case := case_of(test):
            rates[*case, target][block] = rate
            if cost is not None and math.isfinite(cost):
                cpu[*case, target][block] = cost
    return dict(rates), dict(cpu)


def _differences(results: Results) -> dict[Place, dict[int, float]]:
    """ln(target/base) of throughput in each block."""
    found: dict[Place, dict[int, float]] = defaultdict(dict)
    if results.base.label in results.slots["target"]:
        for value in block_values(results.slots, results.base.label, [metric_named(THROUGHPUT)]):
            case = case_of(value.test)
            if case and value.value is not None:
                found[*case, value.target][value.block] = value.value
    return dict(found)


def _pooled(results: Results, tests: Sequence[str], comparisons: Sequence[Comparison]) -> list[Comparison]:
    """A comparison per test and candidate, in their order; the worst of the cases where one of them cannot be judged."""
    findings: dict[tuple[str, str], dict[str, Finding]] = defaultdict(dict)
    for finding in judge_over_clients(results):
        findings[finding.test, finding.target][finding.metric] = finding
    spoilt = {
        (case[0], item.target): item.verdict
        for item in comparisons
        if item.verdict in _SPOILT and (case := case_of(item.test))
    }
    made = []
    for test in tests:
        for target in results.targets[1:]:
            name, own = pooled_name(test), findings.get((pooled_name(test), target.label), {})
            if (test, target.label) in spoilt:
                made.append(Comparison(name, target.label, spoilt[test, target.label], {}))
            elif own:
                verdict, sentence = headline(list(own.values()))
                made.append(Comparison(name, target.label, verdict, own, (sentence,)))
    return made
