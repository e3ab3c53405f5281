"""Causes in every report: the verdict's line, sentences, rows, and text of others that stands in them."""

import csv
import io
from dataclasses import replace

import pytest
from rich.console import Console

from dbversus.explain.cause import WEAK, Cause, Explanation, Kind
from dbversus.report.formats import html, markdown, text
from dbversus.report.formats import json as json_report
from dbversus.report.formats.xlsx.sheets.every import of_sections
from dbversus.report.model import Assessment
from dbversus.report.parts.notes.cause_words import CAUSES_SHOWN, leads_left_out, likely_cause, why
from dbversus.report.sections import causes
from dbversus.stats.metrics import CPU

from ..synthetic import HOSTILE, LABELS

SETTING = Cause(
    Kind.SETTING,
    "scan",
    "new",
    "work_mem",
    "16MB",
    "4MB",
    share=1.0,
    tested=True,
    means="limits memory",
    source="a manual",
)
LEAD = replace(SETTING, tested=False, share=None, command="dbversus compare new new@work_mem=16MB")
PURGE = Cause(Kind.BACKGROUND, "scan", "new", "background.purge", 10.0, 160.0, "µs/op", 16.0, 0.5, share=0.75)
WEAK_LEAD = replace(LEAD, facts={WEAK: True})
CHANGE = Explanation("scan", "new", "old", CPU, 1.5, 1.2, ())


def with_causes(*causes: Cause, same: bool = False, same_config: bool = False) -> Explanation:
    return replace(CHANGE, causes=causes, same=same, same_config=same_config)


@pytest.mark.parametrize(
    ("explanation", "line", "last"),
    [
        (
            with_causes(SETTING),
            "cause: work_mem 16MB → 4MB",
            "Tested: this setting is all that tells the two targets apart",
        ),
        (with_causes(LEAD), "lead: work_mem 16MB → 4MB", "How much of the change it explains is not known; a command"),
        (with_causes(PURGE), "lead: background: purge 10.00 → 160.0", "Causes with a known share explain 75"),
        (with_causes(same=True), "chance: the same binary and config", "so this is chance and has no cause"),
        (
            with_causes(same_config=True),
            "not known",
            "so it comes with the build and its defaults.",
        ),
        (with_causes(), "not known", "Nothing that was stored tells why."),
        (with_causes(WEAK_LEAD), "not known", "of settings that can act on such a test, 1 differs."),
    ],
)
def test_causes_leads_chance_and_what_is_not_known_are_told_apart(
    explanation: Explanation, line: str, last: str
) -> None:
    assert likely_cause(explanation) == line
    said = why(explanation)
    assert (
        2 <= len(said) <= 3
        and said[0] == "Server CPU per op +50\N{NO-BREAK SPACE}% (at least +20.0\N{NO-BREAK SPACE}%) on new."
    )
    assert last in said[-1].replace("\N{NO-BREAK SPACE}", " ")


def test_what_did_not_change_has_an_empty_line() -> None:
    assert likely_cause(None) == ""


def test_only_so_many_are_shown_and_the_rest_is_counted() -> None:
    many = with_causes(*[replace(LEAD, what=f"s{number}") for number in range(CAUSES_SHOWN + 2)])
    assert len(causes.shown(many)) == CAUSES_SHOWN
    assert leads_left_out(many).startswith("2 leads more") and not leads_left_out(with_causes(LEAD))
    assert len(causes.of_explanations([many]).data[0].rows) == CAUSES_SHOWN + 2


def test_rows_have_a_rank_and_a_change_without_a_cause_has_one() -> None:
    columns, rows = causes.of_explanations([with_causes(LEAD, PURGE), CHANGE]).data[0].plain()
    lines = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [(line["rank"], line["kind"], line["tested"]) for line in lines] == [
        (1, "setting", False), (2, "background", False), (None, None, None),
    ]  # fmt: skip
    assert lines[1]["share"] == 0.75 and lines[0]["command"] == LEAD.command
    csv.writer(io.StringIO()).writerows(rows)


def test_every_report_has_the_likely_cause_in_the_line_of_the_verdict(assessment: Assessment) -> None:
    lead = "another plan, Index Scan of sbtest1 by k_1 → Bitmap Heap Scan of sbtest1"
    out = io.StringIO()
    text.render(assessment, Console(file=out, width=300))
    (line, *_) = [line for line in out.getvalue().splitlines() if line.startswith("range-notcovered-si")]
    assert line.rstrip().endswith(f"lead: {lead}")
    rows = [
        line for line in markdown.render(assessment).splitlines() if line.startswith("| range-notcovered-si | ▼ reg")
    ]
    assert rows[0].endswith(f"| lead: {lead.replace('_', chr(92) + '_')} |")
    assert f'<td class="cause" data-title="Likely cause">lead: {lead}</td>' in html.render(assessment)
    found = json_report.as_json(assessment)["causes"]
    assert {one["target"] for one in found} == set(LABELS[1:])
    assert "Causes" in {sheet.name for sheet in of_sections(assessment)}


def test_words_of_others_are_escaped(assessment: Assessment) -> None:
    hostile = replace(LEAD, what=HOSTILE, command=f"dbversus compare '{HOSTILE}`'")
    test = replace(assessment.tests[0], explanations=(replace(with_causes(hostile), test=assessment.tests[0].name),))
    changed = replace(assessment, tests=(test,))
    assert HOSTILE not in html.render(changed)
    shown = markdown.causes_parts([with_causes(hostile)])[1]
    assert HOSTILE not in shown and "test it" not in shown
