"""What is shown of experiments side by side, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass

from dbversus.stats.comparison import Comparison
from dbversus.stats.model import Finding, Metric


@dataclass(frozen=True)
class Facts:
    """One experiment: what it is called here, its folder, and where and how it was measured; empty where unknown.

    `imported`: measured by other tools, without blocks.
    """

    name: str
    directory: str
    host: str
    kernel: str
    table_sizes: str
    clients: str
    blocks: int
    measured: str
    imported: bool = False


@dataclass(frozen=True)
class BesideLine:
    """One test on one candidate. `comparisons`: by name of the experiment, of those that have it.

    `interactions`: for each experiment but the first, findings by metric on the ratio of target ÷ base there over that in the
    first. `left_out`: why a metric has none, in words. `sentence`: what all say together.
    """

    test: str
    target: str
    comparisons: Mapping[str, Comparison]
    interactions: Mapping[str, Mapping[str, Finding]]
    sentence: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class SideBySide:
    """Two experiments or more. `judged`: metrics that are shown. `notes`: what a reader has to know before believing it."""

    base: str
    experiments: tuple[Facts, ...]
    lines: tuple[BesideLine, ...]
    judged: tuple[Metric, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.experiments)

    @property
    def findings(self) -> list[Finding]:
        """All interactions of the metrics that are shown."""
        shown = {metric.name for metric in self.judged}
        return [
            finding
            for line in self.lines
            for found in line.interactions.values()
            for finding in found.values()
            if finding.metric in shown
        ]
