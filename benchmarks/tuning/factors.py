"""The choices of the protocol that can be tried out, and the levels of each. The first level is what is done by default."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

READS = "point-query.pre,random-points-100.pre,range-notcovered-si.pre,read-only-100.pre"
WRITES = "update-index,update-nonindex"


@dataclass(frozen=True)
class Factor:
    """`levels`: name → what it changes in the experiment. `tests`: globs of those that can tell."""

    title: str
    levels: Mapping[str, Mapping[str, Any]]
    tests: str = f"{READS},{WRITES}"


def _slot(length_ms: int) -> dict[str, Any]:
    return {"slot_ms": length_ms, "write_slot_ms": 2 * length_ms}


FACTORS: Mapping[str, Factor] = {
    "slot": Factor(
        "length of a slot, with the same time per test and block",
        {f"{length} ms": _slot(length) for length in (20, 10, 50, 100, 200)},
    ),
    "settle": Factor(
        "uncounted part before a slot", {f"{length} ms": {"warm_up_ms": length} for length in (5, 0, 2, 20)}
    ),
    "placement": Factor(
        "which cores client and servers have",
        {name: {"placement": name} for name in ("together", "split", "apart", "none")},
    ),
    "freeze": Factor("idle servers are frozen", {"frozen": {"freeze": True}, "running": {"freeze": False}}),
    "restart": Factor(
        "servers are started anew for each block, or stay up",
        {
            "each block": {"restart": "block", "restore": "block"},
            "never": {"restart": "never", "restore": "never"},
        },
        READS,
    ),
    "restore": Factor(
        "data is restored for each block, or ages",
        {
            "each block": {"restart": "block", "restore": "block"},
            "never": {"restart": "block", "restore": "never"},
        },
    ),
}

LONG = "long"
LONG_SLOTS: Mapping[str, Any] = {
    "order": "sequential",
    "slot_ms": 2000,
    "write_slot_ms": 2000,
    "warm_up_ms": 200,
    "rows": 2,
    "seconds": 10,
}
"""One target alone, in slots so long that a cold start of one does not show: what the short ones are held against."""
