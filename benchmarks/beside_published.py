"""A comparison beside what was published about the same versions: ratios of both, test by test, as a Markdown table.

    python benchmarks/beside_published.py results/mysql-56-80 o.met.in --old my5649 --new my8022

The published file is an `o.met.*` summary of the reference method: per test, `cpu/o` (percent of the machine × seconds per
operation, client included), reads, writes and operations per second of each build, one run each. The results directory
holds a finished comparison.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import spearmanr

from dbversus.errors import UsageError
from dbversus.results.read import open_results
from dbversus.stats.comparison import Comparison, compare
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding

SMALLEST_CHANGE = 0.03
BY_RANGE = ("random-points", "read-only", "read-write")
"""Tests that the reference runs with several ranges, which are part of our names."""


@dataclass(frozen=True)
class Published:
    """new ÷ old of one run each."""

    cpu: float
    throughput: float


@dataclass(frozen=True)
class Pair:
    """One test in both."""

    test: str
    published: Published
    cpu: Finding
    throughput: Finding

    @property
    def has_direction(self) -> bool:
        """Whether the published change of CPU per operation is large enough to be one."""
        return abs(self.published.cpu - 1) >= SMALLEST_CHANGE

    @property
    def same_direction(self) -> bool:
        """Whether CPU per operation moved the same way."""
        return (self.published.cpu > 1) == ((self.cpu.ratio or 1) > 1)


def read_published(path: Path, old: str, new: str) -> dict[str, Published]:
    """Our test name → ratios. Only the absolute figures are read: the relative ones are rounded."""
    found = {}
    for section in re.split(r"\n\s*\n", path.read_text()):
        lines = section.strip().splitlines()
        name = _our_name(lines[0]) if lines else ""
        figures = dict(_absolute(lines))
        builds = [next((key for key in figures if f".{build}" in key), None) for build in (old, new)]
        if name and builds[0] and builds[1]:
            before, after = figures[builds[0]], figures[builds[1]]
            found[name] = Published(after[0] / before[0], after[1] / before[1])
    return found


def _our_name(title: str) -> str:
    """`sb.met.random-points.pre.range10.pk1.dop1` → `random-points-10.pre`."""
    match = re.match(r"sb\.met\.([a-z-]+)(\.pre)?\.range(\d+)\.", title)
    if not match:
        return ""
    test, before, width = match.groups()
    return (f"{test}-{width}" if test in BY_RANGE else test) + (before or "")


def _absolute(lines: Sequence[str]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Build → CPU per operation and operations per second, from the lines before the relative ones."""
    for line in lines[1:]:
        if line.startswith("--- relative"):
            return
        fields = line.split()
        if len(fields) == 5 and fields[0] != "cpu/o":
            yield fields[4], (float(fields[0]), float(fields[3]))


def pairs(comparisons: Iterable[Comparison], published: Mapping[str, Published]) -> list[Pair]:
    """`comparisons`: of one target."""
    return [
        Pair(one.test, published[one.test], one.findings[CPU], one.findings[THROUGHPUT])
        for one in comparisons
        if one.test in published and CPU in one.findings and one.findings[CPU].ratio
    ]


def table(items: Sequence[Pair]) -> Iterator[str]:
    yield "| test | CPU/op published | CPU/op here | throughput published | throughput here | verdict on CPU/op |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for item in items:
        note = " (other direction)" if item.has_direction and not item.same_direction else ""
        yield (
            f"| {item.test} | {item.published.cpu:.2f} | {_shown(item.cpu)} | {item.published.throughput:.2f} "
            f"| {_shown(item.throughput)} | {item.cpu.verdict}{note} |"
        )


def _shown(finding: Finding) -> str:
    low, high = finding.low, finding.high
    return f"{finding.ratio:.2f}" + (f" [{low:.2f}, {high:.2f}]" if low and high else "")


def summary(items: Sequence[Pair]) -> str:
    telling = [item for item in items if item.has_direction]
    agree = sum(item.same_direction for item in telling)
    cpu = spearmanr([item.published.cpu for item in items], [item.cpu.ratio or 1.0 for item in items]).statistic
    rate = spearmanr(
        [item.published.throughput for item in items], [item.throughput.ratio or 1.0 for item in items]
    ).statistic
    return (
        f"Of {len(telling)} tests whose published CPU per operation changed by {SMALLEST_CHANGE:.0%} or more, {agree} move the "
        f"same way; rank correlation of all {len(items)}: {cpu:.2f} (CPU per operation), {rate:.2f} (throughput)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="results directory of a finished comparison of two targets")
    parser.add_argument("published", type=Path, help="an o.met.* summary of the reference method")
    parser.add_argument("--old", required=True, help="the published base, e.g. my5649")
    parser.add_argument("--new", required=True, help="the published target, e.g. my8022")
    asked = parser.parse_args()
    try:
        published = read_published(asked.published, asked.old, asked.new)
        results = open_results(asked.results)
    except (OSError, UsageError) as error:
        parser.error(str(error))
    labels = [target.label for target in results.targets[1:2]]
    items = pairs((one for one in compare(results) if one.target in labels), published)
    if not items:
        parser.error(f"{asked.published} and {asked.results} have no test in common with {asked.old} and {asked.new}")
    print("\n".join(table(items)))
    print(f"\n{summary(items)}")


if __name__ == "__main__":
    main()
