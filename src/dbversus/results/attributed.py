"""What stored figures are shown as, so that a figure of a server is its own, and parts add up. What is stored stays as measured.

- Where no control group counts a server's requests to its disk, the engine stores those of the whole device, and remarks on it:
  whose they are is not known, and they are shown as unknown. The device's own columns (`device_…`) have them.
- Where the kernel tells user from system mode by samples at its tick, a slot without a tick has no such split, or one that is
  not its CPU time, which is counted exactly. That time is split as in the other slots of the target, test and block.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from dbversus.results.columns import Columns, floats
from dbversus.results.records import AnyRecord, Load, LoadFigures, Remark, of_type

WHOLE_DEVICE = re.compile(r"disk (reads and writes|writes) are those of the whole device")
"""How the engine's remark begins (engine/src/account/disk)."""
_READS, _WRITES = ("disk_reads", "disk_read_bytes"), ("disk_writes", "disk_write_bytes")
_PARTS = ("server_user_ns", "server_system_ns")
_ADDS_UP = 1e-6
"""Parts that differ from their whole by a smaller share add up; so do those that differ by the rounding of each."""

NotOwn = Mapping[str, frozenset[str]]


def not_own(records: Iterable[AnyRecord], names: Sequence[str]) -> NotOwn:
    """Name of a target → the disk figures that are not its own; `names`: of all targets."""
    found: dict[str, frozenset[str]] = dict.fromkeys(names, frozenset())
    for remark in of_type(records, Remark):
        if said := WHOLE_DEVICE.match(remark.words):
            figures = frozenset(_WRITES if said[1] == "writes" else _READS + _WRITES)
            for name in [remark.target] if remark.target else names:
                found[name] = found.get(name, frozenset()) | figures
    return found


def attributed_slots(slots: Columns, of_others: NotOwn, labels: Mapping[str, str]) -> Columns:
    """`labels`: name of a target → label."""
    changed = _parts_of_cpu(slots)
    for name, figures in of_others.items():
        is_own = slots["target"] == labels.get(name, name)
        for figure in figures:
            column = changed.get(figure, slots[figure])
            changed[figure] = np.ma.masked_array(column, mask=np.ma.getmaskarray(column) | is_own)
    return {**slots, **changed}


def _parts_of_cpu(slots: Columns) -> Columns:
    """Slots whose parts do not add up, or are not known, have the share of those of their cell that are."""
    whole, user, system = (floats(slots[name]) for name in ("server_cpu_ns", *_PARTS))
    told = user + system
    open_ones = np.isfinite(whole) & ~(np.abs(told - whole) <= _ADDS_UP * whole + len(_PARTS))
    if not open_ones.any():
        return {}
    places: dict[tuple[object, ...], int] = {}
    keys = zip(slots["target"], slots["test"], np.ma.getdata(slots["block"]).tolist(), strict=True)
    cell = np.fromiter((places.setdefault(key, len(places)) for key in keys), np.int64, len(whole))
    of_user, of_both = (
        np.bincount(cell, weights=np.where(np.isfinite(told), values, 0.0), minlength=len(places))
        for values in (user, told)
    )
    share = np.divide(of_user, of_both, out=np.full(len(of_both), np.nan), where=of_both > 0)[cell]
    user = np.where(open_ones, np.rint(whole * share), user)
    system = np.where(open_ones, whole - user, system)
    return {name: _integers(values) for name, values in zip(_PARTS, (user, system), strict=True)}


def _integers(values: npt.NDArray[np.float64]) -> npt.NDArray[np.generic]:
    missing = np.isnan(values)
    return np.ma.masked_array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def attributed_load(load: Load, of_others: NotOwn) -> Load:
    if load.figures is None:
        return load
    unknown = dict.fromkeys(of_others.get(load.target, ()), None)
    figures = msgspec.structs.replace(load.figures, **unknown, **_parts_of_load(load.figures))
    return msgspec.structs.replace(load, figures=figures)


def _parts_of_load(figures: LoadFigures) -> dict[str, int | None]:
    whole, parts = figures.server_cpu_ns, [getattr(figures, name) for name in _PARTS]
    if whole is None or None in parts:
        return {}
    told = sum(parts)
    return {name: round(part * whole / told) if told else None for name, part in zip(_PARTS, parts, strict=True)}
