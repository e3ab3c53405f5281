"""Charts: their figures are those of the tables, they say what they leave out, and a report with many is light."""

import lzma
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.charts.slots import slot_chart
from dbversus.report.charts.times import time_chart
from dbversus.report.formats import html
from dbversus.report.model import Assessment, TestPart
from dbversus.report.words import finding_text, ratio
from dbversus.results.read import open_results
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Verdict

from ..many import with_targets
from ..synthetic import HOSTILE, LABELS, TRUTHS, write_results

RUNS = Path(__file__).parents[2] / "data/runs"
CHARTS = r'<svg class="(?:plot|legend-key|marks)".*?</svg>'
MOST_BYTES = 400_000


def part(assessment: Assessment, name: str) -> TestPart:
    return next(test for test in assessment.tests if test.name == name)


def drawn(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


def said(root: ElementTree.Element, index: int) -> dict[str, str]:
    """What the marks of a target say: of what → how much."""
    marks = [each for each in of_class(root, "marked") if f"t{index}" in each.get("class", "").split()]
    return {at: how_much for each in marks for at, how_much in read(root, each)}


def read(root: ElementTree.Element, line: ElementTree.Element) -> list[tuple[str, str]]:
    """What each point of a line says; of what, it has from the whole chart where all lines speak of the same."""
    texts = line.get("data-say", "").split("|")
    at = (line.get("data-at") or root.get("data-at") or "").split("|")
    assert len(at) >= len(texts) == len(line.get("points", "").split())
    return list(zip(at, texts, strict=False))


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"[+-][\d.]+", text.replace("−", "-"))]


def test_blocks_and_the_ratio_over_all_are_those_of_the_tables(assessment: Assessment) -> None:
    test = part(assessment, "range-notcovered-si")
    root = drawn(slot_chart(test, CPU, LABELS))
    for index in (1, 2):
        finding = test.comparisons[index - 1].findings[CPU]
        assert finding.ratio and finding.low and finding.high
        figures = said(root, index)
        assert list(figures) == ["block 1", "block 2", "block 3", "block 4", "all blocks"]
        wanted = [100 * (value - 1) for value in (finding.ratio, finding.low, finding.high)]
        assert numbers(figures["all blocks"]) == pytest.approx(wanted, abs=0.0051)
        for block, log in test.slots[index - 1].blocks[CPU].items():
            mean = math.expm1(log) * 100
            assert numbers(figures[f"block {block + 1}"]) == pytest.approx([mean], abs=0.0051)


