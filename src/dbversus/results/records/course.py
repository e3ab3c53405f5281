"""Records of how an experiment went: what began, ended, failed or was decided."""

from typing import Literal

from dbversus.results.records.base import OfTest, Record


class Resumed(Record, frozen=True):
    """The run went on after an interruption, with the same builds, suite, configs and host.

    reason: what was there by then, in words
    schema: version of the records that follow; absent: as before
    """

    reason: str
    schema: int | None = None


class Block(Record, frozen=True):
    """A block began, was finished, or was interrupted by the user.

    block: number of the block, from 0 (reports count from 1)
    event: `started`, `finished` or `interrupted`
    debt: with `started`: target → kind of work → amount that its server still owed
    """

    block: int
    event: Literal["started", "finished", "interrupted"]
    debt: dict[str, dict[str, int]] | None = None


class Test(OfTest, frozen=True):
    """All rows of a test in a block have been measured.

    seconds: what it took
    controller_cpu_s: CPU time of dbversus itself meanwhile
    """

    seconds: float | None = None
    controller_cpu_s: float | None = None


class Look(Record, frozen=True):
    """All tests were judged.

    blocks: blocks that were finished by then
    retired: tests that were decided at this look
    """

    blocks: int
    retired: list[str]


class Finished(Record, frozen=True):
    """The experiment has ended.

    reason: `decided`: more blocks would tell nothing of any test; `looks used up`; `time budget`
    """

    reason: str


class Failure(Record, frozen=True):
    """A target, or the engine, failed.

    target: name of the target; null: the engine
    stage: `check`, `start`, `state`, `load`, `open`, `slot`, `settle`, `idle` (between slots) or `engine`
    message: the server's own words
    final: the target is out; `resume` tries again those that were lost in `start`, `load`, `settle` or `slot`
    block: where it is known, as `test` and `row`
    """

    target: str | None
    stage: str
    message: str
    final: bool
    block: int | None = None
    test: str | None = None
    row: int | None = None


class Remark(Record, frozen=True):
    """Something that a reader of the figures has to know; noted once.

    target: name of the target; null: all
    words: a sentence
    """

    target: str | None
    words: str


class Wait(Record, frozen=True):
    """A block had to wait because the host was not quiet.

    block: number of the block, from 0
    seconds: waited, of `--wait-quiet`
    quiet: whether the host was quiet in the end
    foreign_cores: what other processes used in the last second
    stolen_cores: what the hypervisor took in the last second
    """

    block: int
    seconds: float
    quiet: bool
    foreign_cores: float | None = None
    stolen_cores: float | None = None
