"""What an upgrade comes to, in words: what gets slower, why, what to set, and what could not be told (campaign/upgrading)."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from dbversus.cli.screen import ratio_told
from dbversus.cli.tables import print_json

if TYPE_CHECKING:
    from dbversus.campaign.journal import Course
    from dbversus.campaign.screening.answer import Answer
    from dbversus.campaign.upgrading.agenda import Upgrade
    from dbversus.explain.cause import Explanation
    from dbversus.report.model import Assessment, NotedComparison

PAGE = "upgrade.md"
_COLUMNS = ["test", "what changes", "why", "what to set"]


@dataclass(frozen=True)
class Remedy:
    """Settings of the newer version that, with their older values, bring back this share of a change; `left`: the ratio then."""

    settings: tuple[str, ...]
    texts: tuple[str, ...]
    share: float
    left: float
    is_sure: bool


@dataclass(frozen=True)
class Change:
    """A test that changed with the newer version; `what` and `why` in words. `untried`: what settings that a lead names could be
    set to, where nothing was measured that brings the change back."""

    test: str
    is_worse: bool
    what: tuple[str, ...]
    why: str
    remedy: Remedy | None
    untried: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """All that is told. `carried`: of the user's settings; `put_back`: those that were, as texts; `open`: what is not known."""

    title: str
    summary: tuple[str, ...]
    changes: tuple[Change, ...]
    carried: tuple[str, ...]
    put_back: tuple[str, ...]
    open: tuple[str, ...]
    reports: str


def conclude(course: "Course", agenda: "Upgrade", *, as_json: bool) -> int:
    """Shows it, and writes the page into the campaign's folder."""
    from dbversus.campaign.run import is_begun
    from dbversus.campaign.upgrading.agenda import VERSIONS
    from dbversus.files import write_text
    from dbversus.report.assessment import build_assessment
    from dbversus.report.formats.registry import USUAL, find_formats
    from dbversus.results.read import open_results

    folder = course.directory / VERSIONS
    if not is_begun(folder):
        print("Nothing is known yet.", file=sys.stderr)
        return 0
    assessment = build_assessment(open_results(folder))
    for each in find_formats(USUAL):
        each.write(assessment, folder)
    page = page_of(course, agenda, assessment)
    path = course.directory / PAGE
    write_text(path, markdown(page))
    if as_json:
        print_json(_as_object(page))
    else:
        _print(page)
    print(f"\npage: {path}\nreport: {folder / 'report.html'}", file=sys.stderr if as_json else sys.stdout)
    return 0


def page_of(course: "Course", agenda: "Upgrade", assessment: "Assessment") -> Page:
    from dbversus.campaign.screening.answer import answers
    from dbversus.campaign.upgrading.agenda import VERSIONS
    from dbversus.report.sections.changes import changed

    versions = course.outcomes.get(VERSIONS)
    screening = agenda.screening(versions) if versions else None
    found = answers(screening, course.outcomes) if screening else []
    of_versions = versions.settings if versions else {}
    changes = tuple(_change(assessment, one, found, of_versions) for one in changed(assessment.tests))
    return Page(
        f"{agenda.title[0].upper()}{agenda.title[1:]}",
        assessment.targets[1].sentences if len(assessment.targets) > 1 else (),
        changes,
        tuple(_carried(agenda)),
        tuple(versions.settings.values()) if versions else (),
        tuple(_open(course, assessment, changes)),
        VERSIONS,
    )


def _change(
    assessment: "Assessment", item: "NotedComparison", found: Sequence["Answer"], texts: Mapping[str, str]
) -> Change:
    from dbversus.report.parts.notes.cause_words import likely_cause
    from dbversus.report.sections.changes import told_changes

    remedy = _remedy(item, found, texts)
    explanation = assessment.explanation(item.test, item.target)
    why = likely_cause(explanation)
    if remedy and remedy.is_sure:
        why = f"{' and '.join(remedy.settings)}: tested"
    test = next(test for test in assessment.tests if test.name == item.test)
    what = tuple(told_changes(test, item, assessment.base.label))
    untried = () if remedy or not item.is_worse else tuple(_untried(explanation, texts))
    return Change(item.test, item.is_worse, what, why, remedy, untried)


def _untried(explanation: "Explanation | None", texts: Mapping[str, str]) -> Iterator[str]:
    """Of the first setting of which something shows that it acted: the older value, or that there is none to set."""
    from dbversus.explain.cause import Kind

    likely = explanation.likely if explanation else ()
    first = next((cause for cause in likely if cause.kind is Kind.SETTING and "." not in cause.what), None)
    if first is None:
        return
    if first.what in texts:
        yield f"{texts[first.what]}, not measured"
    elif first.mine is None and first.base is not None:
        yield f"{first.what} is gone, and nothing brings it back"


def _remedy(item: "NotedComparison", found: Sequence["Answer"], texts: Mapping[str, str]) -> Remedy | None:
    """What brings most of it back, by the metric of which it brings most."""
    made = [one for answer in found if answer.test == item.test and (one := _regained(item, answer, texts))]
    return max(made, key=lambda one: one.share, default=None)


def _regained(item: "NotedComparison", answer: "Answer", texts: Mapping[str, str]) -> Remedy | None:
    from dbversus.campaign.upgrading.agenda import REGAINED

    finding, cause = item.findings.get(answer.metric), answer.cause
    if finding is None or not finding.ratio or cause is None or not cause.found.ratio or not item.is_worse:
        return None
    share = -log(cause.found.ratio) / log(finding.ratio) if finding.ratio != 1 else 0.0
    if share < REGAINED:
        return None
    chosen = tuple(texts[name] for name in cause.settings)
    return Remedy(cause.settings, chosen, share, finding.ratio * cause.found.ratio, answer.is_sure)


