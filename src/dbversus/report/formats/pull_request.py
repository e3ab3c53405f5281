"""pr.md: what a pull request's comment holds. What changed and why in at most MOST_LINES lines, all tests folded under them.

Where nothing changed and all is judged, it is one line.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from dbversus.files import write_text
from dbversus.report.formats.markdown import escape, table
from dbversus.report.model import Assessment, NotedComparison, TargetFacts
from dbversus.report.parts.notes.cause_words import LIKELY_CAUSE, likely_cause
from dbversus.report.sections import changes
from dbversus.report.words import (
    SHORT_TITLES,
    SIGNS,
    counted,
    finding_text,
    listing,
    margins_text,
    summary_sentences,
)
from dbversus.stats.model import CHANGES, SPOILT, WITHIN, Verdict
from dbversus.units import count_of

MOST_LINES = 15
"""Of what is not folded, blank ones included."""

_MOST_ROWS, _MOST_TARGETS = 5, 3
_FENCE = "`"


def write(assessment: Assessment, path: Path) -> None:
    write_text(path, render(assessment))


def render(assessment: Assessment) -> str:
    """Markdown that GitHub and GitLab show alike."""
    if not assessment.candidates:
        forms = [words for one in assessment.sections if one.name == "forms" for words in one.sentences]
        said = " ".join(map(escape, forms or [assessment.of_one_target]))
        return f"{escape(assessment.title)}: {said} {_command(assessment)}\n"
    changed = changes.changed(assessment.tests)
    heads = [_head(assessment, facts) for facts in assessment.candidates[:_MOST_TARGETS]]
    if not changed and _is_judged(assessment):
        return f"{' '.join(heads)}{_more_targets(assessment)} {_command(assessment)}\n"
    parts = ["<br>\n".join(heads) + _more_targets(assessment)]
    if changed:
        parts.append(_changes(assessment, changed))
    parts.append(_ending(assessment, changed))
    return "\n\n".join([*filter(None, parts), *_folded(assessment)]) + "\n"


def _is_judged(assessment: Assessment) -> bool:
    return all(one.is_judged for one in assessment.comparisons)


def _head(assessment: Assessment, facts: TargetFacts) -> str:
    label, base = facts.target.label, assessment.base.label
    own = [item for item in assessment.comparisons if item.target == label]
    named = f"**{escape(label)} against {escape(base)}**"
    of = f" ({escape(assessment.label)})" if assessment.label else ""
    if not any(item.is_judged for item in own):
        return f"{named}{of}: {escape(summary_sentences(own, label, base)[0])}"
    counts = Counter(item.verdict for item in own)
    if len(own) == sum(counts[verdict] for verdict in WITHIN):
        within = escape(margins_text(item for one in own for item in one.findings.values()))
        return f"{named}{of}: nothing changed in {count_of(len(own), 'test')}, within margins of {within}."
    return f"{named}{of}: {', '.join(_counted(counts))} of {count_of(len(own), 'test')}."


def _counted(counts: Counter[Verdict]) -> Iterator[str]:
    unchanged = sum(counts[verdict] for verdict in WITHIN)
    words = {Verdict.REGRESSION: "worse", Verdict.IMPROVEMENT: "better"}
    for verdict in (*CHANGES, *SPOILT):
        if count := counts[verdict]:
            yield f"{SIGNS[verdict]} {f'{count} {words[verdict]}' if verdict in words else counted(count, verdict)}"
    if unchanged:
        yield f"{unchanged} unchanged"
    for verdict, count in counts.items():
        if verdict not in (*CHANGES, *SPOILT, *WITHIN):
            yield f"{count} {verdict}"


def _more_targets(assessment: Assessment) -> str:
    more = len(assessment.candidates) - _MOST_TARGETS
    return f" And {count_of(more, 'more target')}, below." if more > 0 else ""


def _changes(assessment: Assessment, changed: Sequence[NotedComparison]) -> str:
    several = len(assessment.candidates) > 1
    head = ["test", *(["target"] if several else []), "what changed", LIKELY_CAUSE]
    return table(head, [_row(assessment, item, several) for item in changed[:_MOST_ROWS]])


def _row(assessment: Assessment, item: NotedComparison, several: bool) -> list[str]:
    test = next(test for test in assessment.tests if test.name == item.test)
    said = changes.told_changes(test, item, assessment.base.label)
    cause = likely_cause(assessment.explanation(item.test, item.target))
    target = [escape(item.target)] if several else []
    return [f"{SIGNS[item.verdict]} {escape(item.test)}", *target, "<br>".join(map(escape, said)), escape(cause)]


def _ending(assessment: Assessment, changed: Sequence[NotedComparison]) -> str:
    several = len(assessment.candidates) > 1
    left = [
        f"{item.test}{f' on {item.target}' if several else ''} ({item.verdict})"
        for item in assessment.comparisons
        if _is_open(item)
    ]
    said = []
    if len(changed) > _MOST_ROWS:
        said.append(f"{len(changed) - _MOST_ROWS} more changed, below.")
    if left:
        said.append(f"Not judged: {listing(left)}.")
    said.append(assessment.outcome)
    return " ".join([*map(escape, filter(None, said)), _command(assessment)])


def _is_open(item: NotedComparison) -> bool:
    return not item.is_judged and item.verdict not in SPOILT


def _command(assessment: Assessment) -> str:
    """As code, which nothing in it can end but a backtick."""
    command = " ".join(assessment.command.split())
    return f"{_FENCE}{command}{_FENCE}" if command and _FENCE not in command else escape(command)


def _folded(assessment: Assessment) -> list[str]:
    """All tests, behind one line."""
    judged = assessment.judged
    several = len(assessment.candidates) > 1
    head = ["test", *(["target"] if several else []), "verdict", *(f"{SHORT_TITLES[one.name]} ratio" for one in judged)]
    rows = [
        [
            escape(item.test),
            *([escape(item.target)] if several else []),
            f"{SIGNS[item.verdict]} {item.verdict}",
            *(escape(finding_text(item.findings.get(one.name))) for one in judged),
        ]
        for item in assessment.comparisons
    ]
    summary = f"<summary>all {count_of(len(rows), 'verdict')}, ratios of the target to {escape(assessment.base.label)}</summary>"
    return [f"<details>{summary}", table(head, rows), "</details>"]
