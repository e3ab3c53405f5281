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
    hammerdb_json,
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
    Format("HammerDB summary", hammerdb_json),
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
    (r"qps\.(abs|rel)\..*\.csv$", "it names no targets; the .tsv beside it has the same figures"),
)
NOT_READ = tuple((re.compile(pattern), why) for pattern, why in _NOT_READ)
"""Files that lie beside results: names, and why they are left out."""

# how results of other tools look, so that they are told by their names
_OTHER_TOOLS = tuple(
    (re.compile(pattern, re.MULTILINE), tool)
    for pattern, tool in (
        (r"^\[Summary\] \w+ +- Takes\(s\)|^tpmC: ", "go-tpc"),
        (r"^\[OVERALL\], |^\w+ +- Takes\(s\): [\d.]+, Count: ", "YCSB"),
        (r"Average number of seconds to run all queries|^mysqlslap", "mysqlslap"),
        (r"^\s+<TpmC>|^MEASURING START", "tpcc-mysql"),
        (r"^Summary:\n\s+(?:Success rate|Total):", "oha or hey"),
        (r"^Running \d+\w* test @ ", "wrk"),
        (r"^ALL STATS$", "memtier_benchmark"),
        (r"^(?:Samples|timeStamp),elapsed,label,", "JMeter"),
        (r"^\s*(?:read|write)\s*: IOPS=|fio-\d", "fio"),
        (r"^procs -+memory-+|^Linux .*\n\n(?:avg-cpu:|Device)", "vmstat or iostat"),
    )
)


def other_tool(head: str) -> str:
    """Name of a tool whose results are not read, by the beginning of a file; empty: not known."""
    return next((tool for pattern, tool in _OTHER_TOOLS if pattern.search(head)), "")


@lru_cache(maxsize=10_000)
def why_not_read(name: str) -> str:
    return next((why for pattern, why in NOT_READ if pattern.match(name)), "")


def format_of(name: str, head: str) -> Format | None:
    return next((each for each in FORMATS if each.fits(name, head)), None)
