"""Ratios of many tests in one SVG file."""

from xml.etree import ElementTree

from dbversus.report.charts import standing
from dbversus.report.model import Assessment
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Finding

SVG = "{http://www.w3.org/2000/svg}"


def drawn(assessment: Assessment) -> ElementTree.Element:
    findings: dict[str, dict[str, Finding]] = {}
    for item in assessment.comparisons:
        if finding := item.findings.get(THROUGHPUT):
            findings.setdefault(item.target, {})[item.test] = finding
    return ElementTree.fromstring(standing.draw("throughput", [test.name for test in assessment.tests], findings))


def test_a_column_per_target_and_a_row_per_test_under_one_scale(assessment: Assessment) -> None:
    root = drawn(assessment)
    placed = [element for element in root if element.tag == f"{SVG}svg"]
    columns = sorted({int(element.get("x", "")) for element in placed})
    assert len(columns) == len(assessment.candidates)
    assert columns[1] - columns[0] >= int(placed[0].get("width", ""))
    axes = [element for element in root.iter() if "axis" in element.get("class", "")]
    texts = [[text.text for text in axis] for axis in axes]
    assert len(texts) == len(columns) and texts[0] == texts[1] and len(texts[0]) == 3
    tops = {int(element.get("y", "")) for element in placed}
    assert len(tops) == 1 + len(assessment.tests)


def test_nothing_lies_outside(assessment: Assessment) -> None:
    root = drawn(assessment)
    width, height = (float(root.get(name, "")) for name in ("width", "height"))
    for element in root:
        if element.tag == f"{SVG}svg":
            assert float(element.get("x", "")) + float(element.get("width", "")) <= width
            assert float(element.get("y", "")) + float(element.get("height", "")) <= height
