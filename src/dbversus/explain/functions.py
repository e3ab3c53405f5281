"""Functions that a change in CPU time lies in, and waits that one in throughput lies in, as causes: those whose difference is
shown, in the direction of the change."""

from collections.abc import Iterator, Sequence

from dbversus.explain.cause import Cause, Kind
from dbversus.profiling.figures import FunctionCost, Profile
from dbversus.profiling.moved import FEW
from dbversus.profiling.stored import Profiled
from dbversus.profiling.symbols import shortened
from dbversus.profiling.waits import ON_CPU, RUN_QUEUE

LEAST_SHARE = 0.03
"""Of the change: what has less of it is in the table of functions alone."""
NAMES, UNDER, GONE, NEW, LOW, HIGH = "names", "under", "gone", "new", "low", "high"
"""Of facts: all functions, the nearest common caller, functions of the base alone and of the target alone, each in a line; and
the interval of the difference."""


def function_causes(profiled: Profiled, ratio: float | None = None, change_us: float = 0.0) -> list[Cause]:
    """Those with most of the change first; none where one build tells fewer names.

    `ratio` and `change_us`: of the CPU time in the verdict, where it changed. A profile that shows the opposite tells nothing of
    that. Where it shows functions to differ and their sum not, as beside IO that varies, shares are of the verdict's change.
    """
    profile = profiled.profile
    if not profile.has_names or profile.is_opposite(ratio):
        return []
    return list(_causes(profiled, Kind.FUNCTION, profile.whole.change_us if profile.whole.is_shown else change_us))


def wait_causes(profiled: Profiled) -> list[Cause]:
    """The same of what operations wait for; not their time on a CPU, nor in its queue, which grows with that."""
    whole = profiled.profile.whole
    causes = _causes(profiled, Kind.WAIT, whole.change_us if whole.is_shown else 0.0)
    return [cause for cause in causes if cause.what not in (ON_CPU, RUN_QUEUE)]


def _causes(profiled: Profiled, kind: Kind, change_us: float) -> Iterator[Cause]:
    """None of a change that is not known."""
    for cost in profiled.profile.functions:
        share = cost.own.change_us / change_us if change_us else 0.0
        if cost.own.is_shown and share >= LEAST_SHARE:
            yield _cause(profiled, kind, cost, share)


def _cause(profiled: Profiled, kind: Kind, cost: FunctionCost, share: float) -> Cause:
    own = cost.own
    return Cause(
        kind,
        profiled.test,
        profiled.target,
        in_brief(cost.names, cost.under),
        base=own.base_us,
        mine=own.mine_us,
        unit="µs/op",
        ratio=own.mine_us / own.base_us if own.base_us > 0 and own.mine_us > 0 else None,
        cost=_part_of(profiled.profile, cost),
        share=share,
        facts={
            NAMES: "\n".join(cost.names),
            UNDER: cost.under,
            GONE: "\n".join(cost.gone),
            NEW: "\n".join(cost.new),
            LOW: own.low_us,
            HIGH: own.high_us,
        },
    )


def in_brief(names: Sequence[str], under: str | None, most: int = FEW) -> str:
    """`a, b`; of many the costliest: `under ExecSort: a, b, c, d and 40 more`."""
    shown, more = ", ".join(map(shortened, names[:most])), len(names) - most
    if more <= 0:
        return shown
    return f"{f'under {shortened(under)}: ' if under else ''}{shown} and {more} more"


def _part_of(profile: Profile, cost: FunctionCost) -> float:
    """Of an operation's CPU time."""
    return abs(cost.own.change_us) / max(profile.whole.base_us, profile.whole.mine_us)
