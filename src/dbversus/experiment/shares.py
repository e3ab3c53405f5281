"""The setting `inject` of an experiment: which copy is slowed down, in what, in which tests and blocks, and by how much."""

from collections.abc import Sequence
from typing import NamedTuple

from dbversus.errors import UsageError

# target number → "cpu" or "io" → test → share, or one share per block, in turn
Inject = dict[str, dict[str, dict[str, float | list[float]]]]

KINDS = ("cpu", "io")


class Shares(NamedTuple):
    """To be added, per CPU time used and per byte read or written: 0.05 is 5 % more."""

    cpu: float
    io: float


def check_inject(inject: Inject, targets: int) -> None:
    """Raises ValueError, in words that name the first mistake, for `targets` targets."""
    for number, kinds in inject.items():
        if not (number.isascii() and number.isdigit() and int(number) < targets and str(int(number)) == number):
            raise ValueError(f"inject names target '{number}'; numbers from 0 (the base) to {targets - 1} are accepted")
        for kind, tests in kinds.items():
            if kind not in KINDS:
                raise ValueError(f"inject.{number} names '{kind}'; accepted: {', '.join(KINDS)}")
            for test, shares in tests.items():
                _check_shares(f"inject.{number}.{kind}.{test}", shares)


def _check_shares(where: str, shares: float | list[float]) -> None:
    each = _listed(shares)
    wrong = next((share for share in each if not 0 <= share <= 1), None)
    if wrong is not None:
        raise ValueError(f"{where} is {wrong}; shares from 0 to 1 are accepted, such as 0.05")
    if not each:
        raise ValueError(f"{where} is empty; give a share, or a list of them, one per block in turn")


def _listed(shares: float | list[float]) -> list[float]:
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
    return Shares(*(_share(kinds.get(kind, {}), names, block) for kind in KINDS))


def _share(tests: dict[str, float | list[float]], names: Sequence[str], block: int) -> float:
    found = next((_listed(tests[name]) for name in names if name in tests), [0.0])
    return found[block % len(found)]
