"""Why a test may differ between two targets, as a value: reports put it into words (report/parts/notes/cause_words.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Fact = str | int | float | bool | None


class Kind(StrEnum):
    """What a cause is made of."""

    SETTING = "setting"
    PLAN = "plan"
    KNOWN = "known"
    COUNTER = "counter"
    COST = "cost"
    BACKGROUND = "background"
    STORAGE = "storage"
    MEMORY = "memory"
    REGIME = "regime"
    DRIFT = "drift"
    LOG = "log"


@dataclass(frozen=True)
class Cause:
    """One of them, on one target; `what` is its name within its kind: a setting, a statement, a metric, a thread.

    `base` and `mine`: what it is on the base and on the target, in `unit`; None: not known there. `ratio`: mine ÷ base.
    `cost`: the part of what an operation costs that it makes up, by which leads are ranked. `share`: of the change, what it
    explains; None: that cannot be told. `tested`: whether it alone was changed, so that the change is its effect; else it only
    goes together with the change, and is called a lead. `means`: what it stands for, and `source` says where that is written.
    `command`: what tests it. `facts`: whatever else is known of one of its kind.
    """

    kind: Kind
    test: str
    target: str
    what: str
    base: Fact = None
    mine: Fact = None
    unit: str = ""
    ratio: float | None = None
    cost: float | None = None
    share: float | None = None
    tested: bool = False
    means: str = ""
    source: str = ""
    command: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
