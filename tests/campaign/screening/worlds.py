"""Servers that there are not: what an experiment of a screening would find, when the truth is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp

import numpy as np

from dbversus.builds.target import parse_target
from dbversus.campaign.agenda import End, Found, Outcome, Planned
from dbversus.campaign.screening.agenda import Screening
from dbversus.campaign.screening.factors import Factor, Settings
from dbversus.stats.model import Verdict

TEST, METRIC = "point-query", "server_cpu_us_per_op"


def screening(count: int, seed: int = 1) -> Screening:
    """Of `count` settings."""
    factors = tuple(Factor(f"s{number}", f"s{number}=0", f"s{number}=1") for number in range(count))
    choices = {"profile": "quick", "seed": seed, "tests": TEST}
    return Screening("sqlite:bundled", ("first", "second"), Settings((), factors), choices)


@dataclass
class World:
    """ln(second/first) of settings, and of sets of settings that act only together; `sd`: of one block."""

    alone: Mapping[str, float]
    together: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    sd: float = 0.02
    seed: int = 1
    lost: frozenset[int] = frozenset()

    def measure(self, planned: Planned) -> Outcome:
        """A change is found where it is twice as large as its standard error."""
        chance = np.random.default_rng([self.seed, len(planned.spec.targets)])
        blocks = planned.spec.looks[-1]
        found = []
        for number, text in enumerate(planned.spec.targets[1:], 1):
            if number in self.lost:
                continue
            values = self._truth(text) + chance.normal(0, self.sd, blocks)
            mean, error = float(values.mean()), self.sd / blocks**0.5
            verdict = Verdict.UNDECIDED if abs(mean) < 3 * error else Verdict.REGRESSION
            sd = float(values.std(ddof=1))
            bounds = (exp(mean - 2 * error), exp(mean + 2 * error))
            found.append(Found(TEST, number, METRIC, verdict, blocks, exp(mean), *bounds, sd))
        return Outcome("looks used up", tuple(planned.spec.targets), tuple(found))

    def _truth(self, target: str) -> float:
        chosen = {item.removesuffix("=1") for item in parse_target(target).configs if item.endswith("=1")}
        alone = sum(effect for name, effect in self.alone.items() if name in chosen)
        return alone + sum(effect for names, effect in self.together.items() if chosen.issuperset(names))


def play(agenda: Screening, world: World) -> tuple[dict[str, Outcome], str]:
    """The whole campaign: outcomes by name, and why it ended."""
    outcomes: dict[str, Outcome] = {}
    while True:
        step = agenda.next(outcomes)
        if isinstance(step, End):
            return outcomes, step.reason
        outcomes |= {one.name: world.measure(one) for one in step.experiments}
