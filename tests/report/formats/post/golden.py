"""What posts of stored runs say, as files: `python -m tests.report.formats.post.golden` writes them again, to be looked at."""

import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.post import write as post
from dbversus.results.read import open_results

DATA = Path(__file__).parents[3] / "data"
GOLDEN = DATA / "posts"
RUNS = ("postgres-11-13", "postgres-settings-busy", "sqlite-demo-steal")
IMPORTS = ("insert-2021", "published", "sysbench-2020")
# what other parts of a report say has tests of its own, and an import bears the time at which it was made
_LEFT_OUT = ("What was compared", "Caveats", "Where to look", "To repeat", "Load (", "What went wrong", "Summaries")


def said(name: str, folder: Path) -> str:
    """The title and the sections that are the post's own."""
    if name in RUNS:
        (folder / "journal.jsonl").write_bytes(lzma.decompress((DATA / f"runs/{name}.jsonl.xz").read_bytes()))
        results = open_results(folder)
    else:
        import_results([DATA / "imported/reference" / name], folder / "results")
        results = open_results(folder / "results")
    return "\n".join(_sections(post.render(build_assessment(results))))


def _sections(text: str) -> Iterator[str]:
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        title = section.splitlines()[0].removeprefix("## ")
        if not title.startswith(_LEFT_OUT):
            yield section.rstrip() + "\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in (*RUNS, *IMPORTS):
        with TemporaryDirectory() as folder:
            (GOLDEN / f"{name}.md").write_text(said(name, Path(folder)))
