"""The journal's lines: parsed and checked, and flattened into the columns of slots.parquet."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dbversus.errors import RunError
from dbversus.results.schema import SLOT_COLUMNS

Record = dict[str, Any]
# column name -> masked numpy array (masked: the host could not tell) or object array of texts
Columns = dict[str, npt.NDArray[Any]]

_NUMPY_TYPES = {"INTEGER": np.int32, "BIGINT": np.int64, "BOOLEAN": np.bool_}
_HOST_FIGURES = [name for name in SLOT_COLUMNS if name.startswith("host_")]


# how the writer begins a line of the one numerous type; lets a reader that has slots.parquet pass over them
_ROW_START = b'{"type":"row",'


def parse_journal(path: Path, with_rows: bool = True) -> tuple[list[Record], int]:
    """All whole records of a journal (`with_rows` False: but for the rows) and the length in bytes of their part.

    A last line that was cut off (power cut, kill) is left out; a damaged line before it raises RunError naming
    file and line.
    """
    records: list[Record] = []
    good_bytes = 0
    with path.open("rb") as file:
        lines = enumerate(file, 1)
        for number, line in lines:
            if not with_rows and line.startswith(_ROW_START) and line.endswith(b"}\n"):
                good_bytes += len(line)
                continue
            record = _parse_line(line)
            if record is None:
                if next(lines, None) is None:
                    break
                raise RunError(f"{path}, line {number}: damaged; expected one JSON object with `type` per line.")
            records.append(record)
            good_bytes += len(line)
    return records, good_bytes


def _parse_line(line: bytes) -> Record | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and isinstance(record.get("type"), str) else None


def of_type(records: Iterable[Record], kind: str) -> list[Record]:
    return [record for record in records if record["type"] == kind]


def slot_columns(rows: Sequence[Record], labels: Mapping[str, str]) -> Columns:
    """The `row` records as columns of SLOT_COLUMNS, one entry per slot; `labels` maps target names to labels."""
    slots = list(_flat_slots(rows, labels))
    return {name: column([slot.get(name) for slot in slots], kind) for name, kind in SLOT_COLUMNS.items()}


def column(values: Sequence[Any], kind: str) -> npt.NDArray[Any]:
    """One typed column; DuckDB type `kind`. None becomes a masked entry (in VARCHAR columns it stays None)."""
    if kind == "VARCHAR":
        texts = np.empty(len(values), dtype=object)
        texts[:] = values
        return texts
    missing = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
    filled = [0 if value is None else value for value in values] if missing.any() else values
    return np.ma.masked_array(np.asarray(filled, dtype=_NUMPY_TYPES.get(kind, np.float64)), mask=missing)


def _flat_slots(rows: Iterable[Record], labels: Mapping[str, str]) -> Iterator[Record]:
    for row in rows:
        tag = row["tag"]
        host = row.get("host") or {}
        shared = {
            "test": tag["test"],
            "block": tag["block"],
            "clients": tag.get("clients"),
            "row": row["row"],
            "started_unix_ns": row["started_unix_ns"],
            "dropped": bool(row.get("dropped", False)),
            "dropped_why": row.get("dropped_why"),
            **{name: host.get(name.removeprefix("host_")) for name in _HOST_FIGURES},
        }
        for slot in row["slots"]:
            errors = sum((slot.get("errors") or {}).values())
            yield {**slot, **shared, "rows": slot.get("rows"), "errors": errors, "target": labels[slot["target"]]}
