"""The formats of `dbversus import`, in the order in which a file is tried."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from dbversus.importing.formats import (
    benchbase,
    efficiency,
    figures_csv,
    hammerdb,
    insert,
    pgbench,
    pgbench_output,
    rates,
    settle,
    summaries,
    sysbench,
)
from dbversus.importing.lines import Text
from dbversus.importing.model import Sheet, Source


@dataclass(frozen=True)
class Format:
    name: str
    module: ModuleType

    @property
    def fits(self) -> Callable[[str, str], bool]:
        found: Callable[[str, str], bool] = self.module.fits
        return found

    @property
    def read(self) -> Callable[[Source, Text, Sheet], str]:
        found: Callable[[Source, Text, Sheet], str] = self.module.read
        return found

    def compared_with(self, shown: str) -> str | None:
        """The file that has the figures of which those of `shown` are ratios; None: the format has no ratios."""
        found: str | None = self.module.compared_with(shown) if hasattr(self.module, "compared_with") else None
        return found


FORMATS = (
    Format("settle log", settle),
    Format("hardware efficiency", efficiency),
    Format("sysbench output", sysbench),
    Format("figures by clients", rates),
    Format("throughput summary", summaries),
    Format("Insert Benchmark summary", insert),
    Format("pgbench log", pgbench),
    Format("pgbench output", pgbench_output),
    Format("HammerDB log", hammerdb),
    Format("BenchBase results", benchbase),
    Format("figures as CSV", figures_csv),
)

_NOT_READ = (
    (r"sb\.(prepare\.)?vm\.", "samples of vmstat; their means are in sb.met.*"),
    (r"sb\.(prepare\.)?io\.", "samples of iostat; their means are in sb.met.*"),
    (r"sb\.(prepare\.)?(ps|top)\.", "samples of processes"),
    (r"sb\.(espl|sei|es|is|gv|gs|ts|mem|frag|sz|ls|lsh|lsa|pgs|pgi|pg|perf|pmp|time|end)\b", "no figures of tests"),
    (r".*\.raw\.csv$", "single transactions; import the summary"),
)
NOT_READ = tuple((re.compile(pattern), why) for pattern, why in _NOT_READ)
"""Files that lie beside results: names, and why they are left out."""


@lru_cache(maxsize=10_000)
def why_not_read(name: str) -> str:
    return next((why for pattern, why in NOT_READ if pattern.match(name)), "")


def format_of(name: str, head: str) -> Format | None:
    return next((each for each in FORMATS if each.fits(name, head)), None)
