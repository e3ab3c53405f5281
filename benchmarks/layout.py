#!/usr/bin/env python
"""How much do builds of one source differ by where their functions lie in memory? SQLite, compiled once and linked in many ways.

All libraries have the same machine code; what differs is the place of functions. There are three kinds, beside the library as
its compiler leaves it, which is the base:

  copy    the base, byte for byte
  moved   functions in the order of the source, with gaps of 16 to 256 bytes before one in twenty, as if some had grown
  order   functions in an order drawn at random

All of them take turns in one experiment (`FOLDER/results`; where it is there already, only the table is made). The table has the
standard deviation of CPU per operation between the libraries of a kind, and the p-value of their being equal: an F test of means
over blocks. Below it: how often two libraries of a kind differ by more than so much.
"""

import argparse
import itertools
import math
import os
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import make_parser, markdown, run_process, say, told
from independent_runs.measure import forget_data
from scipy import stats

import dbversus
from dbversus.errors import UsageError
from dbversus.results.layout import lay_out
from dbversus.results.read import open_results
from dbversus.stats.metrics import CPU, Floats, metric_named
from dbversus.stats.values.blocks import block_values
from dbversus.stats.values.finished import of_finished_blocks

EXAMPLE = """examples:
  benchmarks/layout.py /tmp/layout > layout.md
  benchmarks/layout.py /tmp/layout --copies 3 --moved 0 --orders 12 --blocks 6
"""
TESTS = (
    "point-query.pre",
    "random-points-100.pre",
    "range-covered-pk.pre",
    "read-only-100.pre",
    "scan",
    "update-index",
)
KINDS = ("copy", "moved", "order")
BASE = "base"
COMPILED = ("-O2", "-fPIC", "-ffunction-sections", "-DSQLITE_THREADSAFE=1", "-DSQLITE_ENABLE_DBSTAT_VTAB")
LIBRARIES = ("-lm", "-lpthread", "-ldl")
# the linker has places of its own for these, and sorts the sections of that name by theirs
APART = (".text.unlikely.", ".text.hot.", ".text.startup.", ".text.exit.")
SORTED = ".text.sorted."
GAP_SHARE = 0.05
GAP_BYTES = range(16, 257, 16)
# of the data: no other experiment is likely to have it, so that its snapshots can go
SEED = 6_044
DIFFERENCES = (0.01, 0.02, 0.03)

Values = Mapping[str, Mapping[str, Floats]]
"""Test → kind → ln ratios to the base, libraries × blocks."""


@dataclass(frozen=True)
class Spread:
    """Of libraries of one kind in one test: the standard deviation between their means, and the p-value of their being equal."""

    sd: float
    p_value: float


def find_source() -> Path:
    """SQLite's amalgamation as cargo has fetched it for the engine."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found = sorted(cargo.glob("registry/src/*/libsqlite3-sys-*/sqlite3/sqlite3.c"))
    if not found:
        raise UsageError(f"There is no SQLite source under {cargo}; name a sqlite3.c with --source.")
    return found[-1]


def build_all(source: Path, folder: Path, counts: Mapping[str, int]) -> list[Path]:
    """The base, then all others. The seed of a library is its number."""
    folder.mkdir(parents=True, exist_ok=True)
    compiled, base = folder / "sqlite3.o", folder / f"{BASE}.so"
    say(f"compiling {source}")
    run_process(["gcc", *COMPILED, "-c", str(source), "-o", str(compiled)])
    link([compiled], base)
    functions = list(function_sections(run_process(["objdump", "-h", str(compiled)])[0]))
    libraries = [base]
    for kind, number in ((one, number) for one in KINDS for number in range(counts[one])):
        library = folder / f"{kind}-{number}.so"
        if kind == "copy":
            shutil.copyfile(base, library)
        else:
            link(arranged(compiled, functions, kind, number), library)
        libraries.append(library)
    return libraries


def function_sections(headers: str) -> Iterator[str]:
    """Of what `objdump -h` prints: sections of one function each, in their order, without those that go elsewhere."""
    for line in headers.splitlines():
        fields = line.split()
        if len(fields) == 7 and fields[1].startswith(".text.") and not fields[1].startswith(APART):
            yield fields[1]


def arranged(compiled: Path, functions: Sequence[str], kind: str, seed: int) -> list[Path]:
    """Object files whose functions the linker sorts into the order, or with the gaps, of this seed."""
    draw = random.Random(seed)
    order = draw.sample(functions, len(functions)) if kind == "order" else functions
    renamed, gaps = compiled.with_name(f"{kind}-{seed}.o"), compiled.with_name(f"{kind}-{seed}-gaps.o")
    names = renamed.with_suffix(".names")
    names.write_text("".join(f"--rename-section {name}={SORTED}{place:06}\n" for place, name in enumerate(order)))
    run_process(["objcopy", f"@{names}", str(compiled), str(renamed)])
    if kind == "order":
        return [renamed]
    run_process(["gcc", "-x", "assembler", "-c", "-", "-o", str(gaps)], text=gap_code(len(functions), draw))
    return [renamed, gaps]


def gap_code(functions: int, draw: random.Random) -> str:
    """Assembly of the gaps, each sorted right behind the function before it."""
    places = (place for place in range(functions) if draw.random() < GAP_SHARE)
    gaps = "".join(
        f'.section {SORTED}{place:06}gap,"ax",@progbits\n.skip {draw.choice(GAP_BYTES)}\n' for place in places
    )
    return f'{gaps}.section .note.GNU-stack,"",@progbits\n'


def link(objects: Sequence[Path], library: Path) -> None:
    run_process(["gcc", "-shared", "-o", str(library), *map(str, objects), *LIBRARIES])


def measure(libraries: Sequence[Path], out: Path, blocks: int, rows: int) -> None:
    """All in the same rows, with data that a connection's own cache holds: what is left is the library's code."""
    dbversus.measure(
        [f"sqlite:{library}@wal,sync_off,cache_64mb" for library in libraries],
        out=out,
        profile="quick",
        tests=",".join(TESTS),
        table_size=20_000,
        rows=rows,
        seconds=600,
        looks=[blocks],
        calibration=False,
        seed=SEED,
    )
    forget_data(SEED)


def read_values(out: Path) -> Values:
    """Of CPU per operation, as verdicts have it."""
    results = of_finished_blocks(open_results(out))
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for value in block_values(lay_out(results.slots, results.base.label), [metric_named(CPU)]):
        library = library_name(value.target)
        of_kind = found.setdefault(value.test, {}).setdefault(library.partition("-")[0], {})
        of_kind.setdefault(library, []).append(value.value or 0.0)
    return {
        test: {kind: as_matrix(kind, list(of_libraries.values())) for kind, of_libraries in kinds.items()}
        for test, kinds in found.items()
    }


def library_name(label: str) -> str:
    """`order-3`"""
    return Path(label.partition(":")[2].partition("@")[0]).stem


def as_matrix(kind: str, logs: Sequence[Sequence[float]]) -> Floats:
    """Libraries × blocks. The base is one of the copies: its ratio to itself is 1."""
    return np.array([[0.0] * len(logs[0]), *logs] if kind == "copy" else logs)


def spread(logs: Floats) -> Spread:
    """What all libraries of a block have in common, the base's own noise above all, is no difference between them."""
    libraries, blocks = logs.shape
    centred = logs - logs.mean(axis=0)
    means = centred.mean(axis=1)
    left = float(((centred - means[:, None]) ** 2).sum()) / ((libraries - 1) * (blocks - 1))
    between = float((means**2).sum()) / (libraries - 1)
    p_value = float(stats.f.sf(blocks * between / left, libraries - 1, (libraries - 1) * (blocks - 1)))
    return Spread(math.sqrt(between), p_value)


