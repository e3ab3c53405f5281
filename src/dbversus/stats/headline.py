"""One sentence for one test × target, from the findings of its metrics."""

from collections.abc import Mapping, Sequence

from dbversus.stats.judgeable import RESPONSE_TIMES
from dbversus.stats.judged import JUDGEABLE_METRICS
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import (
    CHANGES,
    DECIDED,
    DIFFERS,
    IDLE,
    MOVED,
    SIZE_OPEN,
    TOO_LITTLE,
    UNSETTLED,
    WITHIN,
    Finding,
    Verdict,
)
from dbversus.units import show_change, show_least

_TITLES = {metric.name: metric.title for metric in JUDGEABLE_METRICS}

# (server CPU per op, throughput) → what the two say together
_TOGETHER: Mapping[tuple[Verdict, Verdict], str] = {
    (Verdict.REGRESSION, Verdict.REGRESSION): "more CPU per op, less throughput",
    (Verdict.REGRESSION, Verdict.EQUIVALENT): "more CPU per op, same throughput",
    (Verdict.REGRESSION, Verdict.IMPROVEMENT): "more CPU per op, yet more throughput: less waiting (IO, locks)",
    (Verdict.EQUIVALENT, Verdict.REGRESSION): "less throughput at equal CPU per op: waiting (IO, locks)",
    (Verdict.EQUIVALENT, Verdict.EQUIVALENT): "same CPU per op, same throughput",
    (Verdict.EQUIVALENT, Verdict.IMPROVEMENT): "more throughput at equal CPU per op: less waiting (IO, locks)",
    (Verdict.IMPROVEMENT, Verdict.REGRESSION): "less CPU per op, yet less throughput: waiting (IO, locks)",
    (Verdict.IMPROVEMENT, Verdict.EQUIVALENT): "less CPU per op, same throughput",
    (Verdict.IMPROVEMENT, Verdict.IMPROVEMENT): "less CPU per op, more throughput",
}

# (metric, whether it is worse)
_ALONE: Mapping[tuple[str, bool], str] = {
    (CPU, True): "more CPU per op",
    (CPU, False): "less CPU per op",
    (THROUGHPUT, True): "less throughput",
    (THROUGHPUT, False): "more throughput",
}
_SAME = {CPU: "same CPU per op", THROUGHPUT: "same throughput"}


def headline(findings: Sequence[Finding]) -> tuple[Verdict, str]:
    """Verdict and sentence for one test × target; exploratory findings are left aside.

    Regression when any judged metric is one; else improvement when any is; else no steady state when any has none; else
    equivalent when all are that were measured, or small change when all others are, whatever is still open of IO where there are
    others; else unstable or undecided, the first that applies. Percentiles that too few operations were measured for
    are named.
    """
    lacking = [f"{_TITLES[f.metric]} not judged: {f.note}" for f in findings if f.lacks_operations]
    judged = {finding.metric: finding for finding in findings if finding.judged and finding.metric in _TITLES}
    if not judged:
        return Verdict.UNDECIDED, "; ".join(lacking) or "not measured"
    verdict, sentence = _of_judged(judged)
    return verdict, "; ".join([sentence, *lacking])


def _of_judged(judged: Mapping[str, Finding]) -> tuple[Verdict, str]:
    verdicts = {finding.verdict for finding in judged.values()}
    if Verdict.NOT_REPLICATED in verdicts:
        return Verdict.NOT_REPLICATED, "; ".join(
            f"{_TITLES[name]} {_change(f)} ({f.note})" for name, f in judged.items()
        )
    for change in CHANGES:
        if change in verdicts:
            return change, _changed(judged)
    if Verdict.NO_STEADY_STATE in verdicts:
        return Verdict.NO_STEADY_STATE, _drifting(judged)
    core = [finding for name, finding in judged.items() if name != IO_BYTES] or judged.values()
    if all(finding.verdict in WITHIN for finding in core):
        if Verdict.SMALL_CHANGE in verdicts:
            return Verdict.SMALL_CHANGE, "; ".join([_changed(judged), *_still_open(judged)])
        return Verdict.EQUIVALENT, _equivalent(judged)
    open_verdict = Verdict.UNSTABLE if Verdict.UNSTABLE in verdicts else Verdict.UNDECIDED
    return open_verdict, _open(judged)


def worse_over_all_work(findings: Mapping[str, Finding]) -> bool:
    """Whether a test without a steady state, given its findings by metric, is worse all the same."""
    judged = [finding for finding in findings.values() if finding.judged]
    return any(finding.verdict is Verdict.NO_STEADY_STATE for finding in judged) and any(
        Verdict.REGRESSION in (finding.verdict, finding.whole_work) for finding in judged
    )


def worse_a_little(findings: Mapping[str, Finding]) -> bool:
    """Whether any judged metric of a test, given its findings by metric, is a small change for the worse."""
    return any(one.judged and one.counted is Verdict.SMALL_CHANGE and one.is_worse for one in findings.values())


def _drifting(judged: Mapping[str, Finding]) -> str:
    """What moved, and what all the work comes to."""
    return "; ".join(f"{_TITLES[name]}: {f.note}" for name, f in judged.items() if MOVED in f.note)


