"""Numbers and verdicts in words, the same in every report."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dbversus.names import split_names
from dbversus.report.model import Estimate, TestPart
from dbversus.results.records import Experiment
from dbversus.results.schema import IMPORTED_SUITE
from dbversus.stats.comparison import Comparison
from dbversus.stats.headline import worse_a_little
from dbversus.stats.judgeable import MEAN, P50, P95, P99, RESPONSE_TIMES, USUAL
from dbversus.stats.judged import JUDGEABLE_METRICS, judged_names
from dbversus.stats.judging.looks import OVERALL
from dbversus.stats.means import Spreading
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT, metric_named
from dbversus.stats.model import BY_THE_CLOCK, CHANGES, DIFFERS, SPOILT, UNSETTLED, WITHIN, Finding, Metric, Verdict
from dbversus.units import count_of, show_change, show_least, show_memory

# colour is never alone: every verdict has its word and its sign; no sign of arithmetic, since ratios and counts follow some
SIGNS = {
    Verdict.EQUIVALENT: "○",
    Verdict.REGRESSION: "▼",
    Verdict.IMPROVEMENT: "▲",
    Verdict.SMALL_CHANGE: "◐",
    Verdict.NO_STEADY_STATE: "↗",
    Verdict.UNDECIDED: "?",
    Verdict.UNSTABLE: "↕",
    Verdict.NOT_REPLICATED: "◇",
    Verdict.SLA_FAILED: "⚑",
    Verdict.WRONG_RESULT: "✗",
    Verdict.FAILED: "!",
}
# a figure of its own cannot fail or be wrong
FIGURE_SIGNS = frozenset(SIGNS.values()) - {SIGNS[verdict] for verdict in SPOILT}
MEANINGS = {
    Verdict.REGRESSION: "worse than the base, beyond doubt, and not known to lie within the margin",
    Verdict.IMPROVEMENT: "better than the base, beyond doubt, and not known to lie within the margin",
    Verdict.SMALL_CHANGE: "worse or better than the base, beyond doubt, and the whole interval lies within the margin",
    Verdict.EQUIVALENT: "the interval lies within the margin, the estimate well within: the same for all practical purposes",
    Verdict.NO_STEADY_STATE: "moved against the base by more than the margin while measured; the ratio is of all the work",
    Verdict.UNDECIDED: "neither shown to differ nor shown to be the same",
    Verdict.UNSTABLE: "varies so much that even at the last look its interval would be wider than the margin",
    Verdict.NOT_REPLICATED: "figures of runs without blocks: the ratio is theirs, and nothing tells how much of it is chance",
    Verdict.SLA_FAILED: "a role did not reach its rate, on the target or the base, so the figures of the others do not count",
    Verdict.WRONG_RESULT: "the target's answers differ from the base's, so its speed does not count",
    Verdict.FAILED: "the target could not run the test",
}
GLOSSARY = {
    "slot": "one uninterrupted measured interval of one test on one target",
    "row": "adjacent slots of all targets, in balanced order",
    "block": "servers freshly started on restored data; holds many rows; the unit of replication",
    "look": "a point at which all tests are judged",
    "margin": "a change smaller than this is boring",
    "aged data": "rows changed throughout since the load, so that indexes are no longer as full as after it",
    "debt": "background work that a server has still to do: dirty pages, dead rows, WAL not checkpointed",
    "drain": "what a server does after a test that changes data until it is idle; charged to that test, in figures of its own",
}
"""Words of reports that not everybody knows; docs/glossary.md has more."""
# most urgent first
SEVERITY = (
    Verdict.WRONG_RESULT,
    Verdict.FAILED,
    Verdict.SLA_FAILED,
    Verdict.REGRESSION,
    Verdict.IMPROVEMENT,
    Verdict.NO_STEADY_STATE,
    Verdict.SMALL_CHANGE,
    Verdict.UNSTABLE,
    Verdict.UNDECIDED,
    Verdict.NOT_REPLICATED,
    Verdict.EQUIVALENT,
)
# their figures are in no sentence about changes
_NOT_COUNTED = (*SPOILT, Verdict.NO_STEADY_STATE)
SHORT_TITLES = {
    CPU: "CPU/op",
    THROUGHPUT: "throughput",
    IO_BYTES: "IO/op",
    MEAN: "mean time",
    P50: "p50",
    P95: "p95",
    P99: "p99",
}
_NOUNS = frozenset({Verdict.REGRESSION, Verdict.IMPROVEMENT, Verdict.SMALL_CHANGE, Verdict.WRONG_RESULT})
NAMES_IN_SENTENCE = 6
SIGNIFICANT_DIGITS = 4
FEWEST_DIFFERING, MUCH = 3, 0.25
"""Comparisons, and their share, from which over 5 % of runs show a difference that is none (docs/evidence/small-changes.md)."""
NBSP = "\u00a0"
MOST_TOLD = 1e6
"""Of a ratio."""
INTERVALS = f"95{NBSP}% intervals over blocks, valid at any look; 90{NBSP}% of what is equivalent"

_WORDS: Mapping[tuple[str, Verdict], tuple[str, ...]] = {
    (CPU, Verdict.REGRESSION): ("uses more CPU per operation", "use more CPU per operation"),
    (CPU, Verdict.IMPROVEMENT): ("uses less CPU per operation", "use less CPU per operation"),
    (THROUGHPUT, Verdict.REGRESSION): ("has lower throughput", "have lower throughput"),
    (THROUGHPUT, Verdict.IMPROVEMENT): ("has higher throughput", "have higher throughput"),
    (IO_BYTES, Verdict.REGRESSION): ("reads or writes more per operation", "read or write more per operation"),
    (IO_BYTES, Verdict.IMPROVEMENT): ("reads or writes less per operation", "read or write less per operation"),
    **{
        (name, verdict): tuple(f"{has} a {length} {metric_named(name).title}" for has in ("has", "have"))
        for name in RESPONSE_TIMES
        for verdict, length in ((Verdict.REGRESSION, "longer"), (Verdict.IMPROVEMENT, "shorter"))
    },
}


def number(value: float | None, digits: int = SIGNIFICANT_DIGITS) -> str:
    """Four significant digits, thousands apart: `0.01234`, `12.34`, `1,234`, `12,340`."""
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{min(max(decimals, 0), 6)}f}"


def rounded(value: object) -> object:
    """Six digits, for pipes: no benchmark knows more."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def ratio(value: float | None) -> str:
    """A ratio with three decimals, `1.081`, or as many digits as tell something: `0.00143`, `13.37`, `4,490`."""
    if value is None or math.isnan(value):
        return "–"
    if 0.1 <= value < 1000:
        return f"{value:.3f}" if value < 10 else f"{value:,.2f}"
    if 0 < value < 1 / MOST_TOLD:
        return f"<{1 / MOST_TOLD:f}"
    if value > MOST_TOLD:
        return "inf" if math.isinf(value) else f">{MOST_TOLD:,.0f}"
    return number(value, digits=4 if value > 1 else 3)


