"""The setting `inject` of an experiment: which copy is slowed down, in what, in which tests and blocks, and by how much."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from dbversus.errors import UsageError

KINDS = ("cpu", "io")
LONGEST_MS = 3_600_000

_EXAMPLE = "{ share = 1.0, ms = 50, every_ms = 500 }"


@dataclass(frozen=True)
class Burst:
    """`share` of the CPU in `ms` of every `every_ms` of the work of each serving thread, and nothing in the rest."""

    share: float
    ms: float
    every_ms: float


Share = float | Burst

# target number → "cpu" or "io" → test → share, or one share per block, in turn
Inject = dict[str, dict[str, dict[str, Share | list[Share]]]]


class Shares(NamedTuple):
    """To be added, per CPU time used and per byte read or written: 0.05 is 5 % more. `burst`: when, of CPU; None: always."""

    cpu: float
    io: float
    burst: Burst | None = None

    def asked(self) -> dict[str, Any]:
        """As the journal has it."""
        asked = {"cpu_share": self.cpu, "io_share": self.io}
        return asked if self.burst is None else asked | {"cpu_ms": self.burst.ms, "cpu_every_ms": self.burst.every_ms}


def read_bursts(inject: Any) -> Any:
    """`inject` as it stands in a file, with a Burst for every table that stands for a share.

    Raises ValueError that names the first table that is no burst. Whatever else is wrong is left as it is.
    """
    return _read_below("inject", inject, levels=3)


def _read_below(where: str, given: Any, levels: int) -> Any:
    if levels and isinstance(given, dict):
        return {key: _read_below(f"{where}.{key}", inner, levels - 1) for key, inner in given.items()}
    if isinstance(given, list):
        return [_burst(where, each) if isinstance(each, dict) else each for each in given]
    return _burst(where, given) if isinstance(given, dict) else given


def _burst(where: str, table: dict[str, Any]) -> Burst:
    wanted = tuple(field.name for field in fields(Burst))
    for name in (*wanted, *table):
        if name not in table:
            raise ValueError(f"{where} lacks `{name}`; a burst such as {_EXAMPLE} is accepted")
        if name not in wanted:
            raise ValueError(f"{where} has `{name}`; a burst such as {_EXAMPLE} is accepted")
        if isinstance(table[name], bool) or not isinstance(table[name], int | float):
            raise ValueError(f"{where}.{name} is {table[name]!r}; a number is accepted, as in {_EXAMPLE}")
    return Burst(**table)


def check_inject(inject: Inject, targets: int) -> None:
    """Raises ValueError, in words that name the first mistake, for `targets` targets."""
    for number, kinds in inject.items():
        if not (number.isascii() and number.isdigit() and int(number) < targets and str(int(number)) == number):
            raise ValueError(f"inject names target '{number}'; numbers from 0 (the base) to {targets - 1} are accepted")
        for kind, tests in kinds.items():
            if kind not in KINDS:
                raise ValueError(f"inject.{number} names '{kind}'; accepted: {', '.join(KINDS)}")
            for test, shares in tests.items():
                _check_shares(f"inject.{number}.{kind}.{test}", kind, _listed(shares))


def _check_shares(where: str, kind: str, shares: Sequence[Share]) -> None:
    for each in shares:
        if not 0 <= _amount(each) <= 1:
            raise ValueError(f"{where} is {_amount(each)}; shares from 0 to 1 are accepted, such as 0.05")
        if isinstance(each, Burst):
            _check_burst(where, kind, each)
    if not shares:
        raise ValueError(f"{where} is empty; give a share, or a list of them, one per block in turn")


def _check_burst(where: str, kind: str, burst: Burst) -> None:
    if kind != "cpu":
        raise ValueError(f"{where} is a burst; bursts are of cpu alone, and a share such as 0.05 is accepted here")
    if not burst.ms > 0:
        raise ValueError(f"{where}.ms is {burst.ms:g}; a burst lasts some time, such as 50")
    if not burst.ms < burst.every_ms <= LONGEST_MS:
        raise ValueError(
            f"{where}.every_ms is {burst.every_ms:g}; more than ms ({burst.ms:g}) and up to {LONGEST_MS} are accepted"
        )


def _listed(shares: Share | list[Share]) -> list[Share]:
    return shares if isinstance(shares, list) else [shares]


def check_tests(inject: Inject, known: Sequence[str]) -> None:
    """Raises UsageError for a test that is none of the experiment's, `known`."""
    for number, kinds in inject.items():
        for kind, tests in kinds.items():
            for test in tests:
                if test not in known:
                    raise UsageError(
                        f"inject.{number}.{kind} names test '{test}', which is not run; there are {', '.join(known)}."
                    )


def shares_of(inject: Inject, number: int, names: Sequence[str], block: int) -> Shares:
    """Shares of target `number` in a block, for a test that goes by `names`, of which the first that is there counts."""
    kinds = inject.get(str(number), {})
    cpu, io = (_share(kinds.get(kind, {}), names, block) for kind in KINDS)
    return Shares(_amount(cpu), _amount(io), cpu if isinstance(cpu, Burst) else None)


def _amount(share: Share) -> float:
    return share.share if isinstance(share, Burst) else share


def _share(tests: dict[str, Share | list[Share]], names: Sequence[str], block: int) -> Share:
    found = next((_listed(tests[name]) for name in names if name in tests), [0.0])
    return found[block % len(found)]
