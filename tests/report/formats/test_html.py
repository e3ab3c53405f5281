import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dbversus.report.formats import html
from dbversus.report.model import Assessment
from dbversus.stats.judging.verdicts import NOT_MEASURED_AGAIN

from ..synthetic import HOSTILE, LABELS, SERVER_WORDS

VOID = {"meta", "input", "br", "link", "img", "hr"}
SVG_LEAVES = {"rect", "line", "circle", "path", "polyline"}


@pytest.fixture(scope="module")
def page(assessment: Assessment) -> str:
    return html.render(assessment)


class Outline(HTMLParser):
    """Collects ids, links, scripts and text; fails on tags that do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append((tag, named))
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named["href"] or ""] if "href" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SVG_LEAVES

    def handle_endtag(self, tag: str) -> None:
        optional = {"p", "li"}
        while self.open[-1] != tag and self.open[-1] in optional:
            self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    parsed = Outline()
    parsed.feed(page)
    return parsed


def test_it_is_well_formed(outline: Outline) -> None:
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert all(link[1:] in outline.ids for link in outline.links)


def test_every_test_has_a_row_per_target_and_a_part(assessment: Assessment, outline: Outline) -> None:
    rows = [named for tag, named in outline.tags if tag == "tr" and "data-verdict" in named]
    assert len(rows) == len(assessment.comparisons)
    assert {f"test-{test.name}" for test in assessment.tests} <= set(outline.ids)


def test_numbers_stand_with_interval_and_count(assessment: Assessment, outline: Outline) -> None:
    text = " ".join(" ".join(outline.text).split())
    finding = next(item for item in assessment.findings if item.test == "update-index" and "cpu" in item.metric)
    assert f"{finding.ratio:.3f} [{finding.low:.3f}, {finding.high:.3f}]" in text
    assert "µs/op" in text
    assert (
        "95\u00a0% intervals over blocks, valid at any look" in text
        or "95 % intervals over blocks, valid at any look" in text
    )


def test_texts_of_others_are_shown_and_not_run(page: str, outline: Outline) -> None:
    assert HOSTILE not in page
    text = " ".join(outline.text)
    assert LABELS[2] in text
    assert SERVER_WORDS in text
    assert sum(tag == "script" for tag, _ in outline.tags) == 1


def test_it_loads_nothing(page: str, outline: Outline) -> None:
    assert not [named for _, named in outline.tags if "src" in named]
    assert not [tag for tag, _ in outline.tags if tag in ("link", "iframe", "img", "use", "image")]
    assert all(link.startswith("#") for link in outline.links)
    assert set(re.findall(r"url\((.)", page)) == {"#"}
    assert not re.search(r"https?:|@import|fetch\(|XMLHttpRequest", page)


def test_one_target_and_no_tests(assessment: Assessment) -> None:
    alone = replace(assessment, targets=assessment.targets[:1], tests=(), findings=(), plans=(), settings=())
    assert "nothing to compare" in html.render(alone)


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

PROBE = """<script>addEventListener("load", () => setTimeout(() => {
  const seen = (chart) => chart.getBoundingClientRect().height > 200;
  const charts = [...document.querySelectorAll("details.test[open] .plot")].filter(seen);
  const read = (chart) => chart.nextElementSibling.textContent;
  const press = (chart, key) => { chart.dispatchEvent(new KeyboardEvent("keydown", { key })); return read(chart); };
  const point = (chart) => {
    const line = chart.querySelector(".curve"), at = [...line.points].at(-1).matrixTransform(line.getScreenCTM());
    chart.dispatchEvent(new PointerEvent("pointermove", { clientX: at.x, clientY: at.y }));
    return read(chart);
  };
  document.querySelector('[data-sort="m0"]').click();
  document.querySelector('button[data-verdict="regression"]').click();
  const rows = [...document.querySelectorAll("#verdict-table tbody tr")].filter((row) => !row.hidden);
  parent.postMessage(JSON.stringify({
    charts: charts.length, focusable: charts.every((chart) => chart.tabIndex === 0),
    keys: ["ArrowRight", "ArrowRight", "End", "Home", "Escape"].map((key) => press(charts[0], key)),
    pointed: point(charts.at(-1)), requests: performance.getEntriesByType("resource").length,
    open: document.querySelectorAll("details.test[open]").length,
    fits: document.documentElement.scrollWidth <= innerWidth, first: rows[0].dataset.name,
    verdicts: [...new Set(rows.map((row) => row.dataset.verdict))], run: typeof window.harmed }), "*");
}, 500))</script>"""

FRAME = """<iframe src="page.html#test-update-index" style="width:390px;height:800px"></iframe>
<script>addEventListener("message", (event) => { document.body.textContent = "PROBE" + event.data + "END"; });</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_in_a_browser_on_a_phone(page: str, tmp_path: Path) -> None:
    """Opens a test by its address, reads figures out of its charts, sorts and filters, fits 390 px, and asks for nothing else."""
    (tmp_path / "page.html").write_text(page.replace("</body>", f"{PROBE}</body>"))
    (tmp_path / "frame.html").write_text(FRAME)
    seen = probe(tmp_path)
    assert seen["open"] == 1
    assert seen["charts"] == 3
    assert seen["focusable"]
    first, second, final, again, none = seen["keys"]
    assert first.startswith(f"{LABELS[1]}, ") and second.startswith((f"{LABELS[1]}, ", f"{LABELS[2]}, "))
    assert re.search(r"all blocks: [+−]\d+\.\d\d \[.*\] %$", final)
    assert (again, none) == (first, "")
    assert re.search(r", 99\.\d+ % ≤ [\d,.]+ µs$", seen["pointed"])
    assert seen["requests"] == 0
    assert seen["fits"]
    assert seen["verdicts"] == ["regression"]
    assert seen["first"] == "update-nonindex"
    assert seen["run"] == "undefined"


