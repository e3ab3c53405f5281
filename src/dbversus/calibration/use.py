"""Which calibrations an experiment stands on, and the margins that follow: recorded with it when it begins."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dbversus.calibration.model import Calibration, host_of
from dbversus.calibration.store import load_all, newest
from dbversus.experiment.spec import ExperimentSpec

FEWEST_BLOCKS_FOR_MARGINS = 8

Margins = dict[str, dict[str, float]]
"""Share by test and metric."""


def calibration_fields(
    spec: ExperimentSpec, dbms: Iterable[str], facts: Mapping[str, Any], say: Callable[[str], None]
) -> dict[str, Any]:
    """For the journal's first line: `calibration`, a brief for each DBMS that has one (null: not wanted), and `test_margins`.

    `facts` are those of the host. Files that cannot be used are told through `say`.
    """
    if not spec.calibration:
        return {"calibration": None}
    host = host_of(facts)
    stored = load_all(host)
    for note in stored.notes:
        say(note)
    found = [one for name in dict.fromkeys(dbms) if (one := newest(stored.calibrations, host, name))]
    margins = [one.figures.margins_above_default() for one in found if gives_margins(one, spec)]
    return {
        "calibration": [one.brief() | {"margins": gives_margins(one, spec)} for one in found],
        "test_margins": _widest(margins),
    }


def gives_margins(calibration: Calibration, spec: ExperimentSpec) -> bool:
    """Whether it can say what the experiment's noise is: in blocks enough, and by rows and slots of no less measurement."""
    return (
        spec.order == "interleaved"  # as calibrations are made; one target after the other varies by far more
        and calibration.figures.blocks >= FEWEST_BLOCKS_FOR_MARGINS
        and calibration.suite == spec.suite
        and calibration.clients == spec.clients
        and calibration.rows >= spec.rows
        and calibration.slot_ms >= spec.slot_ms
    )


def _widest(of_dbms: Iterable[Margins]) -> Margins:
    """Of several DBMSs in one experiment, the noisier one decides."""
    widest: Margins = {}
    for margins in of_dbms:
        for test, shares in margins.items():
            known = widest.setdefault(test, {})
            for metric, share in shares.items():
                known[metric] = max(share, known.get(metric, 0.0))
    return widest