def spread(one: Spreading, show: Callable[[float | None], str] = ratio) -> str:
    """What stands behind a figure: `[1.070, 1.092]`, its interval; `(range 1.02–1.13)`, that of its blocks; or nothing."""
    if one.low is not None and one.high is not None:
        return f"[{show(one.low)}, {show(one.high)}]"
    least, most = show(one.least), show(one.most)
    return "" if least == most else f"(range {least}–{most})"


def change(value: float | None) -> str:
    """A ratio as a change: `+8.1 %`, `−12 %`, `×3.2`, `to 1/700`."""
    return "–" if value is None else typographic(show_change(value))


def change_of(finding: Finding) -> str:
    """`+8.1 %, at least +5.2 %`"""
    least = f", {typographic(show_least(finding.least_change))}" if finding.least_change else ""
    return f"{change(finding.ratio)}{least}"


def small_change(finding: Finding) -> str:
    """`◐ a little worse`"""
    return f"{SIGNS[Verdict.SMALL_CHANGE]} a little {'worse' if finding.is_worse else 'better'}"


def typographic(text: str) -> str:
    """Hyphens before numbers as minus signs."""
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text).replace(" %", f"{NBSP}%")


def percent(share: float | None, digits: int = 1) -> str:
    return "unknown" if share is None else f"{share * 100:.{digits}f}{NBSP}%"


