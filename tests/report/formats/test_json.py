import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dbversus.report.assessment import build_assessment
from dbversus.report.formats import json as json_report
from dbversus.report.model import Assessment, Ending
from dbversus.results.read import open_results

from ..synthetic import write_results

SCHEMA = Path(__file__).parents[3] / "docs/reference/report.schema.json"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    content = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def told(assessment: Assessment) -> Any:
    return json.loads(json_report.render(assessment))


def test_real_output_is_as_the_schema_says(assessment: Assessment, schema: Draft202012Validator) -> None:
    for ending in (None, Ending(0, ()), Ending(99, ("--fail-on regression: scan on b.",))):
        schema.validate(told(replace(assessment, ending=ending)))


def test_of_one_target_too(tmp_path: Path, schema: Draft202012Validator) -> None:
    schema.validate(told(build_assessment(open_results(write_results(tmp_path / "alone", targets=1)))))


@pytest.mark.parametrize("field", ["verdicts", "ending", "summary", "tests"])
def test_the_schema_can_be_violated(assessment: Assessment, schema: Draft202012Validator, field: str) -> None:
    content = told(assessment)
    del content[field]
    assert not schema.is_valid(content)
    assert not schema.is_valid(told(assessment) | {"verdicts": {"fine": 1}})


def test_verdicts_are_counted_over_all_comparisons(assessment: Assessment) -> None:
    content = told(assessment)
    verdicts = [item["verdict"] for test in content["tests"] for item in test["comparisons"]]
    assert content["verdicts"] == {verdict: verdicts.count(verdict) for verdict in verdicts}
    assert sum(content["verdicts"].values()) == len(assessment.comparisons)


def test_numbers_in_sentences_are_ascii(assessment: Assessment) -> None:
    content = told(assessment)
    sentences = [
        *content["summary"],
        *content["code_layout"],
        *(note for test in content["tests"] for note in test["notes"]),
    ]
    assert any(re.search(r"\(-\d+ %", sentence) for sentence in sentences)
    assert not any(character in sentence for sentence in sentences for character in "−\u00a0\u202f")
