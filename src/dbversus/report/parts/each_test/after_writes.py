"""Tests that a suite runs before its writes and once more after them: what the writes have left behind, on each target."""

import re
from collections.abc import Iterator, Sequence

from dbversus.report.model import AfterWrites, AfterWritesLine
from dbversus.report.parts.overview.block_logs import METRICS, Places, logs_against_base, own_logs
from dbversus.report.words import SHORT_TITLES, change, listing
from dbversus.results.stored import Results
from dbversus.stats.across.clients import growth
from dbversus.stats.comparison import Comparison
from dbversus.stats.means import Ratio
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import SPOILT
from dbversus.units import count_of

_BEFORE = re.compile(r"(?P<test>.+?)\.pre(?P<case>[.@].+)?")
"""`scan.pre`, `scan.pre@4`; of imports also `point-query.pre.range100@1`."""


def pairs_of(tests: Sequence[str]) -> list[tuple[str, str]]:
    """The names of a test before and after: `scan.pre@4` with `scan.post@4`, or with `scan@4` where phases have no `.post`."""
    found = []
    for name in tests:
        if match := _BEFORE.fullmatch(name):
            case = match["case"] or ""
            after = (f"{match['test']}.post{case}", f"{match['test']}{case}")
            found += [(name, other) for other in after if other in tests][:1]
    return found


def of_experiment(results: Results, comparisons: Sequence[Comparison] = ()) -> AfterWrites | None:
    """From stored results; None without such tests. `comparisons`: with verdicts; what does not count there is left out."""
    pairs = pairs_of(results.tests)
    if not pairs:
        return None
    own, differences = own_logs(results), logs_against_base(results)
    spoilt = {(item.test, item.target) for item in comparisons if item.verdict in SPOILT}
    lines = []
    for before, after in pairs:
        for label in (target.label for target in results.targets):
            ratios = _ratios(own, before, after, label)
            if ratios and not spoilt & {(before, label), (after, label)}:
                lines.append(AfterWritesLine(before, after, label, ratios, _ratios(differences, before, after, label)))
    return AfterWrites(tuple(lines)) if lines else None


def _ratios(logs: dict[str, Places], before: str, after: str, label: str) -> dict[str, Ratio]:
    found = {name: growth(logs[name].get((after, label), {}), logs[name].get((before, label), {})) for name in METRICS}
    return {name: ratio for name, ratio in found.items() if ratio is not None}


def sentences(part: AfterWrites, base: str) -> list[str]:
    """What the intervals show, for each target: its own tests after the writes against before, then against the base."""
    labels = list(dict.fromkeys(line.target for line in part.lines))
    said = [sentence for label in labels for sentence in _of_target(part, label, base)]
    if said or has_intervals(part):
        return said or ["No interval shows a test to differ after the writes from before them, on any target."]
    return [_without_intervals(part, label) for label in labels]


def _of_target(part: AfterWrites, label: str, base: str) -> Iterator[str]:
    own = [line for line in part.lines if line.target == label]
    for name in METRICS:
        where = f"after the writes than before them on {label}"
        yield from _shifted([(line.after, line.ratios.get(name)) for line in own], name, where)
    for name in METRICS:
        where = f"after ÷ before on {label} than on {base}"
        yield from _shifted([(line.after, line.against_base.get(name)) for line in own], name, where)


def _shifted(ratios: Sequence[tuple[str, Ratio | None]], metric: str, where: str) -> Iterator[str]:
    """`throughput is lower after …, with an interval under 1, in 2 of 8 tests: scan (−20 %) and …`"""
    known = [(test, ratio) for test, ratio in ratios if ratio is not None]
    for word, side, is_there in (("lower", "under", _is_under), ("higher", "over", _is_over)):
        found = sorted((pair for pair in known if is_there(pair[1])), key=lambda pair: -_distance(pair[1]))
        if found:
            named = listing([f"{test} ({change(ratio.value)})" for test, ratio in found])
            title = SHORT_TITLES[metric]
            yield (
                f"{title[:1].upper()}{title[1:]} is {word} {where}, with an interval {side} 1, "
                f"in {len(found)} of {len(known)} tests: {named}."
            )


def _is_under(ratio: Ratio) -> bool:
    return ratio.high is not None and ratio.high < 1


def _is_over(ratio: Ratio) -> bool:
    return ratio.low is not None and ratio.low > 1


def is_apart(ratio: Ratio) -> bool:
    """Whether the interval leaves 1 out."""
    return _is_under(ratio) or _is_over(ratio)


def _distance(ratio: Ratio) -> float:
    return max(ratio.value, 1 / ratio.value)


def has_intervals(part: AfterWrites) -> bool:
    return any(ratio.low is not None for line in part.lines for ratio in line.ratios.values())


def _without_intervals(part: AfterWrites, label: str) -> str:
    """`Throughput after the writes against before them on X: −11.2 % (scan) to +8.5 % (point), of 8 tests, without intervals.`"""
    known = [(ratio.value, line.after) for line in part.lines if line.target == label and (ratio := _speed(line))]
    if not known:
        return f"Nothing is known of throughput on {label} before and after the writes."
    span = " to ".join(dict.fromkeys(f"{change(value)} ({test})" for value, test in (min(known), max(known))))
    tests = count_of(len(known), "test")
    return f"Throughput after the writes against before them on {label}: {span}, of {tests}, without intervals."


def _speed(line: AfterWritesLine) -> Ratio | None:
    return line.ratios.get(THROUGHPUT)