def estimate_text(estimate: Estimate) -> str:
    """`12.3 [12.1, 12.5]`, or `12.3 (range 12.1–12.5)`, without its unit."""
    return f"{number(estimate.value)} {spread(estimate, number)}".strip()


def ratio_text(value: float | None, one: Spreading, with_spread: bool = True) -> str:
    """`1.081 [1.070, 1.092]`"""
    return f"{ratio(value)} {spread(one)}".strip() if with_spread else ratio(value)


def finding_text(finding: Finding | None) -> str:
    """`1.081 [1.070, 1.092]`, `1.081 (range 1.02–1.13)`, or a dash."""
    if finding is None or finding.ratio is None:
        return "–"
    return ratio_text(finding.ratio, finding)


def short_labels(labels: Sequence[str]) -> list[str]:
    """What tells targets apart: without the DBMS, and without the configs, that all of them have."""
    if len(labels) < 2:
        return list(labels)
    short = without_shared_configs(labels)
    if len({label.partition(":")[0] for label in labels}) == 1 and all(label.partition(":")[2] for label in labels):
        short = [label.partition(":")[2] for label in short]
    return short


MOST_NAMED = 6
"""Targets; of more, a title has the number alone, and a post has lists and a table in place of sentences on each."""


def title_of(header: Experiment, base: str, others: Sequence[str]) -> str:
    """`before, after against released`, after the experiment's label if it has one; many targets are counted."""
    label = header.spec.get("label")
    targets = f"{named(others)} against {base}" if others else base
    return f"{label}: {targets}" if label else targets


def named(targets: Sequence[str]) -> str:
    """`before and after`; of many, how many there are."""
    return listing(targets, most=MOST_NAMED) if len(targets) <= MOST_NAMED else count_of(len(targets), "target")


def without_shared_configs(labels: Sequence[str]) -> list[str]:
    """`postgres:13`, `postgres:17@fpw_off` of `postgres:13@x5` and `postgres:17@x5,fpw_off`; as they are where that would not
    tell them apart.
    """
    halves = [label.partition("@") for label in labels]
    shared = set.intersection(*(set(split_names(configs)) for _, _, configs in halves)) if len(labels) > 1 else set()
    short = []
    for build, _, configs in halves:
        own = ",".join(name for name in split_names(configs) if name not in shared)
        short.append(f"{build}@{own}" if own else build)
    return short if shared and all(short) and len(set(short)) == len(set(labels)) else list(labels)


def counted(count: int, verdict: Verdict) -> str:
    """`1 regression`, `2 regressions`, `3 undecided`."""
    return count_of(count, verdict) if verdict in _NOUNS else f"{count:,} {verdict}"


