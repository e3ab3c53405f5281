#!/usr/bin/env python
"""Writes docs/results/january-2021.md: figures that the reference published, imported, and shown as page, spreadsheet and post.

  tools/january_2021.py DATA

DATA is a folder with published summaries: o.qps.abs.in, o.qps.rel.in and o.met.in. The pictures need Debian's `chromium`,
`libreoffice-calc` and `poppler-utils`.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dbversus.errors import RunError, UsageError
from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.registry import find_formats
from dbversus.results.read import open_results

RESULTS = Path(__file__).resolve().parents[1] / "docs/results"
NAME = "january-2021"
FORMATS = ("html", "xlsx", "post", "reference")
WIDTH, HEIGHT = 1280, 1500
SHEET = "Throughput relative to"
NEEDED = {
    "chromium": "chromium",
    "soffice": "libreoffice-calc",
    "pdftotext": "poppler-utils",
    "pdftoppm": "poppler-utils",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    data = parser.parse_args().data
    if missing := [package for program, package in NEEDED.items() if not shutil.which(program)]:
        sys.exit(f"january_2021.py needs {', '.join(sorted(set(missing)))} (apt-get install).")
    with TemporaryDirectory() as folder:
        try:
            said = make(data, Path(folder))
        except (UsageError, RunError) as error:
            sys.exit(f"january_2021.py: {error}")
        except KeyboardInterrupt:
            sys.exit(130)
        shutil.rmtree(RESULTS / NAME, ignore_errors=True)
        shutil.copytree(Path(folder) / NAME, RESULTS / NAME)
    (RESULTS / f"{NAME}.md").write_text(said)


def make(data: Path, scratch: Path) -> str:
    """The page; what it shows is in a folder NAME of `scratch`."""
    results, shown = scratch / "results", scratch / NAME
    outcome = import_results([data], results)
    assessment = build_assessment(open_results(results))
    paths = {each.name: each.write(assessment, results) for each in find_formats(FORMATS)}
    shutil.copytree(results / "post", shown / "post")
    shutil.copy(paths["post"], shown)
    picture_page(paths["html"], shown / "page.png", scratch)
    picture_sheet(paths["xlsx"], shown / "sheet.png", scratch)
    same, published = compare(data, paths["reference"])
    return page(outcome.record.figures, same, published)


def compare(data: Path, written: Path) -> tuple[int, int]:
    """How many of the published files were written again byte for byte, and how many there are."""
    files = [path for path in data.iterdir() if path.is_file()]
    ours = {path.read_bytes() for path in written.rglob("*") if path.is_file()}
    return sum(path.read_bytes() in ours for path in files), len(files)


def picture_page(html: Path, png: Path, scratch: Path) -> None:
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={scratch / 'browser'}"]
    size = f"--window-size={WIDTH},{HEIGHT}"
    run(["chromium", *options, size, f"--screenshot={png}", html.as_uri()])


def picture_sheet(xlsx: Path, png: Path, scratch: Path) -> None:
    """The first page on paper that names the sheet in its heading."""
    home = f"-env:UserInstallation={(scratch / 'office').as_uri()}"
    run(["soffice", home, "--headless", "--convert-to", "pdf", "--outdir", str(scratch), str(xlsx)])
    pdf = scratch / f"{xlsx.stem}.pdf"
    pages = run(["pdftotext", "-layout", str(pdf), "-"]).split("\f")
    number = next((number for number, text in enumerate(pages, 1) if text.lstrip().startswith(SHEET)), None)
    if number is None:
        sys.exit(f"january_2021.py: no page of {xlsx.name} on paper begins with '{SHEET}'.")
    options = ["-png", "-singlefile", "-r", "90", "-f", str(number), "-l", str(number)]
    run(["pdftoppm", *options, str(pdf), str(png.with_suffix(""))])


def run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: {done.stderr.strip()}")
    return done.stdout


def page(figures: int, same: int, published: int) -> str:
    return f"""\
# January 2021, as it was published and as dbversus shows it

The reference published what sysbench measured on MySQL 5.6.49, 5.7.31 and three releases of 8.0 as three text files. All of this
page is made from them, by `tools/january_2021.py DATA`, which stands for

```
dbversus import DATA --out results/2021
dbversus report results/2021 --format {",".join(FORMATS)}
```

{figures:,} figures were imported. Of the {published} published files, {same} come out of `--format reference` byte for byte. Each
figure was measured once, so there are ratios and no verdicts.

## The page
![report.html]({NAME}/page.png)

## The spreadsheet
A sheet of `report.xlsx`, as LibreOffice prints it.

![a sheet of report.xlsx]({NAME}/sheet.png)

## The post
[post.md]({NAME}/post.md), with its charts and the reference's summaries beside it.
"""


if __name__ == "__main__":
    main()
