"""What came of cases: one line each, and counts by kind, as Markdown."""

import statistics
from collections.abc import Mapping, Sequence

from common import markdown

from dbversus.stats.metrics import metric_named
from planted.answer import Answer, Cause
from planted.score import Score, Truth, score

NAMED = 4
FIRST, LATEST = "first runs of each case", "latest runs"


def report(answers: Sequence[Answer], key: Mapping[str, Truth]) -> str:
    """Counts of first runs, those of the latest where there are others, and all answers."""
    first = {one.case: one for one in sorted(answers, key=lambda one: -one.run)}
    latest = {one.case: one for one in sorted(answers, key=lambda one: one.run)}
    parts = [f"{FIRST}\n\n{counts(list(first.values()), key)}"]
    if first != latest:
        parts.append(f"{LATEST}\n\n{counts(list(latest.values()), key)}")
    return "\n\n".join([*parts, details(answers, key)])


def counts(answers: Sequence[Answer], key: Mapping[str, Truth]) -> str:
    """By kind, with a line for all that have a cause."""
    kinds: dict[str, list[Answer]] = {}
    for answer in sorted(answers, key=lambda one: one.case):
        kinds.setdefault(key[answer.case].kind, []).append(answer)
    with_cause = [answer for answer in answers if not key[answer.case].is_nothing]
    rows = [_counted(kind, own, key) for kind, own in sorted(kinds.items())]
    heads = ["kind", "cases", *map(str, Score), "explained, median", "minutes, median"]
    return markdown(heads, [*rows, _counted("**all with a cause**", with_cause, key)])


def _counted(kind: str, answers: Sequence[Answer], key: Mapping[str, Truth]) -> list[str]:
    scores = [score(key[answer.case], answer) for answer in answers]
    shares = [test.explained for answer in answers for test in answer.changed if test.explained is not None]
    minutes = [one for answer in answers if (one := minutes_of(answer)) is not None]
    return [
        kind,
        str(len(answers)),
        *(str(scores.count(one)) for one in Score),
        f"{100 * statistics.median(shares):.0f} %" if shares else "–",
        f"{statistics.median(minutes):.1f}" if minutes else "–",
    ]


def details(answers: Sequence[Answer], key: Mapping[str, Truth]) -> str:
    rows = []
    for answer in sorted(answers, key=lambda one: (one.case, one.run)):
        truth = key[answer.case]
        case = answer.case if answer.run == 1 else f"{answer.case}, run {answer.run}"
        minutes = minutes_of(answer)
        told = [truth.kind, truth.about, changes(answer), named(answer), str(score(truth, answer))]
        rows.append([case, *told, "–" if minutes is None else f"{minutes:.1f}"])
    return markdown(["case", "kind", "planted", "changed", "named first", "score", "minutes"], rows)


def changes(answer: Answer) -> str:
    """`scan: server CPU per op × 1.31`"""
    told = [f"{one.test}: {metric_named(one.metric).title} × {one.ratio:.2f}" for one in answer.changed]
    return "; ".join(told) or f"nothing of {answer.tests}"


def named(answer: Answer) -> str:
    """The first cause of each test that changed."""
    return "; ".join(dict.fromkeys(_first(test.causes) for test in answer.changed)) or "–"


def _first(causes: Sequence[Cause]) -> str:
    first = next((cause for cause in causes if not cause.weak), None)
    if first is None:
        return "nothing"
    names = first.what.split(", ")
    what = ", ".join([*names[:NAMED], f"{len(names) - NAMED} more"] if len(names) > NAMED else names)
    what = f"{what}: {first.detail}" if first.kind == "plan" else what
    return f"{'sure' if first.sure else 'cause' if first.tested else 'lead'}: {first.kind} {what}".replace("|", "/")


def minutes_of(answer: Answer) -> float | None:
    if answer.compare_min is None or answer.explain_min is None:
        return None
    return answer.compare_min + answer.explain_min