def listing(names: Sequence[str], most: int = NAMES_IN_SENTENCE) -> str:
    """`a, b and c`, or `a, b and 7 more`."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def summary_sentences(comparisons: Sequence[Comparison], target: str, base: str) -> tuple[str, ...]:
    """What became of one candidate, most important first; empty without comparisons.

    The first sentence names both targets; the others follow on from it.
    """
    if not comparisons:
        return ()
    total, than = len(comparisons), f" on {target} than on {base}"
    changes = [
        *_change_sentences(comparisons, Verdict.REGRESSION),
        *_change_sentences(comparisons, Verdict.IMPROVEMENT),
    ]
    if any(_changes_of(comparisons, metric.name, Verdict.REGRESSION) for metric in JUDGEABLE_METRICS):
        first, *changes = changes
        count, words = first.split(" ", 1)
        which = "The one test" if total == 1 else f"{count} of {total} tests"
        said = f"{which} {words}".replace(":", f"{than}:", 1)
    elif any(item.verdict in (*WITHIN, Verdict.IMPROVEMENT) for item in comparisons):
        steady = sum(item.verdict != Verdict.NO_STEADY_STATE for item in comparisons)
        which = "" if steady == total else " with a steady state"
        by_much = " by more than the margin" if any(worse_a_little(item.findings) for item in comparisons) else ""
        said = (
            f"The one test{which} is not shown to be worse{than}{by_much}."
            if steady == 1
            else f"None of {steady} tests{which} is shown to be worse{than}{by_much}."
        )
    elif any(item.verdict == Verdict.NO_STEADY_STATE for item in comparisons):
        said = f"No test has a steady state on {target} against {base}: all work is judged."
    else:
        said = f"Nothing is known yet of {target} against {base}: none of {total} tests could be judged."
    return (
        said,
        *changes,
        *_trades(comparisons),
        *_small(comparisons),
        *_unpaid(comparisons),
        *_drifting(comparisons),
        *_contradicted(comparisons),
        *_rest(comparisons),
        *_lacking(comparisons),
    )


def _change_sentences(comparisons: Sequence[Comparison], verdict: Verdict) -> list[str]:
    """A sentence per metric."""
    found = [_changes_of(comparisons, metric.name, verdict) for metric in JUDGEABLE_METRICS]
    return [_change_sentence(changes, verdict) for changes in found if changes]


def _changes_of(comparisons: Sequence[Comparison], metric: str, verdict: Verdict) -> list[Finding]:
    """The largest first."""
    found = [
        item.findings[metric]
        for item in comparisons
        if metric in item.findings and _is_change(item.findings[metric], verdict) and item.verdict not in SPOILT
    ]
    return sorted(found, key=_size, reverse=True)


def _size(finding: Finding) -> float:
    return abs(math.log(finding.ratio or 1))


def _change_sentence(changes: Sequence[Finding], verdict: Verdict) -> str:
    """`2 use more CPU per operation: a (+16 %, at least +9.0 %) and b (+8.1 %, at least +5.2 %).`"""
    names = [f"{finding.test} ({change_of(finding)}{_over_all_work(finding)})" for finding in changes]
    return f"{len(changes)} {_WORDS[changes[0].metric, verdict][len(changes) > 1]}: {listing(names)}."


def _over_all_work(finding: Finding) -> str:
    steady = "" if finding.verdict is not Verdict.NO_STEADY_STATE else ", without a steady state"
    return f" over all its work{steady}" if finding.whole_work else ""


def _is_change(finding: Finding, verdict: Verdict) -> bool:
    return finding.judged and finding.counted == verdict


def trade(comparison: Comparison) -> str:
    """`better CPU/op for worse IO/op`, of a test that is better in one respect and worse in another; else empty."""
    if comparison.verdict in SPOILT:
        return ""
    judged = [one for one in comparison.findings.values() if one.judged]
    better, worse = (
        [SHORT_TITLES[one.metric] for one in judged if one.counted is verdict]
        for verdict in (Verdict.IMPROVEMENT, Verdict.REGRESSION)
    )
    return f"better {listing(better)} for worse {listing(worse)}" if better and worse else ""


def _trades(comparisons: Sequence[Comparison]) -> list[str]:
    """`1 is a trade: a (better CPU/op for worse IO/op).`; none without any."""
    named = [f"{item.test} ({traded})" for item in comparisons if (traded := trade(item))]
    return [f"{len(named)} {'is a trade' if len(named) == 1 else 'are trades'}: {listing(named)}."] if named else []


def _counts(comparison: Comparison) -> bool:
    return comparison.verdict not in _NOT_COUNTED


def _small(comparisons: Sequence[Comparison]) -> list[str]:
    """`2 changed a little, within the margins: a (CPU/op +1.8 %) and b (throughput −2.1 %).`; none without any."""
    found = [item for item in comparisons if item.verdict == Verdict.SMALL_CHANGE]
    named = [f"{item.test} ({_small_changes(item)})" for item in found]
    return [f"{len(found)} changed a little, within the margins: {listing(named)}."] if found else []


def _small_changes(comparison: Comparison) -> str:
    small = [one for one in comparison.findings.values() if one.judged and one.verdict == Verdict.SMALL_CHANGE]
    return ", ".join(f"{SHORT_TITLES[one.metric]} {change(one.ratio)}" for one in small)


def _unpaid(comparisons: Sequence[Comparison]) -> list[str]:
    """`IO of 1 is undecided, since …: insert (+9.3 %).`; none without any. Notes of tests say how much."""
    every = [one for item in comparisons if _counts(item) for one in item.findings.values()]
    found = [one for one in every if one.judged and one.is_unpaid]
    sentences = []
    for noted, why in (
        (UNSETTLED, "IO of {} is undecided, since a longer run may differ"),
        (BY_THE_CLOCK, "IO of {} is undecided, since servers do it by the clock, for far more operations or far fewer"),
    ):
        named = [f"{one.test} ({change(one.ratio)})" for one in found if noted in one.note]
        if named:
            sentences.append(f"{why.format(len(named))}: {listing(named)}.")
    return sentences


def _drifting(comparisons: Sequence[Comparison]) -> list[str]:
    """`1 had no steady state, so all its work is judged: insert (CPU/op +2 %: undecided).`, of what did not change over it."""
    found = [
        item
        for item in comparisons
        if item.verdict == Verdict.NO_STEADY_STATE
        and not any(one.judged and one.counted in CHANGES for one in item.findings.values())
    ]
    if not found:
        return []
    named = [f"{item.test} ({_whole_work(item)})" for item in found]
    whose = "its" if len(found) == 1 else "their"
    return [f"{len(found)} had no steady state, so all {whose} work is judged: {listing(named)}."]


def _whole_work(comparison: Comparison) -> str:
    """`CPU/op +12 %: regression`, of the metrics without a steady state."""
    moved = [finding for finding in comparison.findings.values() if finding.verdict == Verdict.NO_STEADY_STATE]
    return ", ".join(f"{SHORT_TITLES[each.metric]} {change(each.ratio)}: {each.whole_work}" for each in moved)


def _contradicted(comparisons: Sequence[Comparison]) -> list[str]:
    """`1 is undecided, since all its work says otherwise than most of its rows: scan (throughput: regression).`"""
    named = []
    for item in comparisons:
        against = [one for one in item.findings.values() if one.verdict == Verdict.UNDECIDED and one.whole_work]
        if against and _counts(item):
            named.append(
                f"{item.test} ({', '.join(f'{SHORT_TITLES[one.metric]}: {one.whole_work}' for one in against)})"
            )
    if not named:
        return []
    said = "is undecided, since all its work says otherwise than most of its rows"
    if len(named) > 1:
        said = "are undecided, since all their work says otherwise than most of their rows"
    return [f"{len(named)} {said}: {listing(named)}."]


def _rest(comparisons: Sequence[Comparison]) -> list[str]:
    by_verdict: dict[Verdict, list[str]] = {}
    for item in comparisons:
        by_verdict.setdefault(item.verdict, []).append(item.test)
    early = _before_first_look(comparisons)
    sentences = []
    for verdict, words in (
        (Verdict.WRONG_RESULT, "gave other answers than the base and {is_are} not judged"),
        (Verdict.FAILED, "could not be run"),
        (Verdict.SLA_FAILED, "did not reach a rate that was asked for and {is_are} not judged"),
        (Verdict.UNSTABLE, "{is_are} too unstable to judge"),
        (Verdict.UNDECIDED, f"{{is_are}} undecided{early and f' ({early})'}"),
        (Verdict.NOT_REPLICATED, "{is_are} not replicated, so not judged"),
        (Verdict.EQUIVALENT, "{is_are} equivalent within the margins"),
    ):
        if tests := by_verdict.get(verdict):
            text = words.format(is_are="is" if len(tests) == 1 else "are")
            names = "" if verdict == Verdict.EQUIVALENT else f": {listing(tests)}"
            sentences.append(f"{len(tests)} {text}{names}.")
    return sentences


def _before_first_look(comparisons: Sequence[Comparison]) -> str:
    """`2 of 4 blocks`, where that is so of all that is undecided; else empty."""
    undecided = [item for item in comparisons if item.verdict == Verdict.UNDECIDED]
    said = [{one.before_first_look for one in item.findings.values() if one.judged} for item in undecided]
    shared = set[str].union(*said) if said and all(said) else set()
    return shared.pop() if len(shared) == 1 else ""


def _lacking(comparisons: Sequence[Comparison]) -> list[str]:
    """`p99 is not judged in 2, which have too few operations per block: scan and insert.`, for each such percentile."""
    tests: dict[str, list[str]] = {}
    for item in comparisons:
        for finding in item.findings.values():
            if finding.lacks_operations:
                tests.setdefault(finding.metric, []).append(item.test)
    return [
        f"{SHORT_TITLES[metric]} is not judged in {len(names)}, which {'has' if len(names) == 1 else 'have'} too few operations "
        f"per block: {listing(names)}."
        for metric, names in tests.items()
    ]


def verdict_legend(verdicts: Iterable[Verdict]) -> str:
    """`Signs are verdicts: ▼ regression: worse …; ○ equivalent: ….` of those that are shown; empty without any."""
    shown = set(verdicts)
    said = [f"{SIGNS[verdict]} {verdict}: {MEANINGS[verdict]}" for verdict in SEVERITY if verdict in shown]
    return f"Signs are verdicts: {'; '.join(said)}." if said else ""


def ratios_text(base: str, findings: Sequence[Finding]) -> str:
    """What ratios are, and within which margins nothing has changed; a sentence."""
    judged = [finding for finding in findings if finding.judged]
    if all(finding.verdict == Verdict.NOT_REPLICATED for finding in judged):
        return f"Ratios are target/{base}, of runs without blocks: there are no intervals."
    said = f"Ratios are target/{base} [{INTERVALS}{_ranges(judged)}]; margins: {margins_text(judged)}."
    return " ".join(filter(None, [said, _much_differs(judged)]))


def _much_differs(judged: Iterable[Finding]) -> str:
    """That false discoveries are held to a share of all, where there are many; else empty."""
    findings = list(judged)
    differing = {(one.test, one.target) for one in findings if one.counted in DIFFERS}
    every = {(one.test, one.target) for one in findings}
    if len(differing) < FEWEST_DIFFERING or len(differing) < MUCH * len(every):
        return ""
    return (
        f"{len(differing)} of {len(every)} comparisons are shown to differ: where so much does, up to "
        f"{100 * OVERALL:g}{NBSP}% of all that is shown may be chance."
    )


def _ranges(findings: Iterable[Finding]) -> str:
    """What a range stands for, where there is one."""
    ranged = any(finding.least is not None for finding in findings)
    return "; a range is that of too few blocks, or of blocks in which too little happened" if ranged else ""


def margins_text(findings: Iterable[Finding]) -> str:
    """`3–4.6 % server CPU per op, 5 % throughput, 5 % IO bytes per op`; calibrations give some tests wider ones."""
    margins: dict[str, set[float]] = {}
    for finding in findings:
        if finding.judged:
            margins.setdefault(finding.metric, set()).add(round(finding.margin * 100, 1))
    parts = []
    for metric in JUDGEABLE_METRICS:
        if of_metric := margins.get(metric.name):
            span = "–".join(f"{margin:g}" for margin in sorted({min(of_metric), max(of_metric)}))
            parts.append(f"{span} % {metric.title}")
    return ", ".join(parts)


def worse_ratios(judged: Sequence[Metric]) -> str:
    """`CPU and IO ratios over 1 and throughput ratios under 1 are`"""
    kinds = {CPU: "CPU", IO_BYTES: "IO", **dict.fromkeys(RESPONSE_TIMES, "response time")}
    over = list(dict.fromkeys(kinds[metric.name] for metric in judged if not metric.higher_is_better))
    said = [f"{listing(over)} ratios over 1"] if over else []
    said += ["throughput ratios under 1"] if any(metric.higher_is_better for metric in judged) else []
    text = " and ".join(said)
    return f"{text[:1].upper()}{text[1:]} are"


def verdict_counts(comparisons: Iterable[Comparison]) -> Mapping[Verdict, int]:
    return Counter(item.verdict for item in comparisons)


def in_order(counts: Mapping[Verdict, int]) -> list[tuple[Verdict, int]]:
    """Verdict counts, most urgent first, without zeros."""
    return [(verdict, counts[verdict]) for verdict in SEVERITY if counts.get(verdict)]


_MOST_TABLES = 6


def experiment_facts(header: Experiment, tests: int, blocks: int) -> list[str]:
    """The experiment as a list of short facts: sizes, clients, mode, date (UTC). An import has no blocks."""
    said = [count_of(tests, "test"), count_of(blocks, "block") if header.suite != IMPORTED_SUITE else IMPORTED_SUITE]
    if counts := header.clients:
        said.append(f"{listing([str(count) for count in counts])} client{'' if counts == [1] else 's'}")
    if header.order == "sequential":
        said.append("one target after the other")
    if (tables := header.tables or 1) > 1 and not header.data:
        said.append(count_of(tables, "table"))
    if header.data:
        said += [listing(header.data, most=_MOST_TABLES)]
    elif rows := header.table_sizes or [size for size in (header.table_size,) if size]:
        said.append(f"table size {listing([f'{size:,}' for size in rows])}")
    if header.memory:
        said.append(f"{show_memory(header.memory)} of memory for each server")
    if header.cache != "warm":
        said.append(f"{header.cache} caches")
    if mode := header.mode:
        said.append(f"{mode} statements")
    if (names := judged_names(header)) != list(USUAL):
        said.append(f"judged by {listing(names, most=len(names))}")
    if at_unix_ns := header.at_unix_ns:
        said.append(f"{datetime.fromtimestamp(at_unix_ns / 1e9, UTC):%-d %B %Y, %H:%M} UTC")
    return said


def flat_facts(content: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as (dotted name, text)."""
    lines: list[tuple[str, str]] = []
    for name, value in content.items():
        if isinstance(value, Mapping):
            lines += flat_facts(value, f"{prefix}{name}.")
        elif isinstance(value, list):
            lines.append((f"{prefix}{name}", ", ".join(map(str, value)) or "none"))
        else:
            lines.append((f"{prefix}{name}", "unknown" if value is None else str(value)))
    return lines


def sla_mark(test: TestPart, label: str) -> str:
    """Behind a figure of a target on which the test missed its SLA; else empty."""
    return f" {SIGNS[Verdict.SLA_FAILED]} {Verdict.SLA_FAILED}" if label in test.sla_failed else ""


def not_compared(dbms: Sequence[str]) -> str:
    """That settings and plans are looked at within each DBMS; empty where all targets are of one."""
    if len(set(dbms)) < 2:
        return ""
    return "Settings and plans of different DBMSs are not compared: each has its own, and its own words for them."


def no_other_plans(dbms: Sequence[str], other_indexes: Sequence[str]) -> str:
    """Where no plan that is known differs. `other_indexes`: tests in which targets read by different indexes all the same."""
    if not comparable(dbms):
        return not_compared(dbms)
    if other_indexes:
        return (
            f"Plans as servers told them do not differ in shape, but other indexes were read in {listing(other_indexes)}: what "
            "ran there was planned otherwise."
        )
    return "No plan differs in shape."


def comparable(dbms: Sequence[str]) -> bool:
    """Whether any two targets are of the same DBMS."""
    return len(set(dbms)) < len(dbms)
