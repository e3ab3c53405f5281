"""Suites with a known truth, to see how often the judging code is right: `python -m dbversus.stats.simulation.simulate`.

Block values are drawn directly: ln of the true ratio plus noise of a given spread between blocks. Tests differ in
their spread, throughput moves against CPU per op, only some tests do IO, and it is noisier. Each suite is run as an
experiment is: at each look settled tests retire, and one that is called changed goes on into the blocks of the next look,
which measure it again. What is found at the last look is not.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dbversus.errors import UsageError
from dbversus.stats.judge import decided_tests
from dbversus.stats.judging.looks import looks_taken
from dbversus.stats.judging.sequential import LOOKS, check_looks
from dbversus.stats.judging.verdicts import assess
from dbversus.stats.metrics import CPU, IO_BYTES, PRIMARY, THROUGHPUT, Floats
from dbversus.stats.model import DIFFERS, BlockValue, Finding, Verdict
from dbversus.stats.simulation.protocol import take_looks

TARGET = "changed"

_METRICS = (CPU, THROUGHPUT, IO_BYTES)
_CORRELATION = -0.8  # of CPU per op with throughput
_ROWS = 36
_SHARE_OF_ROWS = 0.5
UNEVEN = 6.0
"""Seen where InnoDB purges in some blocks of a test and not in others: errors of 0.3 to 0.6 %, and of 2 to 6 %."""

Place = tuple[str, str]
"""Test and metric."""


@dataclass(frozen=True)
class World:
    """What is true. `sd` is the typical spread of ln(target/base) of CPU per op and throughput between blocks.

    Tests' spreads are lognormal around it with `sd_spread` (of the log); of `noisy_tests` tests it is five times that.
    Each `io_every`-th test does IO, with `io_spread` times its spread. `noise`: "normal", or "t4" (Student's, four degrees of
    freedom, scaled to the same sd). `changes`: test number → true change of CPU per op as a share; throughput
    changes with it the other way; `io_changes`: the same of IO, where there is any. `slow_starts`: share of the starts of a
    server in which all of a block's tests are 10-30 % slower; `uneven_blocks`: of the blocks of a test in which its rows vary
    UNEVEN times as much. `ended_after`: the number of blocks after which the time is up;
    None: it ends with the last look.
    """

    tests: int = 42
    sd: float = 0.015
    sd_spread: float = 0.3
    noisy_tests: int = 0
    io_every: int = 3
    io_spread: float = 2.0
    noise: str = "normal"
    slow_starts: float = 0.0
    uneven_blocks: float = 0.0
    changes: Mapping[int, float] = field(default_factory=dict)
    io_changes: Mapping[int, float] = field(default_factory=dict)
    looks: tuple[int, ...] = LOOKS
    ended_after: int | None = None

    def truth(self, test: int, metric: str) -> float:
        """ln of the true ratio."""
        change = float(np.log1p(self.changes.get(test, 0.0)))
        return {CPU: change, THROUGHPUT: -change, IO_BYTES: float(np.log1p(self.io_changes.get(test, 0.0)))}[metric]


@dataclass(frozen=True)
class Noise:
    """Of all block values, tests × metrics × blocks: what it adds, and the standard error that the rows give."""

    added: Floats
    error: Floats


def block_noise(world: World, blocks: int, rng: np.random.Generator) -> Noise:
    """Half of the variance is of the rows, whose error is known as 36 of them tell it; the other half of the starts."""
    sd = world.sd * np.exp(rng.normal(0, world.sd_spread, world.tests))
    sd[world.tests - world.noisy_tests :] *= 5
    shape = world.tests, len(_METRICS), blocks
    unit = rng.standard_t(4, shape) / np.sqrt(2) if world.noise == "t4" else rng.standard_normal(shape)
    unit[:, 1] = _CORRELATION * unit[:, 0] + np.sqrt(1 - _CORRELATION**2) * unit[:, 1]
    of_metrics = np.array([1.0, 1.0, world.io_spread])[:, None] * sd[:, None, None]
    error = of_metrics * np.sqrt(_SHARE_OF_ROWS * rng.chisquare(_ROWS - 1, shape) / (_ROWS - 1))
    added = unit * of_metrics
    if world.uneven_blocks:
        uneven = rng.random((world.tests, 1, blocks)) < world.uneven_blocks
        more = rng.standard_normal(shape) * of_metrics * np.sqrt(_SHARE_OF_ROWS * (UNEVEN**2 - 1))
        added, error = added + np.where(uneven, more, 0.0), np.where(uneven, UNEVEN * error, error)
    if world.slow_starts:
        slow = rng.uniform(0.1, 0.3, (2, blocks)) * (rng.random((2, blocks)) < world.slow_starts)
        added[:, 0] += slow[0] - slow[1]
        added[:, 1] -= slow[0] - slow[1]
    return Noise(added, error)


def values_of(world: World, noise: Noise, blocks: Mapping[int, range]) -> list[BlockValue]:
    """Block values of these blocks of each test; tests without IO have None there."""
    values = []
    for test, chosen in blocks.items():
        for index, metric in enumerate(_METRICS):
            truth, none = world.truth(test, metric), metric == IO_BYTES and test % world.io_every != 0
            for block in chosen:
                at = test, index, block
                value, error = (None, None) if none else (float(truth + noise.added[at]), float(noise.error[at]))
                values.append(BlockValue(f"t{test}", TARGET, metric, block, value, _ROWS, error=error))
    return values


@dataclass(frozen=True)
class Outcome:
    """How one suite ended. `found`: each change as it was when it was first called one; `test_blocks` were run."""

    found: Mapping[Place, Finding]
    final: list[Finding]
    test_blocks: int


def run_suite(world: World, rng: np.random.Generator) -> Outcome:
    """One experiment: look, retire what is settled, go on until the last look."""
    noise = block_noise(world, world.looks[-1], rng)
    found: dict[Place, Finding] = {}

    def judge(blocks: Mapping[str, int]) -> list[Finding]:
        chosen = {int(name[1:]): range(count) for name, count in blocks.items()}
        findings = assess(values_of(world, noise, chosen), PRIMARY, world.looks)
        for finding in findings:
            if finding.verdict in DIFFERS:
                found.setdefault((finding.test, finding.metric), finding)
        return findings

    names = [f"t{number}" for number in range(world.tests)]
    reached = looks_taken(world.looks, world.ended_after or world.looks[-1])
    looked = take_looks(judge, names, tuple(reached), decided_tests)
    return Outcome(found, looked.findings, sum(looked.blocks.values()))


@dataclass
class Tally:
    """Counts over suites, for tests without and with a true change; found: at any look, final: in the end."""

    suites: int = 0
    false_suites_found: int = 0
    false_suites_final: int = 0
    equal_findings: int = 0
    equal_equivalent: int = 0
    changed: int = 0
    changed_found: int = 0
    changed_final: int = 0
    test_blocks: int = 0
    found_estimates: list[float] = field(default_factory=list)
    again_estimates: list[float] = field(default_factory=list)
    standing_estimates: list[float] = field(default_factory=list)
    covered: list[bool] = field(default_factory=list)

    def add(self, world: World, outcome: Outcome) -> None:
        self.suites += 1
        self.test_blocks += outcome.test_blocks
        self.false_suites_found += any(_truth(world, place) == 0 for place in outcome.found)
        standing = [_place(finding) for finding in outcome.final if finding.verdict in DIFFERS]
        self.false_suites_final += any(_truth(world, place) == 0 for place in standing)
        for finding in outcome.final:
            self._add_finding(_truth(world, _place(finding)), outcome.found.get(_place(finding)), finding)

    def _add_finding(self, truth: float, found: Finding | None, final: Finding) -> None:
        if final.low is not None and final.high is not None:
            self.covered.append(bool(np.log(final.low) <= truth <= np.log(final.high)))
        if truth == 0:
            self.equal_findings += 1
            self.equal_equivalent += final.verdict is Verdict.EQUIVALENT
        elif final.metric != THROUGHPUT:
            self.changed += 1
            self.changed_found += found is not None
            self.changed_final += final.verdict in DIFFERS
            if found is not None and final.blocks > found.blocks:
                self._add_estimates(found, final)

    def _add_estimates(self, found: Finding, final: Finding) -> None:
        """Of every change that was measured again, whatever became of it: to leave some out would select lucky ones."""
        if found.ratio is None or final.ratio is None:
            return
        self.found_estimates.append(found.ratio - 1)
        self.again_estimates.append(final.ratio - 1)
        if final.verdict in DIFFERS:
            self.standing_estimates.append(final.ratio - 1)

    def line(self) -> str:
        def share(part: int, whole: int) -> str:
            return f"{100 * part / whole:.1f} %" if whole else "-"

        kinds = (self.found_estimates, self.again_estimates, self.standing_estimates)
        estimates = [f"{100 * np.mean(kind):+.2f} %" if kind else "-" for kind in kinds]
        return " | ".join(
            (
                share(self.false_suites_found, self.suites),
                share(self.false_suites_final, self.suites),
                share(self.equal_equivalent, self.equal_findings),
                share(self.changed_found, self.changed),
                share(self.changed_final, self.changed),
                *estimates,
                share(sum(self.covered), len(self.covered)),
                f"{self.test_blocks / self.suites:.0f}",
            )
        )


def _place(finding: Finding) -> Place:
    return finding.test, finding.metric


def _truth(world: World, place: Place) -> float:
    """ln of the true ratio."""
    test, metric = place
    return world.truth(int(test[1:]), metric)


def simulate(world: World, suites: int, seed: int) -> Tally:
    """Run `suites` experiments in this world."""
    rng, tally = np.random.default_rng(seed), Tally()
    for _ in range(suites):
        tally.add(world, run_suite(world, rng))
    return tally


WORLDS: Mapping[str, World] = {
    "equal, sd 1.0 %": World(sd=0.010),
    "equal, sd 1.5 %": World(),
    "equal, sd 1.5 %, t4 noise": World(noise="t4"),
    "equal, sd 1.5 %, 3 tests 5 times noisier": World(noisy_tests=3),
    "equal, sd 1.5 %, spread of spreads 0.8": World(sd_spread=0.8),
    "equal, sd 3.0 %": World(sd=0.03),
    "equal, sd 3.0 %, t4 noise": World(sd=0.03, noise="t4"),
    "equal, 5 tests, sd 1.5 %": World(tests=5),
    "equal, 12 tests, one look at 4 blocks, sd 1.5 %": World(tests=12, looks=(4,)),
    "equal, 12 tests, one look at 4 blocks, 4 of them 5 times noisier": World(tests=12, noisy_tests=4, looks=(4,)),
    "equal, 15 tests, sd 1.5 %": World(tests=15),
    "equal, 15 tests, 4 of them 5 times noisier": World(tests=15, noisy_tests=4),
    "equal, 15 tests, sd 1.5 %, t4 noise": World(tests=15, noise="t4"),
    "15 tests, one +7 %": World(tests=15, changes={0: 0.07}),
    "equal, sd 1.5 %, 1 start in 36 slow": World(slow_starts=1 / 36),
    "equal, sd 1.0 %, uneven blocks": World(sd=0.010, uneven_blocks=1 / 6),
    "equal, 12 tests, one look at 3 blocks, uneven blocks": World(tests=12, looks=(3,), uneven_blocks=1 / 6),
    "one +5 %, sd 1.0 %, uneven blocks": World(sd=0.010, uneven_blocks=1 / 6, changes={0: 0.05}),
    "one +2 %, sd 1.5 %": World(changes={0: 0.02}),
    "one +3 %, sd 1.0 %": World(sd=0.010, changes={0: 0.03}),
    "one +3 %, sd 1.5 %": World(changes={0: 0.03}),
    "one +5 %, sd 1.5 %": World(changes={0: 0.05}),
    "one +5 %, sd 1.5 %, 1 start in 36 slow": World(slow_starts=1 / 36, changes={0: 0.05}),
    "one +5 %, sd 3.0 %": World(sd=0.03, changes={0: 0.05}),
    "equal, IO sd 15 %": World(io_spread=10),
    "one IO +20 %, IO sd 15 %": World(io_spread=10, io_changes={0: 0.2}),
    "one IO +30 %, IO sd 15 %": World(io_spread=10, io_changes={0: 0.3}),
    "six IO +20 %, IO sd 15 %": World(io_spread=10, io_changes=dict.fromkeys(range(0, 18, 3), 0.2)),
    "equal, IO sd 7 %": World(io_spread=4.5),
    "one IO +10 %, IO sd 7 %": World(io_spread=4.5, io_changes={0: 0.1}),
}

HEADER = (
    "world",
    "false alarm at any look",
    "in the end",
    "equal: equivalent",
    "change found at any look",
    "in the end",
    "estimate when found",
    "measured again",
    "of those that stand",
    "interval covers",
    "test blocks",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a Markdown table of how the judging code does in each world."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--suites", type=int, default=400, help="simulated experiments per world (default: 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--world", action="append", choices=WORLDS, metavar="NAME", help="only this row of the table")
    parser.add_argument(
        "--looks", type=int, nargs="+", metavar="BLOCKS", help="other numbers of blocks to look after than a row's own"
    )
    parser.add_argument(
        "--ended-after",
        type=int,
        metavar="BLOCKS",
        help="as if the time were up then, between two looks or before the first",
    )
    asked = parser.parse_args(arguments)
    if asked.ended_after is not None and asked.ended_after < 2:
        parser.error(f"--ended-after is {asked.ended_after}; 2 or more is accepted: one block has no interval")
    if asked.looks:
        try:
            check_looks(tuple(asked.looks))
        except UsageError as error:
            parser.error(str(error))
    print(f"| {' | '.join(HEADER)} |")
    print(f"|{' --- |' * len(HEADER)}")
    for name in asked.world or WORLDS:
        looks = tuple(asked.looks or WORLDS[name].looks)
        world = replace(WORLDS[name], looks=looks, ended_after=asked.ended_after)
        print(f"| {name} | {simulate(world, asked.suites, asked.seed).line()} |", flush=True)


if __name__ == "__main__":
    main()