def _carried(agenda: "Upgrade") -> Iterator[str]:
    from dbversus.builds.target import parse_target
    from dbversus.campaign.screening.factors import without_base

    if agenda.config == (without_base(parse_target(agenda.build).dbms),):
        yield "Each server runs with the defaults of its version."
    elif len(agenda.config) == 1:
        yield f"Both servers run with the config {agenda.config[0]}."
    else:
        yield f"Both servers run with your settings; {agenda.build} takes {len(agenda.config) - 1} of them."
    yield from agenda.left_out


def _open(course: "Course", assessment: "Assessment", changes: Sequence[Change]) -> Iterator[str]:
    from dbversus.campaign.screening.agenda import ENDS, changes_of
    from dbversus.campaign.upgrading.agenda import VERSIONS
    from dbversus.report.words import SHORT_TITLES, listing
    from dbversus.stats.model import SPOILT

    unjudged = [
        f"{item.test} ({item.verdict})"
        for item in assessment.comparisons
        if not item.is_judged and item.verdict not in SPOILT
    ]
    if unjudged:
        yield f"Not judged: {listing(unjudged)}."
    unexplained = [one.test for one in changes if one.is_worse and one.remedy is None]
    changed = changes_of(course.outcomes[VERSIONS]) if VERSIONS in course.outcomes else {}
    if unexplained and (ends := course.outcomes.get(ENDS)):
        named = [
            f"{one.test} ({SHORT_TITLES[one.metric]} {ratio_told(one)})"
            for one in ends.found
            if one.test in unexplained and (one.test, one.metric) in changed and one.ratio
        ]
        yield f"The newer version with all these settings put back ÷ as it is: {listing(named)}."
    elif unexplained:
        yield f"Which settings have to do with {listing(unexplained)} was not measured."
    if unexplained and course.is_over:
        yield f"Which functions their CPU time goes to: `dbversus explain {course.directory / VERSIONS} --measure`."
    if course.ended is None or not course.is_over:
        yield f"The campaign has not ended; `dbversus resume {course.directory}` goes on with it."
    elif course.ended:
        yield f"It ended: {course.ended}."


def markdown(page: Page) -> str:
    from dbversus.report.formats.markdown import escape, table

    def listed(sentences: Sequence[str]) -> str:
        return "\n".join(f"- {escape(one)}" for one in sentences)

    parts = [f"# {escape(page.title)}", listed(page.summary)]
    for title, own in _groups(page):
        rows = [[escape(cell) for cell in _row(one)] for one in own]
        parts += [f"## {title}", table(_COLUMNS, rows)]
    for title, sentences in _lists(page):
        parts += [f"## {title}", listed(sentences)]
    parts.append(f"Every figure: [{page.reports}/report.md]({page.reports}/report.md).")
    return "\n\n".join(parts) + "\n"


def _groups(page: Page) -> Iterator[tuple[str, list[Change]]]:
    for title, is_worse in (("What gets slower", True), ("What gets faster", False)):
        if own := [one for one in page.changes if one.is_worse is is_worse]:
            yield title, own


def _lists(page: Page) -> Iterator[tuple[str, Sequence[str]]]:
    yield "Your settings", page.carried
    if page.put_back:
        yield "Settings that were put back on the newer version, to see what they cost", page.put_back
    if page.open:
        yield "What could not be told", page.open


def _row(one: Change) -> list[str]:
    return [one.test, "; ".join(one.what), one.why, _what_to_set(one.remedy) or "; ".join(one.untried)]


def _what_to_set(remedy: Remedy | None) -> str:
    """`innodb_adaptive_hash_index=ON brings 85 % of it back: 1.02 of the older version`"""
    if remedy is None:
        return ""
    brings = "brings" if len(remedy.texts) == 1 else "together bring"
    sure = "" if remedy.is_sure else ", not surely"
    share = min(remedy.share, 1.0)
    return f"{', '.join(remedy.texts)} {brings} {share:.0%} of it back{sure}: {remedy.left:.2f} of the older version"


def _print(page: Page) -> None:
    from dbversus.report.terminal import make_console, plain_table, print_table, say

    console = make_console()
    say(console, page.title, "bold")
    for sentence in page.summary:
        say(console, sentence)
    for title, own in _groups(page):
        say(console, f"\n{title}", "bold")
        lines = plain_table(*_COLUMNS)
        for one in own:
            lines.add_row(*_row(one))
        print_table(console, lines)
    for title, sentences in _lists(page):
        say(console, f"\n{title}", "bold")
        for sentence in sentences:
            say(console, sentence)


def _as_object(page: Page) -> dict[str, Any]:
    return {
        "title": page.title,
        "summary": page.summary,
        "changes": [
            {
                "test": one.test,
                "is_worse": one.is_worse,
                "what": one.what,
                "why": one.why,
                "set": one.remedy.texts if one.remedy else (),
                "untried": one.untried,
                "brings_back": one.remedy.share if one.remedy else None,
                "is_sure": bool(one.remedy and one.remedy.is_sure),
            }
            for one in page.changes
        ],
        "carried": page.carried,
        "put_back": page.put_back,
        "open": page.open,
    }
