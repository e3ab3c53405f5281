"""How much the host was disturbed, by what, and what to do about it: figures from stored rows, and words for every report."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dbversus.report.model import Assessment, Disturbance, Disturber, Waits
from dbversus.report.words import percent
from dbversus.results.records import Wait
from dbversus.results.stored import Results
from dbversus.units import count_of, show_cores, show_duration

RELEVANT_SHARE = 0.05
"""Of the rows; where no more were disturbed, one clause says so."""

PROCESSES = "other processes"
HYPERVISOR = "the hypervisor"
NOTHING = Disturbance(0, 0, (), None, None)

_QUERY = """
    SELECT test, CASE WHEN disturbed THEN coalesce(disturbed_why, '') END, count(*),
      sum(host_wall_ns), sum(host_foreign_cpu_ns), sum(host_steal_ns)
    FROM slots WHERE position = 0 GROUP BY ALL"""


class _Rows(NamedTuple):
    """Rows that were disturbed for the same reason, in the words of that (None: by nothing), and what the host did in them."""

    why: str | None
    rows: int
    wall_ns: int | None
    foreign_cpu_ns: int | None
    steal_ns: int | None

    @property
    def cause(self) -> str:
        """Who disturbed; else the reason up to its first number, so that like reasons are counted together."""
        if self.why is None:
            return ""
        known = next((one for one in (PROCESSES, HYPERVISOR) if self.why.startswith(one)), "")
        return known or re.split(r"[\d(:]", self.why)[0].strip() or "something else"


def disturbances(results: Results) -> dict[str, Disturbance]:
    """Test → what disturbed its rows."""
    rows: dict[str, list[_Rows]] = {}
    for test, *line in results.slot_rows(_QUERY):
        rows.setdefault(test, []).append(_Rows(*line))
    return {test: _sum_up(of_test) for test, of_test in rows.items()}


def _sum_up(rows: Sequence[_Rows]) -> Disturbance:
    by_cause: dict[str, list[_Rows]] = {}
    for line in rows:
        by_cause.setdefault(line.cause, []).append(line)
    causes = [_cause(what, of_cause) for what, of_cause in by_cause.items() if what]
    return Disturbance(
        sum(line.rows for line in rows),
        sum(cause.rows for cause in causes),
        _most_first(causes),
        _cores(rows, "foreign_cpu_ns"),
        _cores(rows, "steal_ns"),
    )


def _cause(what: str, rows: Sequence[_Rows]) -> Disturber:
    column = {PROCESSES: "foreign_cpu_ns", HYPERVISOR: "steal_ns"}.get(what)
    return Disturber(what, sum(line.rows for line in rows), _cores(rows, column) if column else None)


def _cores(rows: Sequence[_Rows], column: str) -> float | None:
    """What was used by the time it took; None where the host does not tell."""
    known = [(getattr(line, column), line.wall_ns) for line in rows if line.wall_ns]
    known = [(used_ns, wall_ns) for used_ns, wall_ns in known if used_ns is not None]
    return float(sum(used for used, _ in known) / sum(wall for _, wall in known)) if known else None


def _most_first(causes: Iterable[Disturber]) -> tuple[Disturber, ...]:
    return tuple(sorted(causes, key=lambda cause: -cause.rows))


def total_disturbance(parts: Iterable[Disturbance]) -> Disturbance:
    """All tests together; shares and cores are weighted by rows."""
    parts = list(parts)
    causes: dict[str, list[Disturber]] = {}
    for cause in (cause for part in parts for cause in part.causes):
        causes.setdefault(cause.what, []).append(cause)
    return Disturbance(
        sum(part.rows for part in parts),
        sum(part.disturbed for part in parts),
        _most_first(
            Disturber(what, sum(one.rows for one in own), _mean((one.cores, one.rows) for one in own))
            for what, own in causes.items()
        ),
        _mean((part.foreign_cpu_share, part.rows) for part in parts),
        _mean((part.steal_share, part.rows) for part in parts),
    )


def _mean(weighted: Iterable[tuple[float | None, int]]) -> float | None:
    known = [(value, weight) for value, weight in weighted if value is not None]
    weights = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / weights if weights else None


def waits_of(results: Results) -> Waits:
    """Those of `--wait-quiet`."""
    waits = results.of_type(Wait)
    return Waits(
        len({wait.block for wait in waits}),
        sum(wait.seconds for wait in waits),
        len({wait.block for wait in waits if not wait.quiet}),
    )


def is_relevant(assessment: Assessment) -> bool:
    """Whether it is worth more than a clause: many rows were disturbed."""
    return assessment.disturbance.disturbed_share > RELEVANT_SHARE


def sentences(assessment: Assessment) -> list[str]:
    """What the host did, and what to do about it; a clause where that was little."""
    disturbance = assessment.disturbance
    rows, waited = _of_rows(disturbance), _waited(assessment.waits)
    if not disturbance.rows:
        return waited
    if not is_relevant(assessment):
        return [f"The host was disturbed in {rows}.", *waited]
    causes = [_cause_words(cause) for cause in disturbance.causes]
    return [f"The host was disturbed in {rows}; these rows count like all others.", *causes, *waited]


def _of_rows(disturbance: Disturbance) -> str:
    """`12 of 1,200 rows (1.0 %)`"""
    rows = count_of(disturbance.rows, "row")
    if not disturbance.disturbed:
        return f"none of {rows}"
    return f"{disturbance.disturbed:,} of {rows} ({percent(disturbance.disturbed_share)})"


def _cause_words(cause: Disturber) -> str:
    cores = "" if cause.cores is None else f" {show_cores(cause.cores)} on average"
    if cause.what == PROCESSES:
        return f"Other processes used{cores} in {cause.rows:,} of them: stop other work, or use --wait-quiet 5m."
    if cause.what == HYPERVISOR:
        return (
            f"The hypervisor took{cores} in {cause.rows:,} of them. That cannot be changed from here: use another machine, "
            "or more blocks."
        )
    return f"{cause.what[:1].upper()}{cause.what[1:]}, in {cause.rows:,} of them: stop other work, or use more blocks."


def _waited(waits: Waits) -> list[str]:
    if not waits.blocks:
        return []
    said = f"dbversus waited {show_duration(waits.seconds)} for a quiet host, before {count_of(waits.blocks, 'block')}"
    how_many = "always" if waits.in_vain == waits.blocks else f"{waits.in_vain:,} of them"
    in_vain = f", {how_many} in vain" if waits.in_vain else ""
    return [f"{said}{in_vain}."]
