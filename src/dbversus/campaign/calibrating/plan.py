"""The experiment that a calibration is: one build against itself twice, one copy of it slowed down by what is known."""

from collections.abc import Mapping, Sequence
from typing import Any

from dbversus.builds.target import parse_target
from dbversus.campaign.calibrating.kinds import Kind
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError
from dbversus.experiment.asked.shares import Burst, Share
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec
from dbversus.stats.calibration.model import FEWEST_BLOCKS
from dbversus.suites.load import load_suite
from dbversus.suites.profiles import profile_defaults

SHARES: tuple[Share, ...] = (0.01, 0.02, 0.03, 0.05, 0.08)
"""Added, as shares of what the server used: each test has each of them in turn, from block to block."""

BURST = Burst(share=1.0, ms=50, every_ms=500)
"""Of CPU, in a turn of its own: a tenth of the work is twice as dear, which is 10 % in the mean."""

COMPARED = 2
"""Targets of an ordinary comparison."""

QUICK_BLOCKS = 8
FULL_BLOCKS = 16


def calibration_spec(
    target: str, quick: bool, blocks: int | None, inject: Kind, more: Mapping[str, Any]
) -> ExperimentSpec:
    """`target` three times (twice where nothing is injected), judged once, at the end, so that every test has all blocks.

    Tests have the time for as many rows as a comparison of two targets measures, so that margins can be taken over by that.
    `more`: choices over those of the profile. Raises UsageError with one sentence naming the first mistake.
    """
    count = blocks or (QUICK_BLOCKS if quick else FULL_BLOCKS)
    if count < FEWEST_BLOCKS:
        raise UsageError(f"--blocks is {count}; it takes {FEWEST_BLOCKS} or more to tell the spread between blocks.")
    profile = "quick" if quick else "standard"
    injected = inject is not Kind.NONE and can_inject(target)
    choices = profile_defaults({**more, "profile": profile}) | dict(more)
    choices |= {"profile": profile, "looks": [count], "order": "interleaved", "calibration": False}
    choices["targets"] = [target] * (3 if injected else 2)
    choices["seconds"] *= len(choices["targets"]) / COMPARED
    if injected:
        suite = load_suite(choices["suite"], choices.get("variants", ()))
        tests = suite.select(choices.get("tests")).sequence[1:]
        shares = (*SHARES, BURST) if inject is Kind.CPU else SHARES
        choices["inject"] = {"2": {inject.value: shares_by_test(tests, shares)}}
    spec = make_spec(choices)
    if len(spec.table_sizes) > 1:
        raise UsageError("a calibration is of one table size; give one to --table-size, such as 1m.")
    return spec


def can_inject(target: str) -> bool:
    """Whether the target is a server, into which CPU can be injected."""
    return bool(find_dbms(parse_target(target).dbms).binaries)


def shares_by_test(tests: Sequence[str], shares: Sequence[Share]) -> dict[str, list[Share]]:
    """A Latin square: in a block, neighbouring tests have different shares; over as many blocks each test has all."""
    count = len(shares)
    return {test: [shares[(place + block) % count] for block in range(count)] for place, test in enumerate(tests)}
