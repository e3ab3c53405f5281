"""What a test met at its disk: a device that was slow in a block, and reads although all data fits in the server's cache.

Both follow from the `disk_` and `device_` figures of slots (docs/results-directory.md, "Disk").
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from dbversus.dbms.known import find_dbms
from dbversus.dbms.settings import cache_bytes, setting_key
from dbversus.explain.cause import Cause, Kind
from dbversus.explain.known import is_of_idle_engine
from dbversus.results.stored import Results, Target
from dbversus.stats.metrics import DISK_READS
from dbversus.stats.values.levels import Figures

SLOW_TIMES = 2.0
"""A device is slow in a block in which its requests take so many times their median over the blocks of the test."""
SLOW_EXTRA_MS = 0.1
"""And so much longer: less is not what makes a test slow."""
SLOW_THROUGHPUT = 0.95
"""A test was slow in a block with so little of its median throughput; where it was not, the device made no difference."""
LEAST_BLOCKS = 3
LEAST_REQUESTS = 100
"""Of a block; the mean of fewer says little."""

PROBE = "random_16kB"
SLOW_TIMES_OF_PROBE = 3.0
"""A device is slow in a whole test in which a read takes so many times the mean of the probe before the run."""
MOST_QUEUED = 2.0
"""Requests under way while the device is busy: more wait for each other, and the probe's waited for none."""

SLOW_BLOCK, SLOW_DEVICE, READS_OF_WHAT_FITS = "slow block", "slow device", "reads of what fits"
WAITS_FOR_DEVICE = (SLOW_BLOCK, SLOW_DEVICE)

TRIFLE_READS_PER_OP = 0.01
TRIFLE_BYTES_PER_BLOCK = 2**20
"""A server that reads less has read its catalogue, or what some other process pushed out of memory."""

_QUERY = """
    SELECT test, target, block, sum(ops) / (sum(elapsed_ns) / 1e9), sum(device_reads), sum(device_writes),
      sum(device_read_ns) / 1e6, sum(device_write_ns) / 1e6, sum(device_queue_ns) / sum(device_busy_ns),
      coalesce(sum(disk_read_bytes), 0)
    FROM slots WHERE elapsed_ns > 0 AND device_reads IS NOT NULL GROUP BY test, target, block ORDER BY block"""


class Block(NamedTuple):
    """Sums over the slots of one target and test in a block. `queued`: requests under way while the device was busy."""

    number: int
    ops_per_s: float
    reads: int
    writes: int
    read_ms: float
    write_ms: float
    queued: float | None
    own_read_bytes: int

    @property
    def requests(self) -> int:
        return self.reads + self.writes

    @property
    def await_ms(self) -> float:
        return (self.read_ms + self.write_ms) / self.requests


Blocks = Mapping[tuple[str, str], Sequence[Block]]


def device_blocks(results: Results) -> Blocks:
    """(test, target label) → its blocks; without those in which the host did not tell."""
    found: dict[tuple[str, str], list[Block]] = {}
    for test, target, *figures in results.slot_rows(_QUERY):
        found.setdefault((test, target), []).append(Block(*figures))
    return found


def storage_causes(results: Results, test: str, figures: Figures, of_device: Blocks, *, writes: bool) -> list[Cause]:
    """Of one test, target by target; nothing where the disk was as always, or nobody knows. `writes`: it changes data."""
    found: list[Cause] = []
    for target in results.targets:
        blocks = of_device.get((test, target.label), ())
        found += _slow_blocks(test, target.label, blocks)
        found += _slow_throughout(test, target.label, blocks, results.host)
        if not (writes and find_dbms(target.dbms).compacts):
            found += _reads_of_what_fits(results, test, target, figures.get((test, target.label), {}), blocks)
    return found


def _slow_blocks(test: str, label: str, blocks: Sequence[Block]) -> Iterator[Cause]:
    counted = [block for block in blocks if block.requests >= LEAST_REQUESTS]
    if len(counted) < LEAST_BLOCKS:
        return
    usual_ms, usual_rate = (median(getattr(block, name) for block in counted) for name in ("await_ms", "ops_per_s"))
    for block in counted:
        is_slow = block.await_ms >= SLOW_TIMES * usual_ms and block.await_ms - usual_ms >= SLOW_EXTRA_MS
        if is_slow and block.ops_per_s <= SLOW_THROUGHPUT * usual_rate:
            facts = {
                "block": block.number + 1,
                "await_ms": block.await_ms,
                "usual_ms": usual_ms,
                "blocks": len(counted),
            }
            of_throughput = {"throughput_of_median": block.ops_per_s / usual_rate}
            yield Cause(Kind.STORAGE, test, label, SLOW_BLOCK, facts=facts | of_throughput)


def _slow_throughout(test: str, label: str, blocks: Sequence[Block], host: Mapping[str, Any]) -> Iterator[Cause]:
    probe = (host.get("read_latency") or {}).get(PROBE)
    reads = sum(block.reads for block in blocks)
    if not probe or reads < LEAST_REQUESTS or median(block.queued or 0.0 for block in blocks) > MOST_QUEUED:
        return
    probe_ms = probe["mean_us"] / 1e3
    read_ms = sum(block.read_ms for block in blocks) / reads
    if read_ms >= SLOW_TIMES_OF_PROBE * probe_ms and read_ms - probe_ms >= SLOW_EXTRA_MS:
        yield Cause(Kind.STORAGE, test, label, SLOW_DEVICE, facts={"read_ms": read_ms, "probe_ms": probe_ms})


def _reads_of_what_fits(
    results: Results, test: str, target: Target, figures: Mapping[str, Sequence[float]], blocks: Sequence[Block]
) -> Iterator[Cause]:
    if results.header.cache != "warm" or not blocks or not figures.get(DISK_READS):
        return
    reads_per_op = fmean(figures[DISK_READS])
    bytes_per_block = fmean(block.own_read_bytes for block in blocks)
    data_bytes, of_caches = results.data_bytes(target) or 0, _cache_bytes(results, target)
    is_trifle = reads_per_op < TRIFLE_READS_PER_OP or bytes_per_block < TRIFLE_BYTES_PER_BLOCK
    if not is_trifle and 0 < data_bytes < of_caches:
        of_memory = {"data_bytes": data_bytes, "cache_bytes": of_caches}
        facts = {"reads_per_op": reads_per_op, "bytes_per_block": bytes_per_block, **of_memory}
        yield Cause(Kind.STORAGE, test, target.label, READS_OF_WHAT_FITS, facts=facts)


def _cache_bytes(results: Results, target: Target) -> float:
    """Of all its caches whose sizes its config says and that hold its tables; 0: not known."""
    facts = next(facts for facts in results.header.targets if facts.name == target.name)
    caches = cache_bytes(target.dbms, facts.rendered.settings if facts.rendered else {})
    return sum(
        count for name, count in caches.items() if not is_of_idle_engine(setting_key(target.dbms, name), target.dbms)
    )
