"""Which settings make a change: two configs of one build, measured and taken apart (campaign/screening)."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbversus.cli import campaigns
from dbversus.cli.choices import Choices, as_words
from dbversus.cli.options import Run
from dbversus.cli.tables import print_json, write_table
from dbversus.cli.verbs.measure.compare import default_directory

if TYPE_CHECKING:
    from dbversus.campaign.journal import Course
    from dbversus.campaign.screening.agenda import Screening
    from dbversus.campaign.screening.answer import Answer

_COLUMNS = ["test", "metric", "settings", "ratio", "low", "high", "share", "verdict"]

_SURE = {True: ("makes it", "make it"), False: ("is a lead, not a cause", "are leads, not causes")}


def screen(
    build: str,
    configs: tuple[str, str],
    chosen: Choices,
    *,
    out: Path | None,
    json: bool,
    run: Run,
) -> int:
    """Measures which of the settings that differ between two configs of a build make a change; shows what was found."""
    from dbversus.campaign.screening.agenda import screening_of
    from dbversus.cli.consent import with_consent

    time_budget_s = chosen.pop("time_budget_s", None)
    agenda = screening_of(build, configs, chosen)
    _, may_execute = with_consent(lambda: agenda.first_spec, None, trust=run.trust, dry_run=run.dry_run)
    if run.dry_run:
        campaigns.print_first(agenda, as_json=json, may_execute=may_execute)
        return 0
    name = re.sub(r"[^\w.]+", "-", build.rpartition("/")[2])
    directory = out or default_directory(agenda.first_spec, f"settings-{name}")
    words = ["dbversus", "explain", "--settings", *configs, "--build", build, *as_words(chosen)]
    course = campaigns.measure(
        agenda, directory, shlex.join(words), time_budget_s=time_budget_s, wait=run.wait, quiet=run.quiet
    )
    return conclude(course, agenda, as_json=json)


def conclude(course: "Course", agenda: "Screening", *, as_json: bool) -> int:
    from dbversus.campaign.screening.answer import answers

    found = answers(agenda, course.outcomes)
    if as_json:
        print_json(_as_object(course, agenda, found))
        return 0
    for sentence in _sentences(course, agenda, found):
        print(sentence)
    if found:
        print()
        write_table(_COLUMNS, [tuple(row[name] for name in _COLUMNS) for row in _rows(agenda, found)])
    print(f"\nexperiments: dbversus show {course.directory}", file=sys.stderr)
    return 0


def _as_object(course: "Course", agenda: "Screening", found: list["Answer"]) -> dict[str, Any]:
    return {
        "build": agenda.build,
        "configs": agenda.configs,
        "settings": [{"name": one.name, "first": one.first, "second": one.second} for one in agenda.settings.factors],
        "ended": course.ended,
        "changes": [
            {"test": one.test, "metric": one.metric, "is_sure": one.is_sure, "parts": list(_rows(agenda, [one]))}
            for one in found
        ],
    }


def _sentences(course: "Course", agenda: "Screening", found: list["Answer"]) -> Iterator[str]:
    first, second = agenda.configs
    count = len(agenda.names)
    yield f"{agenda.build}: {second} against {first}, which differ in {count} setting{'s' if count > 1 else ''}."
    if not found:
        yield (
            "No test was found to differ, so there is nothing to explain." if course.ended else "Nothing is known yet."
        )
    for answer in found:
        yield _sentence(answer)


def _sentence(answer: "Answer") -> str:
    from dbversus.stats.metrics import metric_named

    what = f"{answer.test}, {metric_named(answer.metric).title}: {ratio_told(answer.total)}"
    one = answer.cause
    if one is None or one.share is None:
        return f"{what}; no setting is known to make it."
    names, them = " and ".join(one.settings), "them" if len(one.settings) > 1 else "it"
    is_all_named = answer.rest is not None and one is answer.parts[-1]
    without = f"; without {them} {ratio_told(answer.rest.found)}" if answer.rest and is_all_named else ""
    sure = _SURE[answer.is_sure][len(one.settings) > 1]
    return f"{what}; {names} {sure}: {ratio_told(one.found)} with {them} alone, {one.share:.0%} of it{without}."


def ratio_told(found: Any) -> str:
    """`1.003 [0.991, 1.015]`"""
    if found.ratio is None:
        return "no ratio"
    return f"{found.ratio:.3f}" + (f" [{found.low:.3f}, {found.high:.3f}]" if found.low and found.high else "")


def _rows(agenda: "Screening", found: list["Answer"]) -> Iterator[dict[str, Any]]:
    for answer in found:
        yield _row(answer, "all that differ", answer.total, 1.0)
        for share in answer.parts:
            if len(share.settings) < len(agenda.names):
                yield _row(answer, ", ".join(share.settings), share.found, share.share)
        if answer.rest:
            yield _row(answer, "all others", answer.rest.found, answer.rest.share)


def _row(answer: "Answer", settings: str, found: Any, share: float | None) -> dict[str, Any]:
    return {
        "test": answer.test,
        "metric": answer.metric,
        "settings": settings,
        "ratio": found.ratio,
        "low": found.low,
        "high": found.high,
        "share": share,
        "verdict": str(found.verdict),
    }
