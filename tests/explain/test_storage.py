"""A slow device, and reads of what fits in memory: each rule on either side of its limit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from dbversus.explain.storage import Block, device_blocks, storage_causes
from dbversus.report.assessment import build_assessment
from dbversus.report.parts.notes.cause_words import condition_notes
from dbversus.results.read import open_results
from dbversus.results.records import DataState, Rendered, Space, SpaceUse, State
from dbversus.results.stored import Results
from dbversus.stats.metrics import DISK_READS

from ..report.synthetic import LABELS, TRUTHS, write_results

TEST = "point-query"
BASE = LABELS[0]
USUAL = Block(0, ops_per_s=1000.0, reads=100, writes=100, read_ms=20.0, write_ms=40.0, queued=1.0, own_read_bytes=2**21)
MIB = 2**20


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Results:
    truths = tuple(truth for truth in TRUTHS if truth.name == TEST)
    folder = tmp_path_factory.mktemp("storage") / "results"
    return open_results(write_results(folder, targets=2, rows=2, blocks=2, truths=truths))


def with_data(results: Results, data_bytes: int, shared_buffers: str, cache: str = "warm") -> Results:
    """The same, with so much data in the base, and such a cache."""
    state = State(0, "loaded", {"t0": DataState({}, {"database": data_bytes, "table.a": data_bytes}, {})}, {})
    base, *others = results.header.targets
    rendered = Rendered("base", {"shared_buffers": shared_buffers, "max_connections": "100"})
    targets = [msgspec.structs.replace(base, rendered=rendered), *others]
    header = msgspec.structs.replace(results.header, targets=targets, cache=cache)
    return replace(results, header=header, records=(*results.records, state))


def notes(results: Results, blocks: Sequence[Block], reads_per_op: float = 0.0, *, writes: bool = False) -> list[str]:
    figures = {(TEST, BASE): {DISK_READS: [reads_per_op]}}
    return condition_notes(storage_causes(results, TEST, figures, {(TEST, BASE): blocks}, writes=writes))


def three(**last: Any) -> list[Block]:
    return [USUAL, USUAL._replace(number=1), USUAL._replace(number=2, **last)]


def test_a_slow_test_that_met_a_slow_device_in_a_block_says_so(plain: Results) -> None:
    (note,) = notes(plain, three(read_ms=60.0, write_ms=100.0, ops_per_s=500.0))
    assert note == (
        f"{BASE} met a slow device in block 3: a request took 0.80 ms (0.30 ms in the median of 3 blocks), "
        "and throughput was 0.50 of its median"
    )


@pytest.mark.parametrize(
    "last",
    [
        {"read_ms": 30.0, "write_ms": 80.0, "ops_per_s": 500.0},  # less than twice as long
        {"read_ms": 60.0, "write_ms": 100.0, "ops_per_s": 990.0},  # the test was not slow
        {"read_ms": 60.0, "write_ms": 10.0, "reads": 49, "writes": 50, "ops_per_s": 500.0},  # too few requests
    ],
)
def test_what_is_within_the_limits_is_not_said(plain: Results, last: dict[str, Any]) -> None:
    assert notes(plain, three(**last)) == []


def test_two_blocks_have_no_usual_time(plain: Results) -> None:
    assert notes(plain, three(read_ms=900.0, ops_per_s=1.0)[1:]) == []


def test_reads_are_compared_with_the_probe_before_the_run(plain: Results) -> None:
    probed = replace(plain, host={**plain.host, "read_latency": {"random_16kB": {"mean_us": 60.0}}})
    (note,) = notes(probed, [USUAL])
    assert note == (
        f"{BASE} met a slow device: a read took 0.20 ms on average, and 0.06 ms when the disk was probed before the run"
    )
    assert notes(probed, [USUAL._replace(queued=2.1)]) == []  # they waited for each other
    assert notes(probed, [USUAL._replace(read_ms=17.0)]) == []
    assert notes(plain, [USUAL]) == []  # no probe


def test_reads_although_the_data_fits_are_named(plain: Results) -> None:
    (note,) = notes(with_data(plain, 64 * MIB, "128MB"), [USUAL], reads_per_op=0.5)
    assert note == (
        f"{BASE} reads storage although its data fits: 0.5 disk reads per op, 2.1 MB in a block, "
        "with 67.1 MB of tables and indexes and 134.2 MB of cache"
    )


def test_reads_of_more_than_fits_and_trifles_are_not_named(plain: Results) -> None:
    fits = with_data(plain, 64 * MIB, "128MB")
    assert notes(with_data(plain, 200 * MIB, "128MB"), [USUAL], reads_per_op=0.5) == []
    assert notes(with_data(plain, 64 * MIB, "128MB", cache="cold"), [USUAL], reads_per_op=0.5) == []
    assert notes(plain, [USUAL], reads_per_op=0.5) == []  # nobody knows what there is
    assert notes(fits, [USUAL], reads_per_op=0.009) == []
    assert notes(fits, [USUAL._replace(own_read_bytes=2**20 - 1)], reads_per_op=0.5) == []


def as_dbms(results: Results, dbms: str, settings: dict[str, str]) -> Results:
    base, *others = results.header.targets
    base = msgspec.structs.replace(base, dbms=dbms, rendered=Rendered("base", settings))
    header = msgspec.structs.replace(results.header, targets=[base, *others])
    return replace(results, header=header, targets=(replace(results.base, dbms=dbms), *results.targets[1:]))


@pytest.mark.parametrize(
    ("dbms", "cache", "writes", "is_named"),
    [
        ("myrocks", "rocksdb_block_cache_size", False, True),
        ("myrocks", "rocksdb-block-cache-size", False, True),
        ("myrocks", "rocksdb_block_cache_size", True, False),  # compactions read what they merge
        ("myrocks", "innodb_buffer_pool_size", False, False),  # holds none of its tables
        ("myrocks", "loose-innodb-buffer-pool-size", False, False),
        ("mysql", "rocksdb_block_cache_size", False, False),
        ("mysql", "innodb_buffer_pool_size", True, True),
    ],
)
def test_caches_count_that_hold_its_tables_and_no_compactions(
    plain: Results, dbms: str, cache: str, writes: bool, is_named: bool
) -> None:
    results = as_dbms(with_data(plain, 64 * MIB, ""), dbms, {cache: "128M"})
    assert bool(notes(results, [USUAL], reads_per_op=0.5, writes=writes)) is is_named


def test_tables_that_tests_fill_are_as_large_as_they_get(plain: Results) -> None:
    begun = with_data(plain, 16 * 2**10, "128MB")
    assert notes(begun, [USUAL], reads_per_op=0.5) != []
    filled = Space(block=0, test=TEST, targets={"t0": SpaceUse(900 * MIB, 2000 * MIB)})
    after = replace(begun, records=(*begun.records, filled))
    assert after.data_bytes(after.base) == 900 * MIB
    assert notes(after, [USUAL], reads_per_op=0.5) == []


def test_blocks_come_from_slots_and_reports_have_notes_and_figures_per_op(plain: Results) -> None:
    assert device_blocks(plain) == {}
    count = len(plain.slots["test"])
    known = {
        "disk_reads": 50,
        "disk_read_bytes": 2**20,
        "device_reads": 100,
        "device_writes": 20,
        "device_read_ns": 4 * 10**8,
    }
    known |= {"device_write_ns": 10**7, "device_busy_ns": 2 * 10**7, "device_queue_ns": 3 * 10**7}
    slots = plain.slots | {name: plain.slots["ops"] * 0 + value for name, value in known.items()}
    host = {**plain.host, "read_latency": {"random_16kB": {"mean_us": 60.0}}}
    results = replace(with_data(plain, 64 * MIB, "128MB"), slots=slots, host=host)
    blocks = device_blocks(results)[TEST, BASE]
    per_block = count // 2 // len(blocks)
    assert [(block.number, block.reads, block.read_ms, block.queued) for block in blocks] == [
        (number, 100 * per_block, 400 * per_block, 1.5) for number in range(2)
    ]
    (test,) = build_assessment(results).tests
    assert any("met a slow device: a read took 4.00 ms" in note for note in test.notes)
    assert any("reads storage although its data fits" in note for note in test.notes)
    shown = {figure.metric: figure.estimates[BASE].value for figure in test.figures}
    of_base = plain.slots["target"] == BASE
    ops = plain.slots["ops"][of_base].sum()
    assert shown[DISK_READS] == pytest.approx(50 * per_block * 2 / ops, rel=0.05)
    assert shown["device_read_await_ms"] == pytest.approx(4.0)
    assert "disk_writes_per_op" not in shown  # nobody knows of any
