"""docs/posts.md: every claim that can be checked here, by its number, and what became of it."""

import re
from pathlib import Path

import posts_page

from dbversus.posts.claims import list_posts, load_post
from dbversus.report.assessment import build_assessment
from dbversus.results.read import open_results
from tests.posts.test_scoring import AS_PUBLISHED, POST
from tests.report.pairs import write_pairs


def sections(page: str) -> dict[str, list[str]]:
    """Post → the first cells of its table."""
    parts = re.split(r"^## (2.*)$", page.partition(posts_page.BEGIN)[2], flags=re.MULTILINE)[1:]
    cells = [re.findall(r"^\| ([^ ]+) \|", text, re.MULTILINE) for text in parts[1::2]]
    return {
        name: [cell for cell in found if cell not in ("claim", "---")]
        for name, found in zip(parts[::2], cells, strict=True)
    }


def test_the_page_in_docs_has_every_claim_that_can_be_checked() -> None:
    found = sections(posts_page.PAGE.read_text())
    assert list(found) == list_posts()
    for name, numbers in found.items():
        assert numbers == [claim.id for claim in load_post(name).claims if claim.check != "no"], name


def test_nothing_is_said_of_a_post_that_was_not_run() -> None:
    made = posts_page.with_posts("# Head\n", {})
    assert made.startswith("# Head\n") and made.count(posts_page.NOT_RUN) == 18 + 226
    assert "against" not in made.partition("## 2021-01-10-pg-mem")[2].partition("## ")[0]


def test_of_a_post_that_was_run_the_newest_results_count(tmp_path: Path) -> None:
    for number, name in enumerate(("new", "old")):
        write_pairs(tmp_path / name, AS_PUBLISHED, spec={"posts": [POST]}, at_unix_ns=10**18 - number)
    write_pairs(tmp_path / "other", AS_PUBLISHED)
    newest = posts_page.newest_of_posts([tmp_path])
    assert newest == {POST: tmp_path / "new"} == posts_page.newest_of_posts([tmp_path / "new"])
    run = build_assessment(open_results(newest[POST]))
    made = posts_page.with_posts("", {POST: run})
    assert "against 1.400: found" in made and made.count(posts_page.NOT_RUN) < 18 + 226
    assert made == posts_page.with_posts(made, {POST: run})


def test_what_the_page_has_of_other_posts_stays(tmp_path: Path) -> None:
    write_pairs(tmp_path / "run", AS_PUBLISHED, spec={"posts": [POST]})
    made = posts_page.with_posts("# Head\n", {POST: build_assessment(open_results(tmp_path / "run"))})
    assert posts_page.with_posts(made, {}) == made
    page = posts_page.PAGE.read_text()
    assert posts_page.with_posts(page, {}) == page