def differences(values: Values, kind: str) -> list[float]:
    """Of every two libraries of a kind, in every test, as shares."""
    means = [kinds[kind].mean(axis=1) for kinds in values.values()]
    return [math.expm1(abs(one - other)) for of_test in means for one, other in itertools.combinations(of_test, 2)]


def tables(values: Values) -> str:
    kinds = [kind for kind in KINDS if all(kind in of_test for of_test in values.values())]
    shown = {kind: f"{kind} ({len(next(iter(values.values()))[kind])})" for kind in kinds}
    by_test = []
    for test, of_test in values.items():
        found = [spread(of_test[kind]) for kind in kinds]
        by_test.append(
            [test, *itertools.chain.from_iterable((f"{100 * one.sd:.2f} %", f"{one.p_value:.2g}") for one in found)]
        )
    heads = itertools.chain.from_iterable((f"sd, {shown[kind]}", "p") for kind in kinds)
    pairs = [[shown[kind], *shares(differences(values, kind))] for kind in kinds]
    more = [f"over {100 * share:.0f} %" for share in DIFFERENCES]
    return f"{markdown(['test', *heads], by_test)}\n\n{markdown(['two of', 'median', *more, 'most'], pairs)}"


def shares(found: Sequence[float]) -> list[str]:
    """Median, how often each of `DIFFERENCES` is exceeded, and the largest."""
    often = [f"{100 * sum(one > least for one in found) / len(found):.0f} %" for least in DIFFERENCES]
    return [f"{100 * np.median(found):.1f} %", *often, f"{100 * max(found):.1f} %"]


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__, EXAMPLE)
    parser.add_argument("folder", type=Path, help="for libraries and results; new, or one of an earlier run")
    parser.add_argument("--source", type=Path, help="sqlite3.c (default: the engine's, as cargo has fetched it)")
    parser.add_argument("--copies", type=int, default=5, help="besides the base, 1 or more (default: %(default)s)")
    parser.add_argument(
        "--moved", type=int, default=8, help="libraries with gaps, none or 2 or more (default: %(default)s)"
    )
    parser.add_argument("--orders", type=int, default=8, help="drawn orders, none or 2 or more (default: %(default)s)")
    parser.add_argument("--blocks", type=int, default=6, help="2 or more (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=24, help="of slots, per block (default: %(default)s)")
    asked = parser.parse_args()
    if asked.copies < 1 or asked.blocks < 2 or 1 in (asked.moved, asked.orders) or min(asked.moved, asked.orders) < 0:
        raise UsageError(
            "A spread takes two libraries and two blocks: --copies 1, --moved 0 or 2, --blocks 2, or more."
        )
    return asked


def main() -> None:
    asked = parse_arguments()
    out = asked.folder / "results"
    if not out.exists():
        counts = {"copy": asked.copies, "moved": asked.moved, "order": asked.orders}
        libraries = build_all(asked.source or find_source(), asked.folder.absolute() / "libraries", counts)
        measure(libraries, out, asked.blocks, asked.rows)
    print(tables(read_values(out)))


if __name__ == "__main__":
    told(main)
