"""Sentences of a post: a group of tests on one target, and one target in short. None has more than five figures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from dbversus.report.formats.post.aspects import Aspect
from dbversus.report.formats.post.phases import Case, Group
from dbversus.report.formats.post.spans import Named, of_counts, span, two_decimals
from dbversus.report.words import listing
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import DECIDED, Verdict
from dbversus.units import count_of

MOST_FIGURES = 5
"""In one sentence."""
MOST_NAMES = 5
_OF_ROWS = {"throughput": "rows loaded per second", "CPU per operation": "CPU per row"}
_SPOILT = {
    Verdict.WRONG_RESULT: "gave other answers than the base",
    Verdict.FAILED: "could not be run",
    Verdict.SLA_FAILED: "did not reach a rate that was asked for",
}
_REMARKS = {
    Verdict.SMALL_CHANGE: "A small change, within the margin",
    Verdict.EQUIVALENT: "The same within the margin",
    Verdict.UNDECIDED: "Undecided",
    Verdict.UNSTABLE: "Too unstable to judge",
    Verdict.NO_STEADY_STATE: "Without a steady state, so the ratio is of all the work",
}
_CHANGED = {Verdict.REGRESSION: "worse", Verdict.IMPROVEMENT: "better"}
_STOOD = {
    Verdict.SMALL_CHANGE: "changed a little",
    Verdict.EQUIVALENT: "the same within the margin",
    Verdict.UNDECIDED: "undecided",
    Verdict.UNSTABLE: "too unstable to judge",
    Verdict.NO_STEADY_STATE: "without a steady state",
    Verdict.WRONG_RESULT: "gave other answers",
    Verdict.FAILED: "failed",
    Verdict.SLA_FAILED: "missed a rate",
}


def tests_of(group: Group) -> str:
    """By name where they are few; empty where the title names them."""
    names = list(dict.fromkeys(case.test for case in group.cases))
    if all(case.is_load for case in group.cases) or f"({names[0]})" in group.title or names[0] == group.title:
        return ""
    return listing(names) if len(names) <= MOST_NAMES else f"{len(names):,} tests"


def group_sentences(group: Group, target: str, base: str, aspects: Sequence[Aspect]) -> list[str]:
    """Throughput and CPU; then what else is shown to differ; then what is not decided, or was not measured."""
    counted = [case for case in group.cases if not _spoilt(case, target)]
    clauses = [
        clause
        for aspect in aspects
        if (clause := _clause(counted, target, base if aspect.metric == THROUGHPUT else "", aspect))
    ]
    said = [*_joined(clauses), *_remarks(group.cases, target, [one for one in aspects if one.always])]
    return [*said, "Loaded once, so without a verdict."] if _is_loaded_once(group.cases, target) and clauses else said


def _is_loaded_once(cases: Sequence[Case], target: str) -> bool:
    """Of an import, that is said of all figures."""
    if not cases[0].loaded_once or target not in cases[0].comparisons:
        return False
    return any(one.verdict is not Verdict.NOT_REPLICATED for one in cases[0].comparisons[target].findings.values())


def _clause(cases: Sequence[Case], target: str, base: str, aspect: Aspect) -> list[tuple[str, int]]:
    """Its text and the number of its figures, and what lies apart likewise; empty where there is nothing to tell."""
    found = [(case, finding) for case in cases if (finding := case.finding(target, aspect.metric))]
    shown = found if aspect.always else [(case, finding) for case, finding in found if finding.is_shown]
    if not shown:
        return []
    values: list[Named] = [(case.test, finding.ratio or 0.0) for case, finding in shown]
    said = span(values, two_decimals if aspect.always else of_counts)
    words = [_what(cases, aspect), said.middle, f"of {base}" if base else "", said.where]
    words.append(_where([name for name, _ in values], [case.test for case in cases]))
    return [(" ".join(word for word in words if word), said.figures), *said.apart]


def _what(cases: Sequence[Case], aspect: Aspect) -> str:
    return _OF_ROWS.get(aspect.said, aspect.said) if cases[0].is_load else aspect.said


def _where(names: Sequence[str], every: Sequence[str]) -> str:
    """Which of the tests; empty where it is all of them."""
    others = [name for name in every if name not in names]
    if not others:
        return ""
    if len(others) < len(names):
        return f"in all but {listing(others, most=len(others))}"
    return f"in {listing(names, most=len(names))}"


def _joined(clauses: Iterable[Sequence[tuple[str, int]]]) -> Iterator[str]:
    """Sentences of as many clauses as keep within the figures of one."""
    text, figures = "", 0
    for (first, count), *apart in clauses:
        if text and figures + count + sum(more for _, more in apart) <= MOST_FIGURES:
            text, figures = f"{text}; {first}", figures + count
        else:
            if text:
                yield _sentence(text)
            text, figures = first, count
        for number, (more, many) in enumerate(apart):
            if figures + many <= MOST_FIGURES:
                text, figures = f"{text}{' and' if number else ', but'} {more}", figures + many
            else:
                yield _sentence(text)
                text, figures = more, many
    if text:
        yield _sentence(text)


def _sentence(text: str) -> str:
    return f"{_capital(text)}."


def _spoilt(case: Case, target: str) -> bool:
    comparison = case.comparisons.get(target)
    return comparison is not None and comparison.verdict in _SPOILT


def _remarks(cases: Sequence[Case], target: str, aspects: Sequence[Aspect]) -> Iterator[str]:
    for verdict, words in _SPOILT.items():
        if names := [case.test for case in cases if _verdict(case, target) is verdict]:
            yield f"{listing(names, most=len(names))} {words}: not counted."
    counted = [case for case in cases if not _spoilt(case, target)]
    if missing := [case.test for case in counted if not any(case.finding(target, one.metric) for one in aspects)]:
        yield f"Not measured: {listing(missing, most=len(missing))}."
    for verdict, words in _REMARKS.items():
        of_cases = {case.test: _aspects_with(case, target, verdict, aspects) for case in counted}
        if told := [_which(test, own, len(known), len(counted)) for test, (own, known) in of_cases.items() if own]:
            everything = len(told) == len(counted) and all(len(own) == len(known) for own, known in of_cases.values())
            yield f"{words}{'' if everything else f': {listing(told, most=len(told))}'}."


def _verdict(case: Case, target: str) -> Verdict | None:
    comparison = case.comparisons.get(target)
    return comparison.verdict if comparison else None


def _aspects_with(case: Case, target: str, verdict: Verdict, aspects: Sequence[Aspect]) -> tuple[list[str], list[str]]:
    """What of the test has this verdict, and what it has at all."""
    known = {one.said: finding for one in aspects if (finding := case.finding(target, one.metric))}
    if case.loaded_once:
        return [], list(known)
    return [said for said, finding in known.items() if finding.verdict is verdict], list(known)


def _which(test: str, aspects: Sequence[str], known: int, tests: int) -> str:
    """`scan`, or `scan (throughput)` where that is not all of it; `throughput` where there is no other test."""
    said = listing([said.removesuffix(" per operation") for said in aspects])
    if tests == 1:
        return said
    return test if len(aspects) == known else f"{test} ({said})"


def in_short(cases: Sequence[Case], target: str, base: str, aspects: Sequence[Aspect]) -> list[str]:
    """How many tests became what; throughput and CPU in the median, with the tests at both ends."""
    tested = [case for case in cases if not case.is_load]
    said = counts(tested, target)
    for aspect in (one for one in aspects if one.always):
        found = [
            (case.test, finding.ratio or 0.0)
            for case in tested
            if not _spoilt(case, target) and (finding := case.finding(target, aspect.metric))
        ]
        if found:
            said.append(_extremes(found, base, aspect))
    return said


def counts(cases: Sequence[Case], target: str) -> list[str]:
    """`Of 8 tests, 5 are worse and 1 is better.` and how the others stand; of runs without blocks, only what is missing."""
    measured = [case for case in cases if _is_measured(case, target)]
    found = Counter(_verdict(case, target) for case in measured)
    missing, every = len(cases) - len(measured), count_of(len(cases), "test")
    others = [f"{missing:,} {'was' if missing == 1 else 'were'} not measured"] if missing else []
    if not set(found) - {Verdict.NOT_REPLICATED}:
        return [f"Of {every}, {others[0]}."] if others else []
    others = [
        f"{count:,} {_be(words, count)}" for verdict, words in _STOOD.items() if (count := found[verdict])
    ] + others
    changes = [f"{count:,} {_be(words, count)}" for verdict, words in _CHANGED.items() if (count := found[verdict])]
    if not any(found[verdict] for verdict in DECIDED):
        return [f"Nothing could be judged{_too_early(measured, target)}: of {every}, {listing(others)}."]
    first = f"Of {every}, {listing(changes) if changes else 'none is shown to be worse or better'}."
    return [first, f"{_capital(listing(others))}."] if others else [first]


def _too_early(cases: Sequence[Case], target: str) -> str:
    """` after 2 of 4 blocks`, where that is why."""
    findings = [one for case in cases for one in case.comparisons[target].findings.values() if one.judged]
    said = {one.before_first_look for one in findings}
    return f" after {said.pop()}" if len(said) == 1 and all(said) else ""


def _is_measured(case: Case, target: str) -> bool:
    """A test that failed was tried."""
    return _spoilt(case, target) or bool(case.comparisons[target].findings if target in case.comparisons else ())


def _be(words: str, count: int) -> str:
    return (
        words
        if words.split()[0] in ("changed", "gave", "failed", "missed")
        else f"{'is' if count == 1 else 'are'} {words}"
    )


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _extremes(values: Sequence[Named], base: str, aspect: Aspect) -> str:
    """`Throughput is 0.73 times that of old in the median test, from 0.24 (a) to 1.61 (b).`"""
    title, of_base = f"{_capital(aspect.said)} is", f"times that of {base}"
    if len(values) == 1:
        return f"{title} {two_decimals(values[0][1])} {of_base} in {values[0][0]}."
    (low, least), *_, (high, most) = sorted(values, key=lambda named: named[1])
    ends = f"from {two_decimals(least)} ({low}) to {two_decimals(most)} ({high})"
    return f"{title} {two_decimals(median(value for _, value in values))} {of_base} in the median test, {ends}."


def in_short_cells(cases: Sequence[Case], target: str, aspects: Sequence[Aspect]) -> list[str]:
    """A line of a table: median and ends of each aspect, and what became of the tests."""
    tested = [case for case in cases if not case.is_load]
    cells = []
    for aspect in (one for one in aspects if one.always):
        values = _ratios(tested, target, aspect)
        ends = f" ({two_decimals(min(values))} – {two_decimals(max(values))})" if values else ""
        cells.append(f"{two_decimals(median(values))}{ends}" if values else "–")
    return [*cells, " ".join(counts(tested, target)) or "not replicated"]


def over_targets(group: Group, targets: Sequence[str], base: str, aspects: Sequence[Aspect]) -> list[str]:
    """Of so many targets that the lists have to tell of each: the ends, with the targets and tests that they are of."""
    said = []
    for aspect in (one for one in aspects if one.always):
        found = [
            (f"{target}, {case.test}" if len(group.cases) > 1 else target, finding.ratio or 0.0)
            for target in targets
            for case in group.cases
            if not _spoilt(case, target) and (finding := case.finding(target, aspect.metric))
        ]
        if found:
            low, high = (end(found, key=lambda named: named[1]) for end in (min, max))
            ends = " to ".join(f"{two_decimals(value)} ({name})" for name, value in dict.fromkeys((low, high)))
            said.append(_sentence(f"{_what(group.cases, aspect)} {ends} of {base}"))
    return said or ["Not measured."]


def _ratios(cases: Sequence[Case], target: str, aspect: Aspect) -> list[float]:
    counted = [case for case in cases if not _spoilt(case, target)]
    return [finding.ratio or 0.0 for case in counted if (finding := case.finding(target, aspect.metric))]
