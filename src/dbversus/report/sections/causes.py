"""Why tests changed: causes and leads, ranked; rows for programs and sheets, lines for eyes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from dbversus.explain.cause import Cause, Explanation
from dbversus.report.judged import Judged
from dbversus.report.parts.notes.cause_words import CAUSES_SHOWN, leads_left_out, told, why
from dbversus.report.section import Section
from dbversus.report.table import Column, Form, Table
from dbversus.report.terminal import say

_FORMS = {"change": Form.RATIO, "ratio": Form.RATIO, "share": Form.SHARE, "rank": Form.COUNT}
COLUMNS = tuple(
    Column(name.replace("_", " "), _FORMS.get(name, Form.TEXT), name=name)
    for name in ("test", "target", "base", "metric", "change", "rank", "kind", "what", "tested", "of_base", "of_target",
                 "unit", "ratio", "share", "means", "source", "command")
)  # fmt: skip
NOTE = (
    "A cause was tested: nothing else was changed, between the two targets or in a trial. A lead moved together with the "
    "change, and may not be its cause. A setting that differs can act on such a test; nothing shows that it did."
)


def section(judged: Judged) -> Section | None:
    found = [one for test in judged.tests for one in test.explanations]
    return of_explanations(found) if found else None


def asked(judged: Judged) -> Section:
    """With a table that may be empty: that nothing changed is an answer."""
    return of_explanations([one for test in judged.tests for one in test.explanations])


def of_explanations(explanations: Sequence[Explanation]) -> Section:
    """A line per cause, most likely first; a change of which nothing is known has one without a cause."""
    rows = [line for one in explanations for line in _lines(one)]
    return Section(
        title="Why tests changed",
        data=[Table(COLUMNS, rows, lead=2, title="Why tests changed", sheet="Causes", notes=[NOTE])],
        print_on=lambda console: render(explanations, console),
        content=as_json(explanations),
    )


def _lines(explanation: Explanation) -> Iterator[tuple[Any, ...]]:
    place = (explanation.test, explanation.target, explanation.base, explanation.metric, explanation.ratio)
    if not explanation.causes:
        yield (*place, *[None] * (len(COLUMNS) - len(place)))
    for rank, cause in enumerate(explanation.causes, start=1):
        figures = cause.base, cause.mine, cause.unit, cause.ratio, cause.share
        yield (
            *place,
            rank,
            str(cause.kind),
            cause.what,
            cause.tested,
            *figures,
            cause.means,
            cause.source,
            cause.command,
        )


def as_json(explanations: Sequence[Explanation]) -> list[dict[str, Any]]:
    """Each with its causes, in order, and in words."""
    return [
        {
            **asdict(one),
            "explained": one.explained,
            "words": why(one),
            "causes": [_cause(cause) for cause in one.causes],
        }
        for one in explanations
    ]


def _cause(cause: Cause) -> dict[str, Any]:
    return {**asdict(cause), "sure": cause.is_sure, "words": told(cause)}


def shown(explanation: Explanation) -> list[tuple[str, str, str]]:
    """The first causes: `cause`, `lead` or `differs`, in words, and the command that tests it."""
    return [(_kind(cause), told(cause), cause.command) for cause in explanation.causes[:CAUSES_SHOWN]]


def _kind(cause: Cause) -> str:
    return "cause" if cause.tested else "differs" if cause.is_weak else "lead"


def render(explanations: Sequence[Explanation], console: Console) -> None:
    """For the terminal: each change in at most three sentences, then its causes."""
    for one in explanations:
        say(console, f"{one.test} on {one.target} against {one.base}", "bold")
        say(console, " ".join(why(one)))
        for number, (kind, words, command) in enumerate(shown(one), start=1):
            say(console, f"  {number}. {kind}: {words}")
            if command:
                console.print(f"     {command}", style="dim", soft_wrap=True)
        if more := leads_left_out(one):
            say(console, f"  {more}", "dim")
        console.print()