def probe(folder: Path) -> dict[str, Any]:
    assert CHROMIUM
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    where = [
        f"--user-data-dir={folder}/profile",
        "--virtual-time-budget=15000",
        "--dump-dom",
        f"file://{folder}/frame.html",
    ]
    dom = subprocess.run([CHROMIUM, *options, *where], capture_output=True, text=True, timeout=600, check=True).stdout
    found = re.search("PROBE(.*?)END", dom)
    assert found, dom[:500]
    answer: dict[str, Any] = json.loads(unescape(found[1]))
    return answer


def test_a_note_that_is_the_same_for_all_tests_is_said_once(assessment: Assessment) -> None:
    note = "measured on aged data; each server was driven for 3 s per block"
    tests = tuple(replace(test, notes=(note, f"of {test.name}")) for test in assessment.tests)
    page = html.render(replace(assessment, tests=tests))
    assert page.count("Measured on aged data") == 1
    assert all(page.count(f"Of {test.name}<") == 1 for test in tests)


def test_figures_that_differ_stand_before_those_that_are_folded(assessment: Assessment) -> None:
    part = (
        html.render(assessment).partition('id="test-update-index"')[2].partition('</details>\n<details class="test"')[0]
    )
    told, folded, others = part.partition("figures not shown to differ")
    assert folded and "server CPU per op" in told and "context switches" not in told
    assert ">waiting<" in told + others and ">CPU<" in told


def test_code_in_sentences_is_code(assessment: Assessment) -> None:
    page = html.render(replace(assessment, outcome="interrupted; `dbversus resume` goes on with it."))
    assert "<code>dbversus resume</code> goes on" in page


def test_what_was_not_measured_again_says_so_where_it_stands(assessment: Assessment) -> None:
    item = next(one for one in assessment.comparisons if one.test == "update-index")
    findings = {name: replace(one, note=NOT_MEASURED_AGAIN) for name, one in item.findings.items()}
    tests = tuple(
        replace(test, comparisons=(replace(item, findings=findings), *test.comparisons[1:]))
        if test.name == item.test
        else test
        for test in assessment.tests
    )
    table = html.render(replace(assessment, tests=tests)).partition('id="verdict-table"')[2].partition("</table>")[0]
    assert "<small>not measured again</small>" in table
