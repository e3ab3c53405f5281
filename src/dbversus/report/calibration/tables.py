"""A calibration in sentences and tables of text, the same on the terminal and in calibration.md."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbversus.calibration.model import Calibration
from dbversus.report.parts.notes.calibration import what
from dbversus.report.words import NBSP, SHORT_TITLES, change, listing
from dbversus.stats.calibration.model import Detection, Figures, OrderBias, Recovery, Share, Spread
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.units import show_duration

WORST_TESTS = 3
PROMISED = 0.05
_ADDED = {CPU: "an injected slowdown", IO_BYTES: "injected IO (bytes per operation)"}
_BY_ARITHMETIC = "changes were added to the values of equal targets by arithmetic"
_SEEN = 0.9


@dataclass(frozen=True)
class TextTable:
    """Every cell as text; the first column names the line."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def title(calibration: Calibration) -> str:
    return f"Calibration of this host: {what(calibration.brief())}"


def sentences(calibration: Calibration) -> list[str]:
    """What was found, the most important first."""
    figures = calibration.figures
    return [
        sentence
        for sentence in (
            _false_alarms(figures),
            _dependence(figures),
            _alarmed(figures),
            _as_measured(figures),
            _equal(figures),
            _coverage(figures),
            _recovered(figures),
            _bursts(figures),
            _place("target that comes later in its rows", figures.order_bias),
            _place("server that is started first in its block", figures.start_bias),
            _uniform(figures),
            f"The host was disturbed in {percent(figures.disturbed)} of the rows.",
            f"Measured in {show_duration(calibration.took_s)}: {calibration.command}",
        )
        if sentence
    ]


def _false_alarms(figures: Figures) -> str:
    alarms = figures.false_alarms
    more = " That is more than promised: do not trust a single change here." if alarms.low > PROMISED else ""
    looks = listing([str(look) for look in figures.looks])
    return (
        f"False alarms: {share_text(alarms)} of {figures.suites:,} virtual suites of {len(figures.tests)} equal tests, judged "
        f"after {looks} blocks with the margins below, called some test changed; {PROMISED * 100:g} % are promised.{more}"
    )


def _dependence(figures: Figures) -> str:
    suites = f"{figures.real_suites:.2g}"
    known = "one suite of its own has" if suites == "1" else f"{suites} suites of their own have"
    return (
        f"All of them are made of the same {figures.blocks} blocks, as many as {known}: "
        "intervals allow for that as far as simulated calibrations show it, and what these blocks did not meet (a rarer "
        "disturbance) is in no suite."
    )


def _alarmed(figures: Figures) -> str:
    if not figures.alarmed:
        return ""
    named = [f"{test} ({percent(share)})" for test, share in figures.alarmed.items()]
    return f"Tests that raised them: {listing(named)}."


def _as_measured(figures: Figures) -> str:
    if figures.changed_as_measured is None:
        return ""
    judged = "Judged as they were measured, in their order and by the usual margins, these blocks called"
    if not figures.changed_as_measured:
        return f"{judged} no test changed."
    return (
        f"{judged} {listing(figures.changed_as_measured)} changed. What lasts from block to block (a target that is always "
        "favoured) becomes noise in virtual suites, and not in experiments; by chance alone it would happen in "
        f"{PROMISED * 100:g} % of calibrations."
    )


def _equal(figures: Figures) -> str:
    return (
        f"Findings of equal tests: {percent(figures.equivalent)} equivalent, {percent(figures.undecided)} undecided, unstable or "
        f"disturbed; a test is decided after {figures.median_blocks:g} blocks (median), {percent(figures.never_settled)} never."
    )


def _coverage(figures: Figures) -> str:
    if figures.coverage is None:
        return ""
    said = f"Intervals shown hold the truth in {share_text(figures.coverage)} of {figures.coverage.count:,} cases"
    if len(figures.coverage_by_look) < 2:
        return f"{said}."
    stops = [f"{percent(one.share)} after {blocks}" for blocks, one in figures.coverage_by_look.items()]
    return f"{said}; by the number of blocks after which a test stopped: {listing(stops)}."


def _recovered(figures: Figures) -> str:
    found = figures.recovery
    if found is None and figures.injected:
        return "Injected slowdowns varied too little, or over too few blocks, to say how much of them is measured."
    if found is None:
        return f"No CPU was injected: {_BY_ARITHMETIC}."
    said = _share_measured(found)
    changed = "CPU" if figures.changed == CPU else SHORT_TITLES[figures.changed]
    return said if figures.injected else f"{said} What is found of {changed}: {_BY_ARITHMETIC}."


def _share_measured(found: Recovery) -> str:
    added, interval = _ADDED[found.metric], f"[{found.low:.2f}, {found.high:.2f}]"
    if found.low <= 0 and found.high >= 1:
        return (
            f"How much of {added} is measured cannot be said: the interval, {interval}, holds both none and all of it."
        )
    return (
        f"Of {added}, {found.slope:.2f} {interval} is measured (1 is right; {found.values:,} values of {found.blocks} blocks, "
        f"interval over blocks); {change_of(found.offset)} where nothing is."
    )


