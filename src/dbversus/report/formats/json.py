"""report.json: the assessment as data (docs/reference/schema.md describes it)."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from dbversus.files import write_whole
from dbversus.report.model import Assessment, Estimate, NotedComparison, TargetFacts, TestPart
from dbversus.report.section import Section
from dbversus.report.sections.registry import SECTIONS
from dbversus.report.sections.response import content_of

REPORT_SCHEMA = 2
_WORDS = frozenset(
    {
        "summary",
        "notes",
        "note",
        "outcome",
        "chosen_base",
        "code_layout",
        "calibration",
        "data_state",
        "not_measured",
        "words",
    }
)
"""Fields that hold sentences of reports."""
_PLAIN = str.maketrans({"\N{MINUS SIGN}": "-", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " "})


def write(assessment: Assessment, path: Path) -> None:
    write_whole(path, render(assessment))


def render(assessment: Assessment) -> str:
    return json.dumps(as_json(assessment), indent=1, ensure_ascii=False, default=str, allow_nan=False) + "\n"


def as_json(assessment: Assessment) -> dict[str, Any]:
    """Plain dicts and lists; numbers that are not finite become null."""
    content = {
        "report_schema": REPORT_SCHEMA,
        "title": assessment.title,
        "experiment": msgspec.to_builtins(assessment.header),
        "base": assessment.base.label,
        "chosen_base": assessment.chosen_base,
        "code_layout": assessment.code_layout,
        "outcome": assessment.outcome,
        "blocks": assessment.blocks,
        "summary": assessment.sentences,
        "verdicts": Counter(str(item.verdict) for item in assessment.comparisons),
        "ending": asdict(assessment.ending) if assessment.ending else None,
        "targets": [_target(facts) for facts in assessment.targets],
        "tests": [_test(test, assessment.sections) for test in assessment.tests],
        "load": [asdict(load) for load in assessment.loads],
        "failures": [asdict(failure) for failure in assessment.failures],
        "settings": [asdict(setting) for setting in assessment.settings],
        "plans": [asdict(plan) for plan in assessment.plans],
        "disturbance": asdict(assessment.disturbance),
        "waits": asdict(assessment.waits),
        "host": assessment.host,
        "not_measured": assessment.not_measured,
        "calibration": assessment.calibration,
        "data_state": assessment.data_state,
        "command": assessment.command,
    }
    of_sections = _of_sections(assessment.sections)
    assert not content.keys() & of_sections.keys(), "a section's key is taken"
    content |= of_sections
    plain: dict[str, Any] = _finite(content)
    return plain


def _of_sections(sections: Sequence[Section]) -> dict[str, Any]:
    """By their keys, those that are absent too; and why some could not be made."""
    known = {one.name: one for one in sections}
    found = {
        each.key: known[each.name].content if each.name in known else each.absent
        for each in SECTIONS.values()
        if each.key and not each.by_test
    }
    broken = [note for one in sections if one.is_broken for note in one.notes]
    return found | ({"broken_sections": broken} if broken else {})


def _of_test(test: str, sections: Sequence[Section]) -> dict[str, Any]:
    known = {one.name: one.content_of_tests for one in sections}
    return {each.key: known.get(each.name, {}).get(test, each.absent) for each in SECTIONS.values() if each.by_test}


def _target(facts: TargetFacts) -> dict[str, Any]:
    counts = {str(verdict): count for verdict, count in facts.verdict_counts.items()}
    named = {name: value for name, value in asdict(facts.target).items() if value is not None}
    return {**named, "build": facts.build, "sizes_bytes": facts.sizes, "verdicts": counts}


def _test(test: TestPart, sections: Sequence[Section]) -> dict[str, Any]:
    return {
        "name": test.name,
        "kind": test.group,
        "how": test.how,
        "notes": test.notes,
        "comparisons": [_comparison(comparison) for comparison in test.comparisons],
        "figures": [
            {
                "metric": figure.metric,
                "title": figure.title,
                "unit": figure.unit,
                "targets": {label: _estimate(item) for label, item in figure.estimates.items()},
            }
            for figure in test.figures
        ],
        "latency": {label: content_of(latency) for label, latency in test.latency.items()},
        **_of_test(test.name, sections),
        "disturbance": asdict(test.disturbance),
        "plans": [asdict(plan) for plan in test.plans],
        "statements": [
            {
                "name": one.name,
                "sql": one.sql,
                "plans": [{"targets": labels, "plan": text} for labels, text in one.plans],
            }
            for one in test.statements
        ],
    }


def _comparison(comparison: NotedComparison) -> dict[str, Any]:
    return {
        "target": comparison.target,
        "verdict": comparison.verdict,
        "notes": comparison.notes,
        "findings": {name: asdict(finding) for name, finding in comparison.findings.items()},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return asdict(estimate)


def _finite(value: Any, in_words: bool = False) -> Any:
    """For programs: no number that is none, and numbers in the words of reports with minus signs and blanks of ASCII."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.translate(_PLAIN) if in_words else value
    if isinstance(value, Mapping):
        return {str(name): _finite(item, in_words or name in _WORDS) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [_finite(item, in_words) for item in value]
    return value
