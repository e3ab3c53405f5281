"""Figures of all runs as Markdown: alarms, verdicts, what was found of known slowdowns, what intervals hold."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from common import Interval, markdown, spread
from scipy import stats

from dbversus.stats.calibration.evaluate import share
from dbversus.stats.model import Finding, Verdict
from independent_runs.outcome import Outcome, TestOutcome
from independent_runs.shares import clustered_share, percent

ABOUT = """\
Every run is an experiment of its own: its seed, its data, its starts of the servers. An alarm is a run in which any primary
metric of any equal test is called regression or improvement in the end. In brackets: 95 % intervals; of runs with an alarm
Clopper and Pearson's, of tests with the run as the cluster (Korn and Graubard's): what befalls a run befalls all its tests.
"""
ABOUT_INJECTED = """\
*Asked*: the share that was to be added to the CPU of the threads that serve clients. *Truly added*: what the library burned, as
a share of all CPU that the copy used without it, background too; median (smallest to largest). *Found*: CPU per operation is
called a regression. *Holds the truth*: the interval shown for CPU per operation holds what was truly added.
"""

ABOUT_BIAS = """\
Bias common to all tests: CPU per operation as measured ÷ true, mean over tests of their means over blocks. In brackets: 95 %
intervals by the jackknife over blocks, since what affects a start of the servers affects all tests.
"""

ABOUT_JUDGED_ANEW = """\
Judged from block values alone. What takes slots is not applied: changes of IO that a run's own report leaves undecided, since
bytes were put off or are none of the operations', stand here, and so do tests in most of whose rows a target did nothing.
"""

Groups = dict[tuple[str, str], list[Outcome]]
Place = tuple[str, str]
"""Run and test."""


def report(outcomes: Sequence[Outcome]) -> str:
    groups: Groups = {}
    for outcome in outcomes:
        groups.setdefault(outcome.group, []).append(outcome)
    parts = [
        ABOUT,
        runs_table(groups),
        "",
        "Equal tests, by what is said of them in the end:",
        "",
        verdicts_table(groups),
    ]
    if alarms := list(alarm_lines(outcomes)):
        parts += ["", "False alarms:", "", *alarms]
    if any(outcome.errors for outcome in outcomes):
        parts += ["", ABOUT_BIAS, bias_table(groups)]
    injected = {group: runs for group, runs in groups.items() if any(test.asked for run in runs for test in run.tests)}
    if injected:
        parts += ["", ABOUT_INJECTED, injected_table(injected)]
        if missed := list(missed_lines(outcomes)):
            parts += ["", "Slowdowns that were not found:", "", *missed]
    return "\n".join(parts)


def runs_table(groups: Groups) -> str:
    rows = []
    for (kind, dbms), runs in groups.items():
        alarmed = [run for run in runs if run.alarmed]
        found = share(len(alarmed), len(runs))
        minutes = [run.minutes for run in runs if run.minutes is not None]
        names = Counter(test.test for run in alarmed for test in run.alarmed)
        rows.append(
            [
                kind,
                dbms,
                str(len(runs)),
                spread(minutes, 1) if minutes else "–",
                str(len(alarmed)),
                percent(Interval(found.share, found.low, found.high)),
                _counts(names),
            ]
        )
    heads = ["kind", "DBMS", "runs", "minutes per run", "runs with an alarm", "share", "in tests"]
    return markdown(heads, rows)


def verdicts_table(groups: Groups) -> str:
    """Share of equal tests per verdict, and of those whose CPU per operation has one."""
    every = [test.verdict for runs in groups.values() for run in runs for test in run.equal]
    others = [verdict for verdict in Verdict if verdict in every and verdict is not Verdict.EQUIVALENT]
    rows = []
    for (kind, dbms), runs in groups.items():
        tests = [test for run in runs for test in run.equal]
        counts = Counter(test.verdict for test in tests)
        rows.append(
            [
                kind,
                dbms,
                str(len(tests)),
                percent(_of_equal(runs, lambda test: test.verdict is Verdict.EQUIVALENT)),
                *(f"{100 * counts[verdict] / len(tests):.1f} %" if tests else "–" for verdict in others),
                percent(_of_equal(runs, lambda test: test.given)),
            ]
        )
    heads = ["kind", "DBMS", "tests", Verdict.EQUIVALENT, *others, "CPU per op has a verdict"]
    return markdown(heads, rows)


def _of_equal(runs: Sequence[Outcome], holds: Callable[[TestOutcome], bool]) -> Interval:
    return clustered_share([[holds(test) for test in run.equal] for run in runs])


def alarm_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        for test in outcome.alarmed:
            yield f"- {outcome.run.name}, {test.test}: {'; '.join(map(_told, test.alarms))}"


def injected_table(groups: Groups) -> str:
    rows = [
        [kind, dbms, *_injected_cells(runs, asked)] for (kind, dbms), runs in groups.items() for asked in _asked(runs)
    ]
    heads = ["kind", "DBMS", "asked", "truly added", "tests", "found", "CPU per op: holds the truth", "shown − true"]
    return markdown(heads, rows)


def _asked(runs: Sequence[Outcome]) -> list[float]:
    """Shares that tests were asked to be slowed down by, the largest first."""
    return sorted({test.asked for run in runs for test in run.tests}, reverse=True)


def _injected_cells(runs: Sequence[Outcome], asked: float) -> list[str]:
    """Of the tests that were asked to be slowed down by one share, suite by suite."""
    suites = [[test for test in run.tests if test.asked == asked] for run in runs]
    truths = [100 * math.expm1(test.truth) for suite in suites for test in suite if test.truth is not None]
    errors = [error for suite in suites for test in suite if (error := _error(test)) is not None]
    return [
        f"+ {100 * asked:g} %" if asked else "nothing",
        (_range(truths) if asked else "0") if truths else "–",
        str(sum(map(len, suites))),
        percent(clustered_share([[test.found for test in suite] for suite in suites])) if asked else "–",
        percent(clustered_share([[held for test in suite if (held := _held(test)) is not None] for suite in suites])),
        _range(errors) if errors else "–",
    ]


def bias_table(groups: Groups) -> str:
    rows = []
    for (kind, dbms), runs in groups.items():
        if any(run.errors for run in runs):
            found = bias(runs)
            shown = f"{100 * found.estimate:+.2f} % [{100 * found.low:+.2f}, {100 * found.high:+.2f}]"
            rows.append([kind, dbms, str(len(_errors_by_block(runs))), shown])
    return markdown(["kind", "DBMS", "blocks", "bias"], rows)


def bias(runs: Sequence[Outcome]) -> Interval:
    """Mean over tests (of each run) of their mean errors, with a jackknife over blocks; NaN bounds with fewer than two."""
    blocks = _errors_by_block(runs)
    sums, counts = (Counter[Place](), Counter[Place]())
    for errors in blocks:
        sums.update(errors)
        counts.update(errors.keys())
    without = [
        statistics.fmean(
            (sums[place] - errors.get(place, 0.0)) / left
            for place, count in counts.items()
            if (left := count - (place in errors))
        )
        for errors in blocks
    ]
    estimate = statistics.fmean(sums[place] / count for place, count in counts.items())
    if len(blocks) < 2:
        return Interval(estimate, math.nan, math.nan)
    error = (len(blocks) - 1) * statistics.pstdev(without) / math.sqrt(len(blocks) - 1)
    reach = float(stats.t.isf(0.025, len(blocks) - 1)) * error
    return Interval(estimate, estimate - reach, estimate + reach)


def _errors_by_block(runs: Sequence[Outcome]) -> list[dict[Place, float]]:
    """Of each block of each run, the errors by run and test."""
    found: dict[tuple[str, int], dict[Place, float]] = {}
    for run in runs:
        for test, errors in run.errors.items():
            for block, error in errors.items():
                found.setdefault((run.run.name, block), {})[run.run.name, test] = error
    return list(found.values())


def _range(percents: Sequence[float]) -> str:
    """Median, and the smallest and largest."""
    return f"{statistics.median(percents):+.2f} % ({min(percents):+.2f} to {max(percents):+.2f})"


def _held(test: TestOutcome) -> bool | None:
    """Whether the interval of CPU per operation holds the truth; None where there is no interval, or no truth."""
    if test.truth is None or test.cpu is None or test.cpu.low is None or test.cpu.high is None:
        return None
    return test.cpu.low <= math.exp(test.truth) <= test.cpu.high


def _error(test: TestOutcome) -> float | None:
    """Ratio shown ÷ true ratio, in percent above 1."""
    if test.truth is None or test.cpu is None or test.cpu.ratio is None:
        return None
    return 100 * (test.cpu.ratio / math.exp(test.truth) - 1)


def missed_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        for test in outcome.tests:
            if test.asked and not test.found:
                truth = "unknown" if test.truth is None else f"{100 * math.expm1(test.truth):+.1f} %"
                shown = "not measured" if test.cpu is None else _told(test.cpu)
                yield f"- {outcome.run.name}, {test.test}: + {100 * test.asked:g} % asked, {truth} added; {shown}"


def _told(finding: Finding) -> str:
    """`server_cpu_us_per_op 1.003 [0.966, 1.041] undecided`"""
    bounds = "" if finding.low is None or finding.high is None else f" [{finding.low:.3f}, {finding.high:.3f}]"
    ratio = "" if finding.ratio is None else f" {finding.ratio:.3f}"
    return f"{finding.metric}{ratio}{bounds} {finding.verdict}"


def _counts(names: Counter[str]) -> str:
    """`scan (2), insert`"""
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in names.most_common()) or "–"