def _bursts(figures: Figures) -> str:
    found = figures.bursts
    if found is None:
        return ""
    return (
        f"Bursts ({burst_words(found.ms, found.every_ms)}) added {change_of(math.log1p(found.effect))} in the mean of "
        f"{found.blocks_with:,} tests and blocks; all their work showed {change_of(math.log1p(found.measured))}."
    )


def burst_words(ms: float, every_ms: float) -> str:
    """`50 ms of every 500 ms`"""
    return f"{ms:g}{NBSP}ms of every {every_ms:g}{NBSP}ms"


def _place(who: str, biases: Sequence[OrderBias]) -> str:
    said = [f"{change_of(bias.bias)}{_bounds(bias)} {SHORT_TITLES[bias.metric]}" for bias in biases if not bias.test]
    return f"A {who} has {listing(said)}, over all tests." if said else ""


def _bounds(bias: OrderBias) -> str:
    return "" if bias.low is None or bias.high is None else f" [{change_of(bias.low)}, {change_of(bias.high)}]"


def _uniform(figures: Figures) -> str:
    said = [f"{item.p_value:.2g} ({SHORT_TITLES[item.metric]}, {item.tests} tests)" for item in figures.uniformity]
    if not said:
        return ""
    return (
        f"P-values of equal tests against the uniform distribution (Kolmogorov-Smirnov): {listing(said)}; tests of a block share "
        "what befell it, so a low value alone is no alarm."
    )


def tables(calibration: Calibration) -> list[TextTable]:
    figures = calibration.figures
    return [_detection(figures), _spreads(figures)]


def _detection(figures: Figures) -> TextTable:
    columns = (f"change of {SHORT_TITLES[figures.changed]}", "found", "interval", "suites", "found least in")
    rows = [_detection_row(f"+{one.effect * 100:g}{NBSP}%", one) for one in figures.detection]
    if (bursts := figures.bursts) is not None:
        rows.append(_detection_row(f"in bursts, {burst_words(bursts.ms, bursts.every_ms)}", bursts))
    return TextTable("A change in one test is found", columns, tuple(rows))


def _detection_row(what_changed: str, detection: Detection) -> tuple[str, ...]:
    found = detection.found
    interval = f"[{percent(found.low)}, {percent(found.high)}]"
    return what_changed, percent(found.share), interval, f"{found.count:,}", _least(detection)


def _least(detection: Detection) -> str:
    """Tests in which the change is missed most, when it is found in most others."""
    if detection.found.share < _SEEN / 2:
        return "most tests"
    worst = sorted(detection.by_test.items(), key=lambda item: item[1])[:WORST_TESTS]
    return ", ".join(f"{test} {percent(share)}" for test, share in worst if share < _SEEN) or "–"


def _spreads(figures: Figures) -> TextTable:
    """Standard deviations of ln ratio in per cent; margins that are wider than the default bear a star."""
    shown = [(metric, column) for metric in figures.metrics for column in _columns(metric)]
    titles = [
        f"{SHORT_TITLES[metric]}: {column}" if column == _columns(metric)[0] else column for metric, column in shown
    ]
    spreads = {(spread.test, spread.metric): spread for spread in figures.spreads}
    order = {bias.test: bias.bias for bias in figures.order_bias if bias.metric == CPU}
    rows = tuple(
        (test, *(_cell(spreads[test, metric], column, order) for metric, column in shown)) for test in figures.tests
    )
    what = "Equal targets vary by (standard deviations; * a margin wider than usual)"
    return TextTable(what, ("test", *titles), rows)


def _columns(metric: str) -> tuple[str, ...]:
    """What is known of a metric's spread: where the value of a block is not made of rows, only that of blocks."""
    if metric == CPU:
        return ("rows", "blocks", "between starts", "within starts", "order", "margin")
    if metric == THROUGHPUT:
        return ("rows", "blocks", "between starts", "margin")
    return ("blocks", "margin")


def _cell(spread: Spread, column: str, order: Mapping[str, float]) -> str:
    if column == "order":
        return change_of(order[spread.test]) if spread.test in order else "–"
    if column == "margin":
        return _margin(spread) if spread.blocks else "–"
    sds = {"rows": spread.pair_sd, "blocks": spread.block_sd, "between starts": spread.between_sd}
    return percent((sds | {"within starts": spread.within_sd})[column])


def _margin(spread: Spread) -> str:
    return f"{percent(spread.margin)}{'*' if spread.margin > spread.default_margin else ''}"


def share_text(share: Share) -> str:
    """`2.1 % [1.3, 3.2 %]`"""
    return f"{percent(share.share)} [{percent(share.low)}, {percent(share.high)}]"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}{NBSP}%"


def change_of(log_ratio: float) -> str:
    """ln ratio as a change in per cent."""
    return change(math.exp(log_ratio))
