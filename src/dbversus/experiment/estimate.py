"""Expected time and disk need of an experiment, before it runs and while it does."""

from dataclasses import dataclass

from dbversus.experiment.progress import Progress
from dbversus.experiment.spec import ExperimentSpec
from dbversus.suites.model import Suite

# measured on a 2-core virtual machine with 1M rows per table
LOAD_ROWS_PER_S = 150_000
SETTLE_S = 3.0
BLOCK_START_S_PER_TARGET = 4.0
TEST_EDGE_S = 0.15
BYTES_PER_ROW = 260
WAL_BYTES_PER_TARGET = 400_000_000


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes. `first_verdict_s`: until the first look; `most_s`: when no test is decided before the last."""

    load_s: float
    block_s: float
    first_verdict_s: float
    most_s: float
    disk_bytes: int


def estimate(spec: ExperimentSpec, suite: Suite, targets: int) -> Estimate:
    """What the plan alone tells; `remaining_s` knows better once a block has run."""
    rows = spec.table_size * spec.tables
    load_s = targets * (rows / LOAD_ROWS_PER_S + SETTLE_S)
    block_s = _block_s(spec, suite, targets, len(spec.clients) * (len(suite.sequence) - 1))
    one_target = rows * BYTES_PER_ROW + WAL_BYTES_PER_TARGET
    return Estimate(
        load_s,
        block_s,
        load_s + spec.looks[0] * block_s,
        load_s + spec.looks[-1] * block_s,
        # a snapshot and a working copy of each target
        2 * targets * one_target,
    )


def remaining_s(spec: ExperimentSpec, suite: Suite, progress: Progress, targets: int, block_s: float | None) -> float:
    """Seconds until the next look that may be the last, from the last block's time once there is one (None: none yet)."""
    undecided = len(spec.clients) * (len(suite.sequence) - 1) - len(progress.retired)
    expected_s = block_s or _block_s(spec, suite, targets, undecided)
    done = len(progress.blocks)
    next_look = next((look for look in spec.looks if look > done), spec.looks[-1])
    return (next_look - done) * expected_s


def _block_s(spec: ExperimentSpec, suite: Suite, targets: int, tests: int) -> float:
    settles = sum(phase.settle for phase in suite.phases)
    return tests * (spec.seconds + TEST_EDGE_S) + settles * SETTLE_S * targets + BLOCK_START_S_PER_TARGET * targets
