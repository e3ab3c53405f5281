"""reference/: the summaries as the reference method's scripts print them, and README.txt, which says what differs."""

import fnmatch
import os
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from dbversus.files import folder_within, write_text
from dbversus.report.formats.layouts.files import INSERT, JANUARY_2021, NOW, files
from dbversus.report.model import Assessment, LayoutPart
from dbversus.stats.model import SPOILT

FOLDER, README = "reference", "README.txt"
_FOLDERS = ((JANUARY_2021,), (NOW,), (INSERT,))
_OURS = ("o.qps.*", "o.met.*", "qps.*", "mrg.*", "rel.*")
_NOTHING = LayoutPart({}, frozenset(), (), ())

_MEASURED = """\
How these figures differ from the reference's (all of it: docs/reference-layouts.md)
- cpu/o, cpups and cpupq are the CPU of the server and of the clients. The reference takes all of the machine from vmstat,
  what other processes do included, and counts repeated headers as samples of 0: its figures are some 4 % too low.
- cs/o, csps and cspq are the context switches of the server and of the clients; the reference's, of the machine, as above.
- r/o, rKB/o and wKB/o, rps, wps and what follows from them are requests of the server to its disk, in the time in which it
  was driven; the reference's, of the whole device. kB and MB are powers of 1024 here. Where the host does not tell the
  server's requests from those of others, they are NA; dbversus show DIR --table efficiency has the bytes of its processes.
- Rates have no start or end of clients in them. An operation is a statement, as sysbench counts queries.
- A scan counts the rows that all clients read; in now/ in thousands. The reference counts those of one client there.
- p50, p99 and maxop are of all clients; maxop is in seconds.
- Ratios are those of the printed figures, and have no intervals: verdicts are in report.md, report.csv and report.json.
- NA: not known. Every target has its line, or column, of every test, so that none is taken for another's.
The server's CPU alone, in microseconds, with intervals: dbversus show DIR --table efficiency
"""
_IMPORTED = """\
All figures are those that were imported, as they were printed.
"""


def write(assessment: Assessment, path: Path) -> None:
    """Makes the folder `path`; its files of an earlier report go, all other files stay."""
    part = assessment.layouts or _NOTHING
    made = {**files(part), README: _readme(assessment, part)}
    for name, text in made.items():
        write_text(path / name, text, within=path.parent)
    _remove_earlier(path, made)


def _remove_earlier(path: Path, made: Container[str]) -> None:
    with folder_within(path, path.parent) as folder:
        for place, _, names, inner in os.fwalk(".", dir_fd=folder):  # which follows no links
            for name in names if Path(place).parts[:1] in _FOLDERS else ():
                is_ours = any(fnmatch.fnmatch(name, pattern) for pattern in _OURS)
                if is_ours and str(Path(place, name)) not in made:
                    os.unlink(name, dir_fd=inner)


def _readme(assessment: Assessment, part: LayoutPart) -> str:
    paragraphs = [
        "Summaries in the layouts of the reference method, written by dbversus.",
        "\n".join(_contents(part)),
        "\n".join(["Targets, and what the files call them (the first is the base):", *_listed(part.targets)]),
        "\n".join(_clients(part)),
        _IMPORTED if part.imported else _MEASURED,
        "\n".join(_not_compared(assessment)),
    ]
    return "\n\n".join(paragraph.strip("\n") for paragraph in paragraphs if paragraph) + "\n"


def _contents(part: LayoutPart) -> Iterator[str]:
    if part.tests:
        yield f"{JANUARY_2021}/  January 2021: o.qps.abs.*, o.qps.rel.* (queries/s), o.met.* (hardware per operation)"
        yield f"{NOW}/   now: qps.abs.*, qps.rel.* (queries/s; .tsv and .csv), o.met.* (hardware per operation)"
    if part.steps:
        yield f"{INSERT}/  Insert Benchmark: mrg.* and rel.* of each step, and of some steps together"
    if not part.tests and not part.steps:
        yield "Nothing was measured that they show."


def _listed(targets: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, targets.values()), default=0)
    for label, name in targets.items():
        yield f"  {name.ljust(width)}  {' '.join(label.split())}"


def _clients(part: LayoutPart) -> Iterator[str]:
    """Files of 2021 do not tell them: who reads them takes their columns for 1, 2, 3 … clients."""
    counts = sorted({test.clients for test in part.tests if test.clients})
    if counts:
        yield f"Numbers of clients, each a column of o.qps.* in {JANUARY_2021}/: {', '.join(map(str, counts))}."
    if counts != list(range(1, len(counts) + 1)):
        yield f"To read them again: dbversus import {JANUARY_2021} --clients {','.join(map(str, counts))} --out NEW"


def _not_compared(assessment: Assessment) -> list[str]:
    lines = [
        f"  {item.test}, {item.target}: {item.verdict}. {' '.join(' '.join(item.notes).split())}"
        for item in assessment.comparisons
        if item.verdict in SPOILT
    ]
    lines += [f"  {one.target}, {one.stage}: {' '.join(one.message.split())}" for one in assessment.failures]
    return ["What failed, or cannot be compared, whatever the files say:", *lines] if lines else []
