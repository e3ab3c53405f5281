"""What more clients bring: throughput and CPU per operation against the smallest number of clients, and verdicts over all."""

from collections import defaultdict
from collections.abc import Sequence

from dbversus.report.model import Comparison, ScaleLine, ScaleUp
from dbversus.report.parts.overview.block_logs import Places, logs_against_base, own_logs
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of, growth, pooled_name
from dbversus.stats.headline import headline
from dbversus.stats.judge import judge_over_clients
from dbversus.stats.judged import judged_metrics
from dbversus.stats.means import Ratio
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

# a case with one of these says nothing of the test over all numbers of clients either
_SPOILT = (Verdict.SLA_FAILED, Verdict.WRONG_RESULT, Verdict.FAILED)


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
    own, differences = own_logs(results), logs_against_base(results)
    lines = []
    for test in tests:
        for target in results.targets:
            growths = (
                _growths(logs, test, target.label, clients)
                for logs in (own[THROUGHPUT], own[CPU], differences[THROUGHPUT])
            )
            throughput, cost, against_base = growths
            if throughput:
                lines.append(ScaleLine(test, target.label, throughput, cost, against_base))
    return lines


def _growths(logs: Places, test: str, target: str, clients: Sequence[int]) -> dict[int, Ratio]:
    first, *more = (logs.get((f"{test}@{count}", target), {}) for count in clients)
    found = {count: growth(own, first) for count, own in zip(clients[1:], more, strict=True)}
    return {count: ratio for count, ratio in found.items() if ratio is not None}


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
