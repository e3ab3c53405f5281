"""What more clients bring: throughput and CPU per operation against the smallest number of clients, and verdicts over all."""

from collections.abc import Sequence

from dbversus.report.model import NotedComparison, ScaleLine, ScaleUp
from dbversus.report.parts.overview.block_logs import Places, logs_against_base, own_logs
from dbversus.results.stored import Results
from dbversus.stats.across.clients import case_of
from dbversus.stats.across.contrast import contrast
from dbversus.stats.comparison import Comparison, compare_over_clients
from dbversus.stats.headline import headline
from dbversus.stats.judged import judged_metrics
from dbversus.stats.means import Ratio
from dbversus.stats.metrics import CPU, THROUGHPUT


def of_experiment(results: Results, comparisons: Sequence[Comparison] = ()) -> ScaleUp | None:
    """From stored results; None with one number of clients, or without slots. `comparisons`: of the cases, with verdicts."""
    cases = [case for test in results.tests if (case := case_of(test))]
    clients = tuple(sorted({count for _, count in cases}))
    if len(clients) < 2 or not len(results.slots["test"]):
        return None
    tests = list(dict.fromkeys(test for test, _ in cases))
    lines, pooled = _lines(results, tests, clients), map(_noted, compare_over_clients(results, comparisons))
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
    found = contrast({count: [logs.get((f"{test}@{count}", target), {})] for count in clients}, paired=True)
    return {count: mean.ratio() for count, mean in found.over.items()}


def _noted(item: Comparison) -> NotedComparison:
    return NotedComparison(**vars(item), notes=(headline(list(item.findings.values()))[1],) if item.findings else ())
