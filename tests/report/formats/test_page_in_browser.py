"""The page in Chromium: sort, filter, open, read out, by keyboard alone, on paper, without its script, and what axe says of it.

Needs Debian's `chromium`, and Playwright and axe from PyPI (CONTRIBUTING.md); left out where they are missing.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbversus.report.formats import html
from dbversus.report.model import Assessment

from ..many import with_targets
from ..synthetic import LABELS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright: Any = pytest.importorskip("playwright.sync_api", reason="needs playwright (CONTRIBUTING.md)")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")

KINDS = ("two", "three", "twelve")
OPEN_ALL = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
COUNT_WHEN_PRINTED = """
window.opened = 0;
addEventListener("beforeprint", () => { opened = document.querySelectorAll("details[open]").length; })"""

Visit = Callable[..., Any]
"""Opens a page by its name; keywords are those of a browser context."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def addresses(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Pages of two targets, three (one with a hostile name) and twelve."""
    folder = tmp_path_factory.mktemp("pages")
    made = {"two": with_targets(assessment, 2), "three": assessment, "twelve": with_targets(assessment, 12)}
    for name, one in made.items():
        html.write(one, folder / f"{name}.html")
    return {name: f"file://{folder}/{name}.html" for name in made}


@pytest.fixture
def visit(browser: Any, addresses: dict[str, str]) -> Iterator[Visit]:
    """Whatever a test does on its pages, nothing is said on their consoles, and nothing is asked of any network."""
    contexts, said = [], []

    def open_page(name: str, width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith("file://") else said.append(one.url))
        page.goto(addresses[name])
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def shown(page: Any, selector: str) -> list[str]:
    texts: list[str] = page.locator(f"{selector}:visible").all_inner_texts()
    return texts


def figures(texts: list[str]) -> list[float]:
    return [float(found[0]) for text in texts if (found := re.search(r"\d+\.\d+", text))]


@pytest.mark.parametrize("name", KINDS)
def test_verdicts_sort_by_any_column(visit: Visit, name: str) -> None:
    page = visit(name)
    for column, cells in (("m0", "td.ratio[data-title='CPU/op']"), ("m1", "td.ratio[data-title='throughput']")):
        head = page.locator(f'#verdict-table [data-sort="{column}"]')
        head.click()
        found = figures(shown(page, f"#verdict-table tbody {cells}"))
        assert len(found) > 5 and found == sorted(found)
        assert head.locator("..").get_attribute("aria-sort") == "ascending"
        head.click()
        again = figures(shown(page, f"#verdict-table tbody {cells}"))
        assert again == sorted(found, reverse=True)
    page.locator('#verdict-table [data-sort="order"]').click()
    first = page.locator("#verdict-table tbody tr").first
    assert first.get_attribute("data-name") == "point-query"


def test_a_heat_table_sorts_within_its_groups(visit: Visit) -> None:
    page = visit("twelve")
    page.locator(".by-0 .heat thead button").nth(3).click()
    for body in page.locator(".by-0 .heat tbody").all():
        assert "group" in (body.locator("tr").first.get_attribute("class") or "")
        found = figures(body.locator("tr:not(.group) td:nth-child(4)").all_inner_texts())
        assert found == sorted(found)


def test_one_filter_for_verdicts_heat_tables_trends_and_tests(visit: Visit) -> None:
    page = visit("three")
    page.locator("#find").fill("UPDATE")
    assert {text.split("\n")[0] for text in shown(page, "#verdict-table th[scope=row] a")} == {
        "update-index",
        "update-nonindex",
    }
    assert shown(page, ".by-0 .heat tbody tr:not(.group) th") == ["update-index", "update-nonindex"]
    assert shown(page, ".by-0 figure[data-of] figcaption") == ["update-index", "update-nonindex"]
    assert page.locator("details.test:visible").count() == 2
    assert shown(page, "#shown") == ["4 of 24 shown"]
    page.locator("#find").fill("")
    chip = page.locator('button[data-verdict="wrong result"]')
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    assert shown(page, ".by-0 .heat tbody tr:not(.group) th") == ["random-points-100"]
    chip.click()
    page.locator("#group").select_option("writes")
    page.locator("#target").select_option("2")
    assert page.locator("#verdict-table tbody tr:visible").count() == 3
    page.locator("#group").select_option("")
    page.locator("#target").select_option("")
    assert page.locator("#verdict-table tbody tr:visible").count() == 24
    # a test that the filter hides is shown where its address is asked for
    page.locator("#find").fill("scan")
    page.goto(f"{page.url.partition('#')[0]}#test-insert")
    assert page.locator("#test-insert").get_attribute("open") == ""
    assert page.locator("#test-insert").is_visible()


