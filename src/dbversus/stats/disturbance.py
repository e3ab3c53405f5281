"""Was the host disturbed during a row? Decided blind: from figures of the whole row, never from those of one target.

CPU that other processes used, or that the hypervisor stole, is no doing of the servers. That a row took long, or that
something waited for IO in it, may be: a server that stalls would have its own stalls excused. So these two rules hold only
where the host does not tell the first two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

FOREIGN_CPU = 0.5
"""Share of one core over the row."""

STEAL = 0.25
"""The same; it is counted in ticks, one of which is already a tenth of a short row."""

STALL = 3.0
"""Multiple of the usual row's wall time."""

PSI_IO = 0.5
"""Share of the row's wall time *above the usual*: waiting for its own disk is what a write test does."""

FEWEST_SOONER = 4
"""Rows that tell what is usual."""


@dataclass(frozen=True)
class RowFigures:
    """What the host did during one row; None: this host cannot tell."""

    wall_ns: int
    foreign_cpu_ns: int | None = None
    steal_ns: int | None = None
    psi_io_us: int | None = None

    @classmethod
    def from_host(cls, host: Mapping[str, int | None]) -> "RowFigures":
        """From the `host` object of the engine's row line."""
        return cls(
            wall_ns=host.get("wall_ns") or 0,
            foreign_cpu_ns=host.get("foreign_cpu_ns"),
            steal_ns=host.get("steal_ns"),
            psi_io_us=host.get("psi_io_us"),
        )

    @property
    def tells_of_others(self) -> bool:
        """Whether the host can tell what others took from this row."""
        return self.foreign_cpu_ns is not None and self.steal_ns is not None

    @property
    def psi_io_share(self) -> float | None:
        """Share of the row's wall time in which something waited for IO."""
        return None if self.psi_io_us is None or self.wall_ns <= 0 else self.psi_io_us * 1e3 / self.wall_ns


def judge_row(row: RowFigures, sooner: Sequence[RowFigures] = ()) -> str | None:
    """Why this row is to be dropped, as a short text; None: it is good.

    `sooner`: the rows of its test and block so far, whose medians are the usual; fewer than FEWEST_SOONER tell none.
    """
    why = _over_wall("other processes used", row.foreign_cpu_ns, row.wall_ns, FOREIGN_CPU)
    why = why or _over_wall("the hypervisor stole", row.steal_ns, row.wall_ns, STEAL)
    if why or row.tells_of_others or len(sooner) < FEWEST_SOONER:
        return why
    return _stall(row, sooner) or _psi_io(row, sooner)


def _over_wall(what: str, used_ns: int | None, wall_ns: int, limit: float) -> str | None:
    if used_ns is None or wall_ns <= 0 or used_ns <= limit * wall_ns:
        return None
    return f"{what} {used_ns / wall_ns:.0%} of a core (limit {limit:.0%})"


def _stall(row: RowFigures, sooner: Sequence[RowFigures]) -> str | None:
    usual_ns = median(other.wall_ns for other in sooner)
    if not usual_ns or row.wall_ns <= STALL * usual_ns:
        return None
    return f"stalled: took {row.wall_ns / usual_ns:.1f} times the usual row (limit {STALL:g})"


def _psi_io(row: RowFigures, sooner: Sequence[RowFigures]) -> str | None:
    share, known = row.psi_io_share, [other.psi_io_share for other in sooner if other.psi_io_share is not None]
    if share is None or not known or share <= median(known) + PSI_IO:
        return None
    return f"IO pressure {share:.0%} of the time, usually {median(known):.0%} (limit {PSI_IO:.0%} above the usual)"
