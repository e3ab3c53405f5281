"""Verdicts on tests that are judged against each other on the same target: those of targets, of two forms in their stead."""

from dataclasses import dataclass, replace

from dbversus.results.forms import Pair, of_pairs, pairs_of
from dbversus.results.stored import Results
from dbversus.stats.comparison import Comparison, compare
from dbversus.stats.headline import headline
from dbversus.stats.judge import decided_tests, judge
from dbversus.stats.model import SPOILT
from dbversus.stats.values.finished import of_finished_blocks


@dataclass(frozen=True)
class FormsCompared:
    """`comparison`: its test is `FORM ÷ AGAINST`, its target the one on which both were measured."""

    pair: Pair
    comparison: Comparison

    @property
    def words(self) -> str:
        """What the figures say together: `more CPU per op, less throughput`."""
        if self.comparison.verdict in SPOILT or not self.comparison.findings:
            return ""
        return headline(list(self.comparison.findings.values()))[1]


def compare_forms(results: Results) -> tuple[FormsCompared, ...]:
    """Of all tests that have one which they are against, on all targets, the base too. They are a family of their own."""
    results = of_finished_blocks(results)
    pairs = _measured(results)
    if not pairs:
        return ()
    found = {item.test: item for item in compare(of_pairs(results, pairs))}
    return tuple(_named(pair, found[pair.name]) for pair in pairs if pair.name in found)


def open_forms(results: Results) -> set[str]:
    """Names of tests that need more blocks, for themselves or for what is judged against them."""
    results = of_finished_blocks(results)
    pairs = _measured(results)
    if not pairs:
        return set()
    settled = decided_tests(judge(of_pairs(results, pairs)))
    return {test for pair in pairs if pair.name not in settled for test in (pair.form, pair.against)}


def _measured(results: Results) -> list[Pair]:
    """Those of which both were measured."""
    slots = results.slots
    there = set(zip(slots["test"], slots["target"], strict=True))
    return [
        pair
        for pair in pairs_of(results)
        if {(pair.form, pair.target.label), (pair.against, pair.target.label)} <= there
    ]


def _named(pair: Pair, comparison: Comparison) -> FormsCompared:
    named = replace(comparison, test=f"{pair.form} ÷ {pair.against}", target=pair.target.label)
    return FormsCompared(pair, named)