def _changed(judged: Mapping[str, Finding]) -> str:
    """Which metrics changed and by how much, what they say together, and how rows stand that show nothing of it."""
    figures = [f"{_TITLES[name]} {_figure(f)}" for name, f in judged.items() if f.verdict in DIFFERS]
    meaning = _cpu_and_throughput(judged)
    reserved = [f"{_TITLES[name]} {f.note}" for name, f in judged.items() if _has_reservations(f)]
    open_times = [f"{_TITLES[name]} {_state(f)}" for name, f in judged.items() if _is_open_time(f)]
    return "; ".join(filter(None, [", ".join(figures), meaning, *reserved, *open_times]))


def _figure(finding: Finding) -> str:
    """`+5.1 % (at least +2.0 %)`; of a small change `+1.8 % (within 3 %)`."""
    if finding.verdict is Verdict.SMALL_CHANGE:
        return f"{_change(finding)} (within {100 * finding.margin:g} %)"
    least = f" ({show_least(finding.least_change)})" if finding.least_change else ""
    return f"{_change(finding)}{least}{' over all its work' if _is_of_all_work(finding) else ''}"


def _has_reservations(finding: Finding) -> bool:
    could_differ = finding.verdict in CHANGES and UNSETTLED in finding.note
    return MOVED in finding.note or could_differ or _is_of_all_work(finding)


def _is_of_all_work(finding: Finding) -> bool:
    return finding.verdict in CHANGES and finding.whole_work is not None


def _is_open_time(finding: Finding) -> bool:
    return finding.metric in RESPONSE_TIMES and finding.verdict not in DECIDED


def _cpu_and_throughput(judged: Mapping[str, Finding]) -> str:
    cpu, throughput = judged.get(CPU), judged.get(THROUGHPUT)
    if cpu is None or throughput is None:
        return ""
    if (cpu.verdict, throughput.verdict) in _TOGETHER:
        return _TOGETHER[cpu.verdict, throughput.verdict]
    return f"{_alone(cpu)}, {_alone(throughput)}"


def _alone(finding: Finding) -> str:
    if finding.verdict in DIFFERS:
        slightly = "slightly " if finding.verdict is Verdict.SMALL_CHANGE else ""
        return slightly + _ALONE[finding.metric, finding.is_worse]
    return (
        _SAME[finding.metric]
        if finding.verdict is Verdict.EQUIVALENT
        else f"{_TITLES[finding.metric]} {_state(finding)}"
    )


def _equivalent(judged: Mapping[str, Finding]) -> str:
    margins = [
        f"{100 * f.margin:g} % in {_TITLES[name]}" for name, f in judged.items() if f.verdict is Verdict.EQUIVALENT
    ]
    return "; ".join([f"no change beyond {', '.join(margins)}", *_still_open(judged)])


def _still_open(judged: Mapping[str, Finding]) -> list[str]:
    return [f"{_TITLES[name]} {_state(f)}" for name, f in judged.items() if f.verdict not in WITHIN]


def _open(judged: Mapping[str, Finding]) -> str:
    return "; ".join(
        f"{_TITLES[name]} {_state(f)}" for name, f in judged.items() if f.verdict is not Verdict.EQUIVALENT
    )


def _state(finding: Finding) -> str:
    """A verdict that is no change, with what stood in the way of one."""
    if TOO_LITTLE in finding.note:
        return f"{finding.verdict} ({TOO_LITTLE})"
    if finding.verdict is Verdict.UNSTABLE and finding.block_sd is not None:
        return f"unstable (spread between blocks {100 * finding.block_sd:.1f} %)"
    if finding.verdict is Verdict.UNDECIDED and finding.before_first_look:
        return _early(finding)
    if finding.verdict is Verdict.SMALL_CHANGE:
        return f"{finding.verdict} ({_change(finding)})"
    if finding.verdict is not Verdict.UNDECIDED or finding.ratio is None:
        return str(finding.verdict)
    if finding.whole_work:
        return f"undecided ({finding.note})"
    if finding.note == SIZE_OPEN or finding.is_unpaid or IDLE in finding.note:
        return f"undecided ({_change(finding)}, {finding.note})"
    visible = finding.smallest_visible_change
    limit = "" if visible is None else f", a change under {100 * visible:.1f} % could be missed"
    return f"undecided ({_change(finding)}{limit})"


def _early(finding: Finding) -> str:
    """`undecided (2 of 4 blocks, +5.1 %)`"""
    seen = "" if finding.ratio is None else f", {_change(finding)}{_within_start(finding)}"
    return f"undecided ({finding.before_first_look}{seen})"


def _within_start(finding: Finding) -> str:
    if finding.start_low is None or finding.start_high is None:
        return ""
    return f", within this one start {finding.start_low:.3f} to {finding.start_high:.3f}"


def _change(finding: Finding) -> str:
    """`+5.1 %`, `×3.2`, `to 1/700`"""
    return "unknown" if finding.ratio is None else show_change(finding.ratio)
