"""Typed columns, as DuckDB and statistics take them; and the rows of a journal as columns of slots.parquet."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from dbversus.results.records import Row, Slot
from dbversus.results.schema import SLOT_COLUMNS

# column name -> masked numpy array (masked: the host could not tell) or object array of texts
Columns = dict[str, npt.NDArray[Any]]

_NUMPY_TYPES = {"INTEGER": np.int32, "BIGINT": np.int64, "BOOLEAN": np.bool_}


def column(values: Sequence[Any], kind: str) -> npt.NDArray[Any]:
    """One typed column; DuckDB type `kind`. None becomes a masked entry (in VARCHAR columns it stays None)."""
    if kind == "VARCHAR":
        texts = np.empty(len(values), dtype=object)
        texts[:] = values
        return texts
    missing = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
    filled = [0 if value is None else value for value in values] if missing.any() else values
    return np.ma.masked_array(np.asarray(filled, dtype=_NUMPY_TYPES.get(kind, np.float64)), mask=missing)


def floats(column: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """A column as float64, with NaN for null (masked, None or pandas' NA alike)."""
    if isinstance(column, np.ma.MaskedArray):
        known = np.asarray(column.filled(0), dtype=np.float64)
        return np.where(np.ma.getmaskarray(column), np.nan, known)
    return np.asarray(column, dtype=np.float64)


def slot_columns(rows: Sequence[Row], labels: Mapping[str, str]) -> Columns:
    """The rows as columns of SLOT_COLUMNS, one entry per slot; `labels` maps target names to labels."""
    pairs = [(row, slot) for row in rows for slot in row.slots]
    values = {name: [value(pair) for pair in pairs] for name, value in _values(labels).items()}
    return {name: column(values[name], kind) for name, kind in SLOT_COLUMNS.items()}


def _values(labels: Mapping[str, str]) -> dict[str, Callable[[tuple[Row, Slot]], Any]]:
    """How each column follows from a row and its slot."""
    own: dict[str, Callable[[tuple[Row, Slot]], Any]] = {
        "target": lambda pair: labels[pair[1].target],
        "errors": lambda pair: sum((pair[1].errors or {}).values()),
        "driven_ops": lambda pair: _driven(pair[1])[0],
        "driven_read_bytes": lambda pair: _driven(pair[1])[1],
        "driven_write_bytes": lambda pair: _driven(pair[1])[2],
    }
    return own | {name: _figure(name) for name in SLOT_COLUMNS if name not in own}


def _driven(slot: Slot) -> tuple[int | None, int | None, int | None]:
    """Operations, bytes read and written of a slot with its settle part; of the slot alone where no more is known."""
    own = slot.ops, slot.server_read_bytes, slot.server_write_bytes
    settle = slot.settle_ops, slot.settle_read_bytes, slot.settle_write_bytes
    both = [mine + before for mine, before in zip(own, settle, strict=True) if mine is not None and before is not None]
    if len(both) < len(own):
        return own
    ops, read, written = both
    return ops, read, written


def _figure(name: str) -> Callable[[tuple[Row, Slot]], Any]:
    if name.startswith("host_"):
        of_host = attrgetter(name.removeprefix("host_"))
        return lambda pair: of_host(pair[0].host_figures)
    place, known = (1, Slot) if name in Slot.__struct_fields__ else (0, Row)
    assert name in known.__struct_fields__, f"no record has {name}"
    of_own = attrgetter(name)
    return lambda pair: of_own(pair[place])