def test_the_metric_of_heat_tables_and_trends_is_chosen(visit: Visit) -> None:
    page = visit("three")
    assert page.locator(".heat:visible").count() == 1
    page.get_by_label("throughput", exact=True).check()
    assert shown(page, ".heat caption") == [f"throughput: target over {LABELS[0]}"]
    assert page.locator("#trends-title ~ details .by:visible h3").inner_text() == "throughput"
    assert page.locator(".heat small:visible").count() > 10
    page.get_by_label("with intervals").uncheck()
    assert page.locator(".heat small:visible").count() == 0


def test_tests_open_and_charts_are_read_with_the_pointer(visit: Visit) -> None:
    page = visit("three")
    page.locator("#test-update-index > summary").click()
    chart = page.locator("#test-update-index .plot").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert re.search(r"block \d: [+−]\d+\.\d\d %$", page.locator("#test-update-index output").first.inner_text())
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details.test:not([open])").count() == 0
    page.get_by_role("button", name="Close all").click()
    assert page.locator("details.test[open]").count() == 0
    plane = page.locator("#plane-title ~ .planes .plot").first
    plane.hover()
    assert "throughput" in plane.locator("xpath=following-sibling::output").inner_text()


def test_all_of_it_works_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit("three")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "verdicts"
    page.locator('#verdict-table [data-sort="m0"]').focus()
    page.keyboard.press("Enter")
    found = figures(shown(page, "#verdict-table tbody td.ratio[data-title='CPU/op']"))
    assert found == sorted(found)
    page.locator("#test-update-index > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#test-update-index").get_attribute("open") == ""
    chart, said = page.locator("#test-update-index .plot").first, page.locator("#test-update-index output").first
    chart.focus()
    page.keyboard.press("ArrowRight")
    first = said.inner_text()
    page.keyboard.press("End")
    assert "all blocks" in said.inner_text() and first != said.inner_text()
    page.keyboard.press("Home")
    assert said.inner_text() == first
    page.keyboard.press("Escape")
    assert said.inner_text() == ""
    plane = page.locator("#plane-title ~ .planes .plot").first
    plane.focus()
    page.keyboard.press("ArrowRight")
    assert "CPU/op" in plane.locator("xpath=following-sibling::output").inner_text()


@pytest.mark.parametrize("name", KINDS)
def test_on_paper_all_tests_are_open_and_there_are_no_controls(visit: Visit, name: str, tmp_path: Path) -> None:
    page = visit(name)
    page.evaluate(COUNT_WHEN_PRINTED)
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert page.evaluate("opened") == page.locator("details").count()
    assert page.locator("details.test[open]").count() == 0  # and closed again
    page.emulate_media(media="print")
    assert page.locator(".filters:visible, .choose:visible, .skip:visible").count() == 0
    assert page.locator(".heat:visible").count() == page.locator(".heat").count()


def test_tables_of_two_targets_are_no_wider_than_paper(visit: Visit) -> None:
    page = visit("two", width=718)  # A4 without Chromium's margins
    page.emulate_media(media="print")
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_without_the_script_everything_is_there(visit: Visit) -> None:
    page = visit("three", java_script_enabled=False)
    assert page.locator("button:visible, input[type=search]:visible, select:visible").count() == 0
    assert page.locator("#verdict-table tbody tr:visible").count() == 24
    page.get_by_label("IO/op", exact=True).check()
    assert shown(page, ".heat caption") == [f"IO/op: target over {LABELS[0]}"]
    page.locator("#test-scan > summary").click()
    assert page.locator("#test-scan .plot:visible").count() == 3


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_needs_no_scrolling_sideways(visit: Visit, name: str, width: int) -> None:
    page = visit(name, width=width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", KINDS)
def test_axe_finds_nothing(visit: Visit, name: str, scheme: str) -> None:
    axe: Any = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = visit(name, color_scheme=scheme)
    page.evaluate(OPEN_ALL)
    page.locator('button[data-verdict="regression"]').click()
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
