"""Was the host disturbed during a row? Decided blind: from figures of the whole row, never from those of one target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Thresholds:
    """Shares above which a row is dropped; None switches a rule off.

    `foreign_cpu` and `steal` are shares of one core over the row; steal
    is counted in ticks, one of which is already a tenth of a short row. `stall` is a multiple of the usual row's wall time:
    switch it off where the servers themselves may stall for long, or their stalls would be dropped with the host's.
    `psi_io` is a share of the row's wall time *above the usual*: waiting for its own disk is what a write test does.
    """

    foreign_cpu: float | None = 0.5
    steal: float | None = 0.25
    stall: float | None = 3.0
    psi_io: float | None = 0.5


@dataclass(frozen=True)
class RowFigures:
    """What the host did during one row; None: this host cannot tell.

    `usual_*` describe the ordinary row of the same test and block (see `with_usual`); without them, the rules that
    need a comparison are silent.
    """

    wall_ns: int
    foreign_cpu_ns: int | None = None
    steal_ns: int | None = None
    psi_io_us: int | None = None
    usual_wall_ns: float | None = None
    usual_psi_io_share: float | None = None

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
    def psi_io_share(self) -> float | None:
        """Share of the row's wall time in which something waited for IO."""
        return None if self.psi_io_us is None or self.wall_ns <= 0 else self.psi_io_us * 1e3 / self.wall_ns


def with_usual(rows: Sequence[RowFigures]) -> list[RowFigures]:
    """The rows of one test and block, each with the medians of them all as what is usual."""
    if not rows:
        return []
    usual_wall_ns = median(row.wall_ns for row in rows)
    shares = [row.psi_io_share for row in rows if row.psi_io_share is not None]
    usual_share = median(shares) if shares else None
    return [
        RowFigures(row.wall_ns, row.foreign_cpu_ns, row.steal_ns, row.psi_io_us, usual_wall_ns, usual_share)
        for row in rows
    ]


def judge_rows(rows: Sequence[RowFigures], thresholds: Thresholds | None = None) -> list[str | None]:
    """`judge_row` for all rows of one test and block, with their own medians as what is usual."""
    return [judge_row(row, thresholds) for row in with_usual(rows)]


def judge_row(figures: RowFigures, thresholds: Thresholds | None = None) -> str | None:
    """Why this row is to be dropped, as a short text; None: it is good."""
    limits = thresholds or Thresholds()
    rules = (_foreign_cpu, _steal, _stall, _psi_io)
    return next((why for rule in rules if (why := rule(figures, limits)) is not None), None)


def _foreign_cpu(figures: RowFigures, limits: Thresholds) -> str | None:
    return _over_wall("other processes used", figures.foreign_cpu_ns, figures.wall_ns, limits.foreign_cpu)


def _steal(figures: RowFigures, limits: Thresholds) -> str | None:
    return _over_wall("the hypervisor stole", figures.steal_ns, figures.wall_ns, limits.steal)


def _over_wall(what: str, used_ns: int | None, wall_ns: int, limit: float | None) -> str | None:
    if limit is None or used_ns is None or wall_ns <= 0 or used_ns <= limit * wall_ns:
        return None
    return f"{what} {used_ns / wall_ns:.0%} of a core (limit {limit:.0%})"


def _stall(figures: RowFigures, limits: Thresholds) -> str | None:
    usual_ns = figures.usual_wall_ns
    if limits.stall is None or not usual_ns or figures.wall_ns <= limits.stall * usual_ns:
        return None
    return f"stalled: took {figures.wall_ns / usual_ns:.1f} times the usual row (limit {limits.stall:g})"


def _psi_io(figures: RowFigures, limits: Thresholds) -> str | None:
    share, usual = figures.psi_io_share, figures.usual_psi_io_share
    if limits.psi_io is None or share is None or usual is None or share <= usual + limits.psi_io:
        return None
    return f"IO pressure {share:.0%} of the time, usually {usual:.0%} (limit {limits.psi_io:.0%} above the usual)"
