"""One sentence for one test × target, from the findings of its metrics."""

from collections.abc import Mapping, Sequence

from dbversus.stats.metrics import CPU, PRIMARY, THROUGHPUT
from dbversus.stats.model import CHANGES, Finding, Verdict

_TITLES = {metric.name: metric.title for metric in PRIMARY}

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

_ALONE: Mapping[tuple[str, Verdict], str] = {
    (CPU, Verdict.REGRESSION): "more CPU per op",
    (CPU, Verdict.IMPROVEMENT): "less CPU per op",
    (THROUGHPUT, Verdict.REGRESSION): "less throughput",
    (THROUGHPUT, Verdict.IMPROVEMENT): "more throughput",
}


def headline(findings: Sequence[Finding]) -> tuple[Verdict, str]:
    """Verdict and sentence for one test × target; exploratory findings are left aside.

    No steady state when any primary metric has none; else regression when any is one; else improvement when any is; else
    equivalent when CPU per op and throughput are (as far as they were measured); else disturbed, unstable or undecided, the
    first that applies.
    """
    primary = {finding.metric: finding for finding in findings if finding.metric in _TITLES}
    if not primary:
        return Verdict.UNDECIDED, "not measured"
    verdicts = {finding.verdict for finding in primary.values()}
    if Verdict.NO_STEADY_STATE in verdicts:
        return Verdict.NO_STEADY_STATE, _drifting(primary)
    for change in CHANGES:
        if change in verdicts:
            return change, _changed(primary)
    core = [primary[name] for name in (CPU, THROUGHPUT) if name in primary]
    if core and all(finding.verdict is Verdict.EQUIVALENT for finding in core):
        return Verdict.EQUIVALENT, _equivalent(primary)
    open_verdict = next((v for v in (Verdict.DISTURBED, Verdict.UNSTABLE) if v in verdicts), Verdict.UNDECIDED)
    return open_verdict, _open(open_verdict, primary)


def worse_over_all_work(findings: Mapping[str, Finding]) -> bool:
    """Whether a test without a steady state, given its findings by metric, is worse all the same."""
    primary = [finding for name, finding in findings.items() if name in _TITLES]
    return any(finding.verdict is Verdict.NO_STEADY_STATE for finding in primary) and any(
        Verdict.REGRESSION in (finding.verdict, finding.whole_work) for finding in primary
    )


def _drifting(primary: Mapping[str, Finding]) -> str:
    """What moved, what all the work comes to, and how the other metrics stand."""
    parts = [f"{_TITLES[name]}: {f.note}" for name, f in primary.items() if f.verdict is Verdict.NO_STEADY_STATE]
    parts += [f"{_TITLES[name]} {_change(f)} ({f.verdict})" for name, f in primary.items() if f.verdict in CHANGES]
    return "; ".join(parts)


def _changed(primary: Mapping[str, Finding]) -> str:
    """Which metrics changed and by how much, what they say together, and how rows stand that show nothing of it."""
    figures = [
        f"{_TITLES[name]} {_change(f)}{' over all its work' if _is_of_all_work(f) else ''}"
        for name, f in primary.items()
        if f.verdict in CHANGES
    ]
    meaning = _cpu_and_throughput(primary)
    said = f"{', '.join(figures)} ({meaning})" if meaning else ", ".join(figures)
    return "; ".join([said, *(f"{_TITLES[name]} {f.note}" for name, f in primary.items() if _is_of_all_work(f))])


def _is_of_all_work(finding: Finding) -> bool:
    return finding.verdict in CHANGES and finding.whole_work is not None


def _cpu_and_throughput(primary: Mapping[str, Finding]) -> str:
    cpu, throughput = primary.get(CPU), primary.get(THROUGHPUT)
    if cpu is None or throughput is None:
        return ""
    if (cpu.verdict, throughput.verdict) in _TOGETHER:
        return _TOGETHER[cpu.verdict, throughput.verdict]
    return ", ".join(_ALONE.get((f.metric, f.verdict)) or f"{_TITLES[f.metric]} {_state(f)}" for f in (cpu, throughput))


def _equivalent(primary: Mapping[str, Finding]) -> str:
    margins = [
        f"{100 * f.margin:g} % in {_TITLES[name]}" for name, f in primary.items() if f.verdict is Verdict.EQUIVALENT
    ]
    still_open = [f"{_TITLES[name]} {_state(f)}" for name, f in primary.items() if f.verdict is not Verdict.EQUIVALENT]
    return "; ".join([f"no change beyond {', '.join(margins)}", *still_open])


def _open(verdict: Verdict, primary: Mapping[str, Finding]) -> str:
    if verdict is Verdict.DISTURBED:
        return next(f.note or "too many rows dropped" for f in primary.values() if f.verdict is verdict)
    return "; ".join(
        f"{_TITLES[name]} {_state(f)}" for name, f in primary.items() if f.verdict is not Verdict.EQUIVALENT
    )


def _state(finding: Finding) -> str:
    """A verdict that is no change, with what stood in the way of one."""
    if finding.verdict is Verdict.UNSTABLE and finding.block_sd is not None:
        return f"unstable (spread between blocks {100 * finding.block_sd:.1f} %)"
    if finding.verdict is not Verdict.UNDECIDED or finding.ratio is None:
        return str(finding.verdict)
    if finding.whole_work:
        return f"undecided ({finding.note})"
    if finding.blocks < 2:
        return f"undecided ({_change(finding)} in one block{_within_start(finding)})"
    visible = finding.smallest_visible_change
    limit = "" if visible is None else f", a change under {100 * visible:.1f} % could be missed"
    return f"undecided ({_change(finding)}{limit})"


def _within_start(finding: Finding) -> str:
    if finding.start_low is None or finding.start_high is None:
        return ""
    return f", within this one start {finding.start_low:.3f} to {finding.start_high:.3f}"


def _change(finding: Finding) -> str:
    """ "+5.1 %", or "×3.2" for what more than doubled."""
    if finding.ratio is None:
        return "unknown"
    return f"×{finding.ratio:.1f}" if finding.ratio >= 2 else f"{100 * (finding.ratio - 1):+.1f} %"
