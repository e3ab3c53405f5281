#!/usr/bin/env python
"""Writes docs/posts.md: published posts, their commands, and what became of their claims. `tools/posts_page.py [RUNS …]`.

RUNS are results folders, or folders of such: of each post the newest experiment that names it counts. What the page has of a post
that is not in RUNS stays, since a post takes up to an hour, and its folder may be gone.
"""

import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from dbversus.experiment.asked.bundled import POSTS, find_experiment
from dbversus.posts.claims import Post, list_posts, load_post
from dbversus.posts.scored import ClaimStatus, PostPart
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.markdown import claims_parts, escape, table
from dbversus.report.model import Assessment
from dbversus.report.words import experiment_facts
from dbversus.results.journal import read_header
from dbversus.results.read import open_results
from dbversus.results.schema import JOURNAL
from dbversus.units import count_of

PAGE = Path(__file__).resolve().parents[1] / "docs/posts.md"
BEGIN = "<!-- made by tools/posts_page.py, from results and from experiments/posts -->\n"
NOT_RUN = "not run yet"
WIDTH = 150
_COUNTED = (ClaimStatus.FOUND, ClaimStatus.IN_PART, ClaimStatus.NOT_FOUND)


def main() -> None:
    newest = newest_of_posts(map(Path, sys.argv[1:]))
    runs = {name: build_assessment(open_results(folder)) for name, folder in newest.items()}
    PAGE.write_text(with_posts(PAGE.read_text(), runs))


def newest_of_posts(places: Iterable[Path]) -> dict[str, Path]:
    """Post → the folder of the newest experiment that repeats it, in `places` or right below them."""
    found: dict[str, tuple[int, Path]] = {}
    for journal in (path for place in places for glob in (JOURNAL, f"*/{JOURNAL}") for path in place.glob(glob)):
        header = read_header(journal)
        for name in header.spec.get("posts", []):
            found[name] = max(found.get(name, (0, journal.parent)), (header.at_unix_ns or 0, journal.parent))
    return {name: folder for name, (_, folder) in found.items()}


def with_posts(page: str, runs: Mapping[str, Assessment]) -> str:
    """The page with what is made under its head; of posts that are not in `runs` it keeps what it has."""
    head, _, made = page.partition(BEGIN)
    before = _said_of_posts(made)
    counts, sections = {}, []
    for name in list_posts():
        if name in runs:
            counts[name] = _counts(_part(name, runs[name]))
            sections += _section(load_post(name), runs[name])
        elif name in before:
            counts[name], section = before[name]
            sections.append(section)
        else:
            sections += _section(load_post(name), None)
    return head + BEGIN + "\n" + "\n\n".join([_overview(counts), *sections]) + "\n"


def _said_of_posts(made: str) -> dict[str, tuple[list[str], str]]:
    """Post that was run → its counts and its section, as they stand on the page."""
    counts = {
        row[1]: row[2].split(" | ")
        for row in re.finditer(r"^\| \[(.+?)\].*? \| \d+ \| \d+ \| (.+) \|$", made, re.MULTILINE)
    }
    parts = re.split(r"^(?=## 2)", made, flags=re.MULTILINE)[1:]
    sections = {part.partition("\n")[0].removeprefix("## "): part.strip() for part in parts}
    return {name: (of, sections[name]) for name, of in counts.items() if of[0] != NOT_RUN}


def _counts(part: PostPart) -> list[str]:
    counts = Counter(claim.status for claim in part.claims)
    return [str(counts[status]) for status in _COUNTED]


def _overview(counts: Mapping[str, list[str]]) -> str:
    """`counts`: of posts that were run."""
    rows = []
    for name in list_posts():
        claims = load_post(name).claims
        here = sum(claim.check != "no" for claim in claims)
        rows.append([f"[{name}](#{name})", str(len(claims)), str(here), *counts.get(name, [NOT_RUN, "–", "–"])])
    total = [count_of(sum(int(row[place]) for row in rows), "claim") for place in (1, 2)]
    head = ["post", "claims", "can be checked here", *map(str, _COUNTED)]
    return f"{table(head, rows)}\n\n{total[0]} in all; {total[1]} can be checked here, at least in direction."


def _part(name: str, assessment: Assessment) -> PostPart:
    return next(post for post in assessment.posts if post.name == name)


def _section(post: Post, run: Assessment | None) -> list[str]:
    parts = [
        f"## {post.name}",
        escape(f"{post.title}."),
        f"`dbversus run {POSTS}/{post.name} --scaled`",
        _remarks(post.name),
    ]
    if run:
        facts = "; ".join(experiment_facts(run.header, len(run.tests), run.blocks))
        return [*parts, escape(f"{run.title}: {facts}."), *claims_parts([_part(post.name, run)])[1:]]
    rows = [[escape(claim.id), escape(claim.words), NOT_RUN] for claim in post.claims if claim.check != "no"]
    if not rows:
        return [*parts, f"None of its {count_of(len(post.claims), 'claim')} can be checked here: {post.claims[0].why}."]
    return [*parts, table(["claim", "says", "result"], rows)]


def _remarks(name: str) -> str:
    """What the experiment's file says at its head, without its title and its command."""
    lines = find_experiment(f"{POSTS}/{name}").read_text().split("\n\n")[0].splitlines()
    words = escape(" ".join(line.lstrip("# ") for line in lines[4:]))
    return textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    main()
