"""docs/posts.md and docs/posts/: every claim is there, and kept runs are scored again by one command."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import posts_page
import pytest

from dbversus.errors import UsageError
from dbversus.posts.kept import write_run
from dbversus.posts.reading import list_posts, load_post
from dbversus.posts.run import PostRun, Reason
from dbversus.posts.scoring import score_together
from dbversus.posts.unseen import Change, unseen
from tests.posts.test_scoring import AS_PUBLISHED, POST
from tests.report.pairs import Contender, write_pairs

HEAD = "# Posts\n\n## Results\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/posts.md").write_text(HEAD)
    return tmp_path / "docs"


def test_the_pages_in_docs_are_what_the_kept_runs_say() -> None:
    scored = posts_page.scored_runs(posts_page.DOCS / posts_page.KEPT)
    page = (posts_page.DOCS / posts_page.PAGE).read_text()
    assert posts_page.with_table(page, scored) == page
    for name in list_posts():
        assert (posts_page.DOCS / f"posts/{name}.md").read_text() == posts_page.page_of(
            load_post(name), scored.get(name)
        )
    assert {path.stem for path in (posts_page.DOCS / "posts").iterdir()} == set(list_posts())


def test_nothing_is_said_of_a_post_that_was_not_run(docs: Path) -> None:
    posts_page.write_pages(docs)
    page = (docs / "posts.md").read_text()
    assert page.startswith(HEAD) and page.count(posts_page.NOT_RUN) == 18
    of_post = (docs / f"posts/{POST}.md").read_text()
    numbers = re.findall(r"^\| (\w+) \|", of_post, re.MULTILINE)
    assert numbers == ["claim", *(claim.id for claim in load_post(POST).claims)]


def test_a_build_that_cannot_be_had_is_named_with_its_claims(docs: Path) -> None:
    posts_page.write_pages(docs)
    said = (docs / "posts/2017-11-20-innodb-io.md").read_text()
    assert (
        "Without 5.0.96, of claims 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18: 5.0.96 cannot" in said
    )


def test_the_newest_run_of_a_post_is_kept_and_scored_without_its_folder(tmp_path: Path, docs: Path) -> None:
    for number, name in enumerate(("new", "old")):
        write_pairs(tmp_path / name, AS_PUBLISHED, spec={"posts": [POST]}, at_unix_ns=10**18 - number)
    write_pairs(tmp_path / "other", AS_PUBLISHED)
    newest = posts_page.newest_results([tmp_path])
    assert newest == {POST: tmp_path / "new"} == posts_page.newest_results([tmp_path / "new"])
    posts_page.keep([tmp_path], docs / posts_page.KEPT)
    (tmp_path / "new/journal.jsonl").unlink()
    posts_page.write_pages(docs)
    page, of_post = (docs / "posts.md").read_text(), (docs / f"posts/{POST}.md").read_text()
    row = next(line for line in page.splitlines() if line.startswith(f"| [{POST}]"))
    figures, *counts = map(int, re.findall(r"\| (\d+)(?= )", row))
    assert figures == sum(counts) == 93 and page.count(posts_page.NOT_RUN) == 17
    assert "| PostgreSQL 13.1 ÷ MySQL 8.0.21 | 1.400 | 1.427 \\[1.415, 1.439\\] | found | 4 |" in of_post
    posts_page.write_pages(docs)
    assert (docs / "posts.md").read_text() == page


def test_the_largest_disagreements_are_in_the_order_of_their_size(tmp_path: Path, docs: Path) -> None:
    write_pairs(tmp_path / "run", AS_PUBLISHED, spec={"posts": [POST]})
    posts_page.keep([tmp_path], docs / posts_page.KEPT)
    posts_page.write_pages(docs)
    part = (docs / "posts.md").read_text().partition("largest disagreements")[2].partition("## ")[0]
    rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| [")]
    apart = [
        max(ours / said, said / ours) for said, ours in ((float(row[4]), float(row[5].split()[0])) for row in rows)
    ]
    assert apart == sorted(apart, reverse=True) and apart[0] > 6 and len(rows) <= 10
    assert rows[0][-1] == "11.13 for 11.10, 5.6.24 for 5.6.49 |"


def test_a_ratio_that_several_claims_are_about_stands_once_among_disagreements(tmp_path: Path, docs: Path) -> None:
    write_pairs(tmp_path / "run", AS_PUBLISHED, spec={"posts": [POST]})
    posts_page.keep([tmp_path], docs / posts_page.KEPT)
    posts_page.write_pages(docs)
    part = (docs / "posts.md").read_text().partition("largest disagreements")[2].partition("## ")[0]
    rows = [line.split(" | ")[1:] for line in part.splitlines() if line.startswith("| [")]
    assert len(rows) == len({tuple(row) for row in rows}) and "8, S3 | update-index" in part


def test_beside_a_disagreement_stands_what_other_servers_of_the_post_have() -> None:
    scored = posts_page.scored_runs(posts_page.DOCS / posts_page.KEPT)["2017-11-20-innodb-io"].post
    found = {(one.server, one.builds): one for _, one in scored.figures() if one.test == "full-scan.pre"}
    said = {place: posts_page._reason([one], scored) for place, one in found.items()}
    assert said["i3 NUC", "8.0.3 ÷ 5.6.35"].startswith("i3 NUC (i5 NUC: 1.400); 8.0.12 for 8.0.3")
    alone = [one for _, one in scored.figures() if one.published and not one.server]
    assert alone and all("NUC" not in posts_page._reason([one], scored) for one in alone)


def test_what_changed_besides_stands_on_the_page_of_the_post_with_its_reason(tmp_path: Path, docs: Path) -> None:
    more = Contender("postgres:12.6", "postgres", "12.6", cpu=2.0)  # in no figure of this post
    write_pairs(tmp_path / "run", (*AS_PUBLISHED, more), spec={"posts": [POST]})
    run = posts_page.kept_run(tmp_path / "run")
    (docs / posts_page.KEPT).mkdir(parents=True)
    reasons = [
        Reason(one.finding.test, one.finding.target, "Likely cause: none that was planted.") for one in _changes(run)
    ]
    assert reasons
    write_run(replace(run, reasons=reasons[:1]), docs / posts_page.KEPT / f"{POST}.json.gz")
    posts_page.write_pages(docs)
    page = (docs / f"posts/{POST}.md").read_text().partition("## What the post could not see")[2].partition("## ")[0]
    assert page.count("Likely cause: none that was planted.") == 1 and f"| {reasons[0].test} |" in page
    row = next(line for line in (docs / "posts.md").read_text().splitlines() if "#what-the-post-could-not-see" in line)
    assert row.endswith(f"| {len(reasons)} | 1 |")


def _changes(run: PostRun) -> Sequence[Change]:
    return unseen(run, score_together({POST: run}, load_post(POST))).changes


@pytest.mark.parametrize(
    ("words", "said"),
    [(["keep"], "keep needs results folders"), (["keep", "/no/such"], "/no/such holds no results of a post")],
)
def test_nothing_to_keep_is_refused_and_changes_nothing(
    docs: Path, words: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts_page, "DOCS", docs)
    with pytest.raises(UsageError, match=said):
        posts_page.main(words)
    assert [path.name for path in docs.iterdir()] == ["posts.md"]
