"""What names of the reference method's files and builds say."""

import re
from functools import lru_cache
from typing import NamedTuple

from dbversus.stats.metrics import LOAD_TEST

_RUN_FILE = re.compile(
    r"sb\.(?P<load>prepare\.)?(?P<kind>o|met|r\.(?:trx|qps|rtavg|rtmax|rt95))\."
    r"(?P<test>.+?)(?:\.pk(?P<key>[01]))?(?:\.dop(?P<clients>\d+))?$"
)
_BUILDS = re.compile(r"(?:x\.)?(my|fbmy|rx|ma|pg)\d")
_DBMS = {"my": "mysql", "fbmy": "myrocks", "rx": "myrocks", "ma": "mariadb", "pg": "postgres"}
_VERSIONS = {
    "mysql": re.compile(r"(?:x\.)?my(\d)(\d)(\d\d)(?![^._])"),
    "mariadb": re.compile(r"(?:x\.)?ma(\d\d)(\d\d)(\d\d)(?![^._])"),
    "postgres": re.compile(r"(?:x\.)?pg(\d\d)(\d\d?)(?![^._])"),
}


class RunFile(NamedTuple):
    """`kind`: `o` output of sysbench, `met` hardware use, `r.qps` and the like one figure for each number of clients."""

    kind: str
    test: str
    clients: int | None


@lru_cache(maxsize=10_000)  # each run has files of the same names
def run_file(name: str) -> RunFile | None:
    """What the name of a file of a run says, as `sb.o.point-query.range100.pk1.dop8`. None: it is no such name.

    A test without a primary key keeps `.pk0` in its name. All that loads is one test.
    """
    match = _RUN_FILE.match(name)
    if match is None:
        return None
    clients = int(match["clients"]) if match["clients"] else None
    if match["load"]:
        return RunFile(match["kind"], LOAD_TEST, clients)
    return RunFile(match["kind"], match["test"] + (".pk0" if match["key"] == "0" else ""), clients)


def run_file_name(kind: str, test: str, clients: int | None = None) -> str:
    """The name that `run_file` reads: `sb.r.qps.point-query.range100.pk1`, with `.dop8` where the number of clients is given."""
    key = "" if test.endswith(".pk0") else ".pk1"
    return f"sb.{kind}.{test}{key}" + (f".dop{clients}" if clients else "")


def is_scan(test: str) -> bool:
    """Whether a test of the reference reads whole tables: its rate is one of rows."""
    return test.partition(".")[0] == "scan"


def dbms_of(label: str) -> str:
    """DBMS of a build's name, `my8022` or `x.pg131.x5.pk1`; empty where it does not tell."""
    match = _BUILDS.match(label)
    return _DBMS[match[1]] if match else ""


def version_of(label: str) -> str:
    """Version of a build's name: 8.0.22 of `x.my8022.x6d.pk1`; empty where it does not tell."""
    pattern = _VERSIONS.get(dbms_of(label))
    match = pattern.match(label) if pattern else None
    return ".".join(str(int(part)) for part in match.groups()) if match else ""
