"""`make docs`: the pages of the site, and where their links lead."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docs_site
import pytest
from typer.main import get_command

from dbversus.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("site") / "pages"
    docs_site.main(into)
    return into


def menu(entries: Any) -> Iterator[str]:
    """Pages of the menu, in order."""
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from menu(value) if isinstance(value, list) else [value]


def test_the_menu_has_a_page_for_each_verb_and_no_page_that_is_not_there(site: Path) -> None:
    shown = list(menu(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    root: Any = get_command(app)
    assert {f"verbs/{name}.md" for name in root.commands} <= set(shown)
    assert [name for name in shown if not (site / name).is_file()] == []


def test_the_menu_has_every_guide_and_all_that_is_looked_up(site: Path) -> None:
    shown = set(menu(tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]))
    pages = [
        *site.glob("*.md"),
        *(page for folder in ("suites", "evidence", "reference") for page in site.glob(f"{folder}/*.md")),
    ]
    assert [name for page in pages if (name := page.relative_to(site).as_posix()) not in shown] == []


def test_a_page_of_a_verb_has_what_help_says(site: Path) -> None:
    compare = (site / "verbs/compare.md").read_text()
    assert compare.startswith("# dbversus compare\n\n```\ndbversus compare [OPTIONS] {targets}...\n```\n")
    assert (
        "| `targets...` | Targets, the first is the base" in compare and "| `--quiet`, `-q` | No progress. |" in compare
    )
    assert "[docs/trust.md](../trust.md)" in compare
    assert "\n## dbversus configs from\n" in (site / "verbs/configs.md").read_text()


def test_links_of_all_pages_lead_to_files_of_the_site(site: Path) -> None:
    broken = []
    for page in site.rglob("*.md"):
        for link in re.findall(r"\]\(([^)\s#]+)", CODE.sub("", page.read_text())):
            if not re.match(r"[a-z]+:", link) and not (page.parent / link).is_file():
                broken.append((str(page.relative_to(site)), link))
    assert broken == []


def test_links_are_made_to_lead_to_where_pages_are_on_the_site() -> None:
    text = (
        "[a](../protocol.md#all-the-work) [`b`](../../README.md) [c](../../src/dbversus/api.py) [d](#here)\n"
        "[e](../../SECURITY.md) [f](https://a.b/c.md)\n```\n[g](../gone.md)\n```\n(docs/host.md) `docs/host.md`\n"
    )
    page, others = docs_site.page("docs/evidence/looks.md", text)
    assert page == (
        "[a](../protocol.md#all-the-work) [`b`](../index.md) c [d](#here)\n"
        "[e](../repository/SECURITY.md) [f](https://a.b/c.md)\n```\n[g](../gone.md)\n```\n"
        "([docs/host.md](../host.md)) `docs/host.md`\n"
    )
    assert others == ["README.md", "SECURITY.md"]
