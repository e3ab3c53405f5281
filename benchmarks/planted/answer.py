"""What dbversus answered in a case, and answers in a file that a repository can keep."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from dbversus.errors import UsageError

KEPT = 3
"""Causes of a test, the first of them."""
DETAIL = 160
"""Characters of a cause's values."""


@dataclass(frozen=True)
class Cause:
    """`detail`: its values on base and target, or the operators of both plans."""

    kind: str
    what: str
    tested: bool
    sure: bool
    weak: bool
    share: float | None
    detail: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name.split(" [")[0] for name in self.what.split(", "))


@dataclass(frozen=True)
class Test:
    """One that changed: the metric that changed most with its ratio, what share of that is explained, and the first causes."""

    __test__ = False  # pytest would take it for a class of tests

    test: str
    metric: str
    ratio: float
    explained: float | None
    causes: Sequence[Cause]


@dataclass(frozen=True)
class Answer:
    """`run` counts a case's runs from 1: later ones are of code that knows what came of earlier ones.

    `tests`: how many were measured; `changed`: those of them that changed. `minutes`: None where it was interrupted.
    """

    case: str
    run: int
    day: str
    commit: str
    compare_min: float | None
    explain_min: float | None
    tests: int
    changed: Sequence[Test]


@dataclass(frozen=True)
class Line:
    """Of the file: one per cause; of a test without causes, or a case without changes, one with what is known."""

    case: str
    run: str
    day: str
    commit: str
    compare_min: str
    explain_min: str
    tests: str
    test: str
    metric: str
    ratio: str
    explained: str
    kind: str
    what: str
    tested: str
    sure: str
    weak: str
    share: str
    detail: str


HEADS = [field.name for field in fields(Line)]


def tests_of(explanations: Sequence[dict[str, Any]]) -> list[Test]:
    """Of what `dbversus explain --json` prints."""
    return [
        Test(
            one["test"], one["metric"], one["ratio"], one["explained"], [_cause(each) for each in one["causes"][:KEPT]]
        )
        for one in explanations
    ]


def _cause(told: dict[str, Any]) -> Cause:
    sides = [" | ".join(str("" if told[side] is None else told[side]).split("\n")) for side in ("base", "mine")]
    detail = f"{sides[0][: DETAIL // 2]} → {sides[1][: DETAIL // 2]}"
    weak = bool(told["facts"].get("weak"))
    what = ", ".join(str(told["facts"].get("names") or told["what"]).split("\n"))  # of functions: all of them
    return Cause(told["kind"], what, told["tested"], told["sure"], weak, told["share"], detail)


def write_answers(answers: Iterable[Answer], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADS)
    writer.writerows(astuple(line) for answer in answers for line in _lines(answer))


def _lines(answer: Answer) -> Iterable[Line]:
    minutes = [_number(value, 2) for value in (answer.compare_min, answer.explain_min)]
    first = [answer.case, str(answer.run), answer.day, answer.commit, *minutes, str(answer.tests)]
    for of_test in [list(_of_test(test)) for test in answer.changed] or [[[]]]:
        for rest in of_test:
            yield Line(*first, *rest, *[""] * (len(HEADS) - len(first) - len(rest)))


def _of_test(test: Test) -> Iterable[list[str]]:
    """For each cause, or for none at all."""
    first = [test.test, test.metric, _number(test.ratio, 4), _number(test.explained, 3)]
    for cause in test.causes:
        marks = ["yes" if value else "" for value in (cause.tested, cause.sure, cause.weak)]
        yield [*first, cause.kind, cause.what, *marks, _number(cause.share, 3), cause.detail]
    if not test.causes:
        yield first


def read_answers(path: Path) -> list[Answer]:
    """None where there is no file yet; UsageError where it is another."""
    if not path.exists():
        return []
    try:
        with path.open(newline="") as file:
            heads, *rows = [*csv.reader(file)] or [[]]
        if heads != HEADS:
            raise ValueError(f"its first line is not {','.join(HEADS)}")
        lines = [Line(*row) for row in rows]
        return [_answer(list(own)) for _, own in groupby(lines, key=lambda line: (line.case, line.run))]
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path} has no answers: {error}.") from error


def _answer(lines: Sequence[Line]) -> Answer:
    first = lines[0]
    changed = [
        _test(list(own)) for test, own in groupby(lines, key=lambda line: line.test) if test
    ]  # a case without changes has a line without a test
    return Answer(
        first.case,
        int(first.run),
        first.day,
        first.commit,
        _value(first.compare_min),
        _value(first.explain_min),
        int(first.tests),
        changed,
    )


def _test(lines: Sequence[Line]) -> Test:
    first = lines[0]
    causes = [
        Cause(
            line.kind, line.what, bool(line.tested), bool(line.sure), bool(line.weak), _value(line.share), line.detail
        )
        for line in lines
        if line.kind
    ]
    return Test(first.test, first.metric, float(first.ratio), _value(first.explained), causes)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _value(text: str) -> float | None:
    return float(text) if text else None