def test_every_slot_is_a_dot_or_is_counted(assessment: Assessment) -> None:
    for test in assessment.tests:
        root = drawn(slot_chart(test, THROUGHPUT, LABELS))
        shown = sum(len(re.findall(r"-?\d+[ -]", f"{path.get('d')} ")) // 2 for path in of_class(root, "dots"))
        note = " ".join(text.text or "" for text in of_class(root, "beyond"))
        beyond = int(note.split()[0]) if note else 0
        slots = sum(len(logs) for target in test.slots for logs in target.ratios[THROUGHPUT].values())
        assert shown + beyond == slots
        assert beyond <= 0.5 * slots


def test_of_many_slots_one_in_so_many_is_drawn_and_it_is_said(assessment: Assessment) -> None:
    test = part(assessment, "point-query")
    logs = tuple(0.001 * (number % 7) for number in range(1_250))
    many = replace(test, slots=(replace(test.slots[0], ratios={CPU: {0: logs, 1: logs}}), *test.slots[1:]))
    root = drawn(slot_chart(many, CPU, LABELS))
    first = next(path for path in of_class(root, "dots") if "t1" in (path.get("class") or ""))
    assert len(re.findall(r"-?\d+[ -]", f"{first.get('d')} ")) // 2 <= 2_500 / 3 + 1
    assert "1 of 3 drawn" in "".join(text.text or "" for text in of_class(root, "beyond"))


def test_axes_have_units_and_labels_and_hold_all_marks(assessment: Assessment) -> None:
    test = part(assessment, "update-index")
    for picture, unit in (
        (slot_chart(test, CPU, LABELS), "difference from the base, %"),
        (time_chart(test, LABELS), "µs"),
    ):
        root = drawn(picture)
        texts = [text.text or "" for text in root.iter("text")]
        assert unit in texts
        for axis in ("x", "y"):
            labels = [text.text or "" for text in of_class(root, axis)[0]]
            assert sum(bool(re.fullmatch(r"[−\d.,]+", label)) for label in labels) >= 3
        for line in of_class(root, "marked") + of_class(root, "curve"):
            for point in line.get("points", "").split():
                x, y = map(float, point.split(","))
                assert 46 <= x <= 326 and 20 <= y <= 206


def test_margin_and_whiskers(assessment: Assessment) -> None:
    root = drawn(slot_chart(part(assessment, "update-index"), CPU, LABELS))
    assert len(of_class(root, "band")) == 1
    assert len(of_class(root, "whisker")) == 2
    spoken = root.get("aria-label", "")
    assert LABELS[1] in spoken and said(root, 1)["all blocks"] in spoken


def test_response_times_have_the_percentiles_of_the_table(assessment: Assessment) -> None:
    test = part(assessment, "point-query")
    root = drawn(time_chart(test, LABELS))
    said = dict(read(root, of_class(root, "curve")[0]))
    table = test.latency[LABELS[0]].percentiles_us[99.0].value
    assert float(said["99"].replace(",", "")) == pytest.approx(table, rel=1e-3)


def test_names_of_others_are_text(assessment: Assessment) -> None:
    for test in assessment.tests[:1]:
        picture = slot_chart(test, CPU, LABELS) + time_chart(test, LABELS)
        assert HOSTILE not in picture and LABELS[2] in [
            title.text for title in drawn(f"<p>{picture}</p>").iter("title")
        ]


def test_a_wrong_result_has_slots_and_no_ratio(assessment: Assessment) -> None:
    test = part(assessment, "random-points-100")
    assert test.comparisons[0].verdict == Verdict.WRONG_RESULT
    assert "all blocks" not in said(drawn(slot_chart(test, CPU, LABELS)), 1)


def test_nothing_measured_is_no_chart(assessment: Assessment) -> None:
    test = part(assessment, "point-query")
    empty = tuple(replace(each, ratios={CPU: {}, THROUGHPUT: {}}) for each in test.slots)
    assert slot_chart(replace(test, slots=empty), CPU, LABELS) == ""
    assert time_chart(replace(test, latency={}), LABELS) == ""


class Text(HTMLParser):
    """All that is read on a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def __str__(self) -> str:
        return " ".join(" ".join(self.words).split())


def weight_of_charts(page: str) -> int:
    return sum(len(picture.encode()) for picture in re.findall(CHARTS, page, re.DOTALL))


def test_a_stored_run_is_light_and_has_every_name_and_ratio(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(lzma.decompress((RUNS / "postgres-11-13.jsonl.xz").read_bytes()))
    assessment = build_assessment(open_results(tmp_path))
    page = html.render(assessment)
    text = str(Text(page))
    assert 0 < weight_of_charts(page) < MOST_BYTES / 2
    for comparison in assessment.comparisons:
        assert comparison.test in text
        assert all(ratio(each.ratio) in text for each in comparison.findings.values() if each.judged and each.ratio)
    assert len(re.findall('class="plot"', page)) == 2 * len(assessment.tests) + 1


def test_one_block_has_an_axis_of_three_labels_too(assessment: Assessment) -> None:
    test = part(assessment, "update-index")
    first = tuple(
        replace(each, ratios={metric: {0: blocks[0]} for metric, blocks in each.ratios.items()}) for each in test.slots
    )
    root = drawn(slot_chart(replace(test, slots=first), CPU, LABELS))
    assert [text.text for text in of_class(root, "x")[0]] == ["first slot", "last slot", "all", "block"]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    """As many slots as a comparison of 43 tests has in all: after 4 to 12 blocks, 7 on average (docs/performance.md)."""
    truths = tuple(replace(TRUTHS[n % len(TRUTHS)], name=f"{TRUTHS[n % len(TRUTHS)].name}-{n}") for n in range(43))
    folder = tmp_path_factory.mktemp("large") / "results"
    return build_assessment(open_results(write_results(folder, 2, rows=36, blocks=7, truths=truths)))


@pytest.mark.slow
def test_a_page_of_two_targets_is_light(large: Assessment) -> None:
    page = html.render(large)
    assert len(re.findall('class="plot"', page)) == 3 * 43 + 1
    assert weight_of_charts(page) < MOST_BYTES, weight_of_charts(page)
    assert len(page.encode()) < 1_000_000, len(page.encode())


@pytest.mark.slow
def test_a_page_of_twenty_targets_is_light_and_leaves_no_ratio_out(large: Assessment) -> None:
    many = with_targets(large, 20)
    page = html.render(many)
    assert len(page.encode()) < 4_000_000, len(page.encode())
    text = str(Text(page))
    for comparison in many.comparisons:
        assert all(finding_text(each) in text for each in comparison.findings.values() if each.judged and each.ratio)
