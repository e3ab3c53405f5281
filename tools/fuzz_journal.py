"""Reads broken journals: whatever stands in one, `open_results` gives results or one sentence (UsageError), nothing else.

Each try breaks one of the journals of tests/data/runs by a seed of its own: `--seed SEED --tries 1` repeats a failure.
"""

import argparse
import json
import lzma
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import structs

from dbversus.errors import UsageError
from dbversus.results.journal import parse_journal
from dbversus.results.read import open_results
from dbversus.results.records import Experiment, encode
from dbversus.results.schema import JOURNAL, SCHEMA_VERSION

RUNS = Path(__file__).resolve().parents[1] / "tests/data/runs"
# Of a run, the header, records of every kind and some rows: broken ones are read thousands of times.
MOST_LINES_OF_A_TYPE = 6
MOST_CHANGES = 4
ODD_VALUES: tuple[Any, ...] = (
    None, True, "", "x", "t9", "\u0000", "\ud800", "../../x", -1, 0, 1, 2**31, 2**63, 2**64, 10**30,
    -(2**63) - 1, 0.5, 1e308, float("nan"), float("inf"), [], [[]], [None], {}, {"type": "row"}, [1] * 1000,
)  # fmt: skip
ODD_BYTES = (
    b"",
    b"\n",
    b"{",
    b"}",
    b'"',
    b"\xff",
    b"\0",
    b"null",
    b"1e999",
    b"[" * 5000,
    b'{"type":"row"}\n',
    b'{"a":' * 3000,
    b"\xef\xbb\xbf",
)


def main() -> int:
    """Status 1 with the seed and the traceback of the first try that ends in another way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first try (default: by the clock)")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tries", type=int, help="how many, instead of a time")
    chosen = parser.parse_args()
    old = [thin(path) for path in sorted(RUNS.glob("*.jsonl.xz"))]
    journals = [*old, *map(of_today, old)]
    until = time.monotonic() + chosen.seconds
    tries = read = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-journal-") as folder:
        while tries < chosen.tries if chosen.tries else time.monotonic() < until:
            seed = chosen.seed + tries
            try:
                read += is_read(broken(journals, seed), Path(folder))
            except Exception:
                traceback.print_exc()
                print(
                    f"a broken journal was not answered by one sentence; repeat it: tools/fuzz_journal.py --seed {seed} --tries 1"
                )
                return 1
            tries += 1
    print(f"{tries} broken journals from seed {chosen.seed}: {read} were read, {tries - read} refused in one sentence")
    return 0


def thin(path: Path) -> list[bytes]:
    """The lines of a journal, no more than some of each type; and what it ends with."""
    seen: dict[str, int] = {}
    kept = []
    for line in lzma.decompress(path.read_bytes()).splitlines(keepends=True):
        kind = json.loads(line)["type"]
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= MOST_LINES_OF_A_TYPE:
            kept.append(line)
    return kept


def of_today(lines: list[bytes]) -> list[bytes]:
    """The same records as they are written today: those of the runs are of schema 1."""
    with tempfile.TemporaryDirectory(prefix="fuzz-journal-") as folder:
        journal = Path(folder) / JOURNAL
        journal.write_bytes(b"".join(lines))
        (header, *others), _ = parse_journal(journal)
    assert isinstance(header, Experiment)
    return [encode(record) + b"\n" for record in (structs.replace(header, schema=SCHEMA_VERSION), *others)]


def is_read(journal: bytes, folder: Path) -> bool:
    """Whether it was read; False when it was refused as it should be. Any other exception is a fault."""
    (folder / JOURNAL).write_bytes(journal)
    try:
        open_results(folder)
    except UsageError as error:
        assert str(error).strip(), "an error without words"
        return False
    return True


def broken(journals: list[list[bytes]], seed: int) -> bytes:
    """One of the journals, changed in one to four places."""
    draw = random.Random(seed)
    lines = list(draw.choice(journals))
    for _ in range(draw.randint(1, MOST_CHANGES)):
        if not lines:
            break
        draw.choice(CHANGES)(lines, min(draw.randrange(len(lines)), draw.randrange(len(lines))), draw)
    return b"".join(lines)


def _change_value(lines: list[bytes], at: int, draw: random.Random) -> None:
    """A value somewhere inside the record becomes an odd one, or goes, or is called otherwise."""
    try:
        record = json.loads(lines[at])
    except (ValueError, RecursionError):
        return
    inside, places = [record], []
    while inside:
        one = inside.pop()
        keys = list(one) if isinstance(one, dict) else list(range(len(one))) if isinstance(one, list) else []
        places += [(one, key) for key in keys]
        inside += [one[key] for key in keys]
    if places:
        holder, key = draw.choice(places)
        match draw.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder["x"] = holder.pop(key)
            case _:
                holder[key] = draw.choice(ODD_VALUES)
        lines[at] = json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _change_bytes(lines: list[bytes], at: int, draw: random.Random) -> None:
    line, where = lines[at], draw.randrange(len(lines[at]) + 1)
    until = where + draw.choice((0, 1, 1, 7))
    lines[at] = line[:where] + draw.choice((*ODD_BYTES, draw.randbytes(3))) + line[until:]


def _remove(lines: list[bytes], at: int, draw: random.Random) -> None:
    del lines[at : at + draw.randint(1, 3)]


def _repeat(lines: list[bytes], at: int, draw: random.Random) -> None:
    lines.insert(draw.randrange(len(lines) + 1), lines[at])


def _cut(lines: list[bytes], at: int, draw: random.Random) -> None:
    lines[at] = lines[at][: draw.randrange(len(lines[at]) + 1)]
    if draw.randrange(2):
        del lines[at + 1 :]


CHANGES: tuple[Callable[[list[bytes], int, random.Random], None], ...] = (
    _change_value, _change_value, _change_value, _change_value, _change_bytes, _remove, _repeat, _cut,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
