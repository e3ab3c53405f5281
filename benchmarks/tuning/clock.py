"""Where the time of an experiment goes: per block, per test, per row. Read from its journal."""

import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbversus.results.records import AnyRecord, Block, Experiment, Load, Look, Resumed, Test
from dbversus.results.stored import Results
from dbversus.stats.metrics import floats


@dataclass(frozen=True)
class Clock:
    """Seconds. `block_s`: of a block, whatever is measured in it (restore, start, settle, stop). By test: `test_s` of a test
    in a block beside its rows (connect, check, counters, drain), `row_s` of one row, `rows` of them in a block. `counted` are
    the tests that change data, bounded by count: retired, they are run again, uncounted, before a test that is still open.
    """

    block_s: float
    test_s: Mapping[str, float]
    row_s: Mapping[str, float]
    rows: Mapping[str, float]
    counted: frozenset[str] = frozenset()

    @property
    def tests(self) -> list[str]:
        return list(self.row_s)

    def block_duration_s(self, tests: Collection[str], rows: Mapping[str, float] | None = None) -> float:
        """Of a block with these tests still open, with `rows` (default: as run) rows of each test."""
        wanted = rows if rows is not None else self.rows
        last = max((place for place, test in enumerate(self.tests) if test in tests), default=-1)
        run = [test for test in self.tests[: last + 1] if test in tests or test in self.counted]
        return self.block_s + sum(self.test_s[test] + wanted[test] * self.row_s[test] for test in run)

    def share_s(self, test: str) -> float:
        """What a block costs one of its tests before its first row: its own start, and its part of the block's."""
        return self.test_s[test] + self.block_s / len(self.row_s)

    def only(self, tests: Collection[str]) -> "Clock":
        """Of an experiment with these tests alone."""
        kept = [test for test in self.tests if test in tests]
        test_s, row_s, rows = ({test: each[test] for test in kept} for each in (self.test_s, self.row_s, self.rows))
        return Clock(self.block_s, test_s, row_s, rows, self.counted)


def read_clock(results: Results) -> Clock:
    """Medians over blocks that ran through; pilots, which only the first block has, do not show in them."""
    walls = row_walls(results)
    edges: dict[str, list[float]] = defaultdict(list)
    for (_, test), seconds in seconds_by_test(results.records).items():
        found = [wall for (_, name), each in walls.items() if name == test for wall in each]
        count = len(found) / len({block for block, name in walls if name == test}) if found else 0
        edges[test].append(max(0.0, seconds - count * statistics.fmean(found)) if found else seconds)
    tests = [test for test in edges if any(name == test for _, name in walls)]
    return Clock(
        block_s=statistics.median(block_overheads_s(results.records)),
        test_s={test: statistics.median(edges[test]) for test in tests},
        row_s={test: _median_wall(walls, test) for test in tests},
        rows={
            test: statistics.median(len(each) for (_, name), each in walls.items() if name == test) for test in tests
        },
        counted=frozenset(test for test, plan in results.slot_plans.items() if "ops" in plan.slot),
    )


def _median_wall(walls: Mapping[tuple[int, str], Sequence[float]], test: str) -> float:
    return statistics.median(wall for (_, name), each in walls.items() if name == test for wall in each)


def row_walls(results: Results) -> dict[tuple[int, str], list[float]]:
    """(block, test) → seconds of each row."""
    slots = results.slots
    blocks, rows = floats(slots["block"]).astype(int), floats(slots["row"]).astype(int)
    seconds = floats(slots["host_wall_ns"]) / 1e9
    tests = np.asarray(slots["test"], dtype=str)
    walls: dict[tuple[int, str], dict[int, float]] = defaultdict(dict)
    for block, test, row, wall in zip(blocks, tests, rows, seconds, strict=True):
        walls[int(block), str(test)][int(row)] = float(wall)
    return {key: list(each.values()) for key, each in walls.items()}


def seconds_by_test(records: Sequence[AnyRecord]) -> dict[tuple[int, str], float]:
    """(block, test) → seconds of the whole test, of all groups of targets together."""
    found: dict[tuple[int, str], float] = defaultdict(float)
    for record in records:
        if isinstance(record, Test):
            found[record.block, record.test] += record.seconds or 0.0
    return dict(found)


def block_overheads_s(records: Sequence[AnyRecord]) -> list[float]:
    """Of each block that ran through without interruption: its seconds without those of its tests."""
    began_ns, spent_s, whole = None, 0.0, False
    found = []
    for record in records:
        if isinstance(record, Test):
            spent_s += record.seconds or 0.0
        ended = isinstance(record, Block) and record.event == "finished"
        if ended and began_ns is not None and whole:
            found.append((record.at_unix_ns - began_ns) / 1e9 - spent_s)
        if ended or isinstance(record, Experiment | Load | Look | Resumed):
            began_ns, spent_s, whole = record.at_unix_ns, 0.0, not isinstance(record, Resumed)
    return found
