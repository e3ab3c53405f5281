"""Schema 1: journals of before records had types. Turns what their lines hold into the records of today."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from dbversus.results.records import AnyRecord, LoadFigures, convert
from dbversus.results.schema import HOST

Content = dict[str, Any]

COLUMNS = {"disturbed": "dropped", "disturbed_why": "dropped_why"}
"""Columns of slots.parquet: name of today → name of then."""


def host_of(directory: Path) -> str | None:
    """Which host measured all of it, as host.json says."""
    try:
        facts = msgspec.json.decode((directory / HOST).read_bytes(), type=Content)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    machine = facts.get("machine_id")
    return machine if isinstance(machine, str) else None


def decode(line: bytes, host: str | None) -> AnyRecord:
    """The record of a line that was measured on `host`. Raises as `records.decode`."""
    content = _content(line)
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise msgspec.ValidationError("expected one JSON object with `type`")
    try:
        change = _CHANGES.get(content["type"], dict)
        return convert({**change(content), "host": host})
    except KeyError as error:
        raise msgspec.ValidationError(f"a `{content['type']}` record has no `{error.args[0]}`") from error
    except (TypeError, AttributeError, UnicodeError) as error:
        raise msgspec.ValidationError(f"a part of the `{content['type']}` record is of another kind") from error


def _content(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return json.loads(line)  # which wrote it, and knows NaN and text that is no Unicode
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from error


def _experiment(content: Content) -> Content:
    known = {name: value for name, value in content.items() if value is not None or name == "calibration"}
    clients = known.get("clients", [])
    return known | {"kinds": known.get("groups", {}), "clients": clients if isinstance(clients, list) else [clients]}


def _load(content: Content) -> Content:
    figures = {name: content.pop(name) for name in LoadFigures.__struct_fields__ if name in content}
    return {"table": None, "earlier": False, **content, "figures": figures or None}


def _block(content: Content) -> Content:
    return content | {"event": content["state"]}


def _state(content: Content) -> Content:
    return {"data": "loaded", "differs": {}, **content}


def _plan(content: Content) -> Content:
    return content | {"type": "slots"}


def _row(content: Content) -> Content:
    # flagged rows were dropped at first, and the name outlived that
    flags = {
        "disturbed": bool(content.get("dropped", False)),
        "disturbed_why": content.get("dropped_why"),
        "host_figures": content.get("host") or {},
    }
    return {**content, **content["tag"], **flags}


def _counters(content: Content) -> Content:
    return content | {"counted_ops": content.get("ops")}


_CHANGES: dict[str, Callable[[Content], Content]] = {
    "experiment": _experiment,
    "load": _load,
    "block": _block,
    "state": _state,
    "plan": _plan,
    "row": _row,
    "counters": _counters,
}
