"""Was the host disturbed during a row? Decided blind: from figures of the whole row, never from those of one target.

A disturbed row counts like any other: what hits all targets of a row cancels in their ratio. That it was disturbed is a flag,
from which verdicts and reports see what the host was like.

CPU that other processes used, or that the hypervisor stole, is no doing of the servers. That a row took long, or that
something waited for IO in it, may be: a server that stalls would have its own stalls excused. So these two rules hold only
where the host does not tell the first two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

FOREIGN_CPU = 0.5
"""Cores that other processes may use, on average over the row; on a large host the next line allows more."""

FOREIGN_SHARE = 0.1
"""Share of all CPUs of the host: where there are many, others seldom meet with the servers."""

STEAL = 0.25
"""Share of the CPUs of clients and of what serves them. Stolen time is counted in ticks: one is a tenth of a short row."""

STALL = 3.0
"""Multiple of the usual row's wall time."""

PSI_IO = 0.5
"""Share of the row's wall time *above the usual*: waiting for its own disk is what a write test does."""

FEWEST_SOONER = 4
"""Rows that tell what is usual."""


@dataclass(frozen=True)
class Limits:
    """Cores over which a row is disturbed. The defaults are those of a small host with one client."""

    foreign_cpu: float = FOREIGN_CPU
    steal: float = STEAL

    @classmethod
    def of(cls, cpus: int, foreground_cpus: int) -> "Limits":
        """Of a host with so many CPUs, of which so many are for clients and what serves them."""
        return cls(max(FOREIGN_CPU, FOREIGN_SHARE * cpus), STEAL * foreground_cpus)


SMALL_HOST = Limits()


@dataclass(frozen=True)
class RowFigures:
    """What the host did during one row; None: this host cannot tell. `steal_ns`: from the CPUs of the foreground."""

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


def judge_row(row: RowFigures, limits: Limits = SMALL_HOST, sooner: Sequence[RowFigures] = ()) -> str | None:
    """What disturbed this row, as a short text; None: nothing.

    `sooner`: the rows of its test and block so far, whose medians are the usual; fewer than FEWEST_SOONER tell none.
    """
    why = _over_wall("other processes used", row.foreign_cpu_ns, row.wall_ns, limits.foreign_cpu)
    why = why or _over_wall("the hypervisor stole", row.steal_ns, row.wall_ns, limits.steal)
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
