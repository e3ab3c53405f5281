"""Links in the documentation lead somewhere: to a file that is there, and to a heading that it has."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/data/**/*.md")])
SOURCES = ("src/**/*.py", "src/**/*.toml", "src/**/*.j2", "engine/**/*.rs", "tests/**/*.py", "benchmarks/**/*.py")
MOST_WORDS = {
    "the rules": (1100, ["docs/protocol.md"]),
    "trust": (1000, ["docs/trust.md"]),
    "performance": (1000, ["docs/performance.md"]),
    "evidence": (12_000, ["docs/evidence/*.md"]),
    "guides": (36_000, ["docs/*.md", "docs/suites/*.md"]),
}
"""Of a page, or of a part of the documentation. A sign is no word: `|` of a table, `=` of a formula."""
REFERENCE = {ROOT / "docs" / name for name in ("engine-protocol.md", "reference-layouts.md", "posts.md")}
"""Looked up, not read; what else is looked up is in docs/reference, docs/posts and docs/results."""

_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_QUOTE = re.compile(r'(docs/[\w./-]+?\.md),\s+"([^"]+)"')
"""A page as code names it, and in double quotes one of its headings."""
_MENTION = re.compile(r"(?<![\w/.])docs/[\w./-]+?\.(?:md|csv|png|svg)\b")


def broken_links(page: Path) -> Iterator[str]:
    """Relative links of a page whose file or heading is not there."""
    for link in _LINK.findall(_CODE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"{link}: no such file"
        elif heading and heading not in anchors(target):
            yield f"{link}: no such heading"


@cache
def anchors(page: Path) -> frozenset[str]:
    """Names of a page's headings as GitHub makes them: a name that is there already gets a number."""
    found: Counter[str] = Counter()
    names = []
    for title in re.findall(r"^#+ +(.+)$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.strip().lower())
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        names.append(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return frozenset(names)


def files_that_name_pages() -> Iterator[Path]:
    for pattern in (*SOURCES, "*.md", "docs/**/*.md"):
        yield from (file for file in ROOT.glob(pattern) if "target" not in file.parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A title, `code` and +5 %\n# Twice\n# Twice\n[](#twice-1) [](#a-title-code-and-5-) [](page.md) [](https://a.b/c)\n"
        "`[](in-code.md)`\n```\n[](in-a-block.md)\n# no heading\n```\n[](gone.md) [](page.md#no-heading) [](#twice-2)\n"
    )
    found = ["gone.md: no such file", "page.md#no-heading: no such heading", "#twice-2: no such heading"]
    assert list(broken_links(page)) == found


def test_pages_that_code_and_changelog_name_are_there() -> None:
    named = {(name, file) for file in files_that_name_pages() for name in _MENTION.findall(file.read_text())}
    assert len(named) > 20
    assert [(name, str(file)) for name, file in named if not (ROOT / name).is_file()] == []


def test_headings_that_code_quotes_are_there() -> None:
    quoted = {quote for file in files_that_name_pages() for quote in _QUOTE.findall(file.read_text())}
    assert len(quoted) >= 5
    missing = [(name, title) for name, title in quoted if f"\n## {title}\n" not in (ROOT / name).read_text()]
    assert missing == []


def words_in(page: Path) -> int:
    return sum(any(character.isalnum() for character in word) for word in page.read_text().split())


@pytest.mark.parametrize("part", MOST_WORDS)
def test_each_part_is_as_short_as_it_has_to_be(part: str) -> None:
    most, patterns = MOST_WORDS[part]
    pages = {page for pattern in patterns for page in ROOT.glob(pattern)} - REFERENCE
    assert pages, part
    assert sum(words_in(page) for page in pages) <= most
