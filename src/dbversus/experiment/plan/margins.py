"""Which calibrations an experiment stands on, and the margins that follow: recorded with it when it begins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from dbversus.calibration.model import Calibration, Host, host_of
from dbversus.calibration.store import load_all, newest
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.plan.slots import EDGE_MS

FEWEST_BLOCKS_FOR_MARGINS = 8

Margins = dict[str, dict[str, float]]
"""Share by test and metric."""


def calibration_fields(
    spec: ExperimentSpec, dbms: Iterable[str], facts: Mapping[str, Any], say: Callable[[str], None]
) -> dict[str, Any]:
    """For the journal's first line: `calibration`, a brief for each DBMS that has one (null: not wanted), and `test_margins`.

    The newest is cited; margins come from the newest that gives any. `facts` are those of the host. Files that cannot be
    used are told through `say`.
    """
    if not spec.calibration:
        return {"calibration": None}
    host, names = host_of(facts), list(dict.fromkeys(dbms))
    stored = load_all(host)
    for note in stored.notes:
        say(note)
    cited = _newest_of_each(stored.calibrations, host, names)
    givers = _newest_of_each([one for one in stored.calibrations if gives_margins(one, spec)], host, names)
    return {
        "calibration": [msgspec.structs.replace(one.brief(), margins=one in givers) for one in cited],
        "test_margins": _widest(one.figures.margins_above_default() for one in givers),
    }


def _newest_of_each(calibrations: Sequence[Calibration], host: Host, dbms: Iterable[str]) -> list[Calibration]:
    return [one for name in dbms if (one := newest(calibrations, host, name))]


def gives_margins(calibration: Calibration, spec: ExperimentSpec) -> bool:
    """Whether it can say what the experiment's noise is: in blocks enough, and by rows and slots of no less measurement."""
    return (
        spec.order == "interleaved"  # as calibrations are made; one target after the other varies by far more
        and calibration.figures.blocks >= FEWEST_BLOCKS_FOR_MARGINS
        and calibration.suite == spec.suite
        and calibration.clients == spec.clients
        and (calibration.rows_per_block or 0) >= rows_per_block(spec)
        and calibration.slot_ms >= spec.slot_ms
    )


def rows_per_block(spec: ExperimentSpec) -> int:
    """Rows that a block has time for in a test with slots of the usual length.

    It is what can be told of an experiment before it begins: the rows of each test follow from its pilot.
    """
    row_ms = spec.servers_up * (spec.slot_ms + spec.warm_up_ms + EDGE_MS)
    return int(min(spec.rows, spec.seconds * 1000 / row_ms))


def _widest(of_dbms: Iterable[Margins]) -> Margins:
    """Of several DBMSs in one experiment, the noisier one decides."""
    widest: Margins = {}
    for margins in of_dbms:
        for test, shares in margins.items():
            known = widest.setdefault(test, {})
            for metric, share in shares.items():
                known[metric] = max(share, known.get(metric, 0.0))
    return widest
