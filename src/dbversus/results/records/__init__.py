"""The records of a journal: a class per type, and their union. docs/reference/schema.md is generated from them."""

import json
from collections.abc import Iterable
from typing import TypeVar, get_args

import msgspec

from dbversus.results.records.base import OfGroup, OfTest, Part, Record, Tag
from dbversus.results.records.calibration import CalibrationBrief, Detected, FalseAlarms
from dbversus.results.records.course import Block, Failure, Finished, Look, Remark, Resumed, Test, Wait
from dbversus.results.records.data import DataState, Load, LoadFigures, Phase, Settled, State, TableFacts
from dbversus.results.records.evidence import (
    Background,
    BackgroundWork,
    Counters,
    Drain,
    DrainFigures,
    Injected,
    InjectedWork,
    Latency,
    Log,
    Logged,
    Memory,
    MemoryUse,
    Objects,
    RoleSeconds,
    Seconds,
    Series,
    Space,
    SpaceUse,
)
from dbversus.results.records.experiment import Experiment, Rendered, StoredFile, TargetFacts
from dbversus.results.records.imported import Imported
from dbversus.results.records.profile import Profile, ProfiledTarget
from dbversus.results.records.rows import Answers, Check, HostFigures, Pace, Row, Slot, Slots, StatementAnswers, row_of

__all__ = [
    "TYPES",
    "Answers",
    "AnyRecord",
    "Background",
    "BackgroundWork",
    "Block",
    "CalibrationBrief",
    "Check",
    "Counters",
    "DataState",
    "Detected",
    "Drain",
    "DrainFigures",
    "Experiment",
    "Failure",
    "FalseAlarms",
    "Finished",
    "HostFigures",
    "Imported",
    "Injected",
    "InjectedWork",
    "Latency",
    "Load",
    "LoadFigures",
    "Log",
    "Logged",
    "Look",
    "Memory",
    "MemoryUse",
    "Objects",
    "OfGroup",
    "OfTest",
    "Pace",
    "Part",
    "Phase",
    "Profile",
    "ProfiledTarget",
    "Record",
    "Remark",
    "Rendered",
    "Resumed",
    "RoleSeconds",
    "Row",
    "Seconds",
    "Series",
    "Settled",
    "Slot",
    "Slots",
    "Space",
    "SpaceUse",
    "State",
    "StatementAnswers",
    "StoredFile",
    "TableFacts",
    "Tag",
    "TargetFacts",
    "Test",
    "Wait",
    "convert",
    "decode",
    "encode",
    "of_type",
    "row_of",
]

# in the order of the documentation, which is about that of a journal
AnyRecord = (
    Experiment
    | Imported
    | Resumed
    | Load
    | Wait
    | Block
    | State
    | Settled
    | Phase
    | Check
    | Slots
    | Row
    | Latency
    | Series
    | Background
    | Injected
    | Memory
    | Log
    | Drain
    | Space
    | Counters
    | Objects
    | Profile
    | Test
    | Remark
    | Failure
    | Look
    | Finished
)
TYPES: tuple[type[Record], ...] = get_args(AnyRecord)

R = TypeVar("R", bound=Record)
_DECODER = msgspec.json.Decoder(AnyRecord)
_ENCODER = msgspec.json.Encoder()


def decode(line: bytes) -> AnyRecord:
    """The record of a line. Raises msgspec.DecodeError: no JSON; msgspec.ValidationError, a kind of it: no such record."""
    record: AnyRecord = _DECODER.decode(line)
    return record


def encode(record: AnyRecord) -> bytes:
    """The line of a record, without the end of line."""
    try:
        return _ENCODER.encode(record)
    except UnicodeEncodeError:  # words with the name of a file that is not in UTF-8
        return json.dumps(msgspec.to_builtins(record), ensure_ascii=False).encode(errors="replace")


def convert(content: object) -> AnyRecord:
    """The record of what a line holds. Raises msgspec.ValidationError."""
    record: AnyRecord = msgspec.convert(content, AnyRecord)
    return record


def of_type(records: Iterable[Record], kind: type[R]) -> list[R]:
    return [record for record in records if isinstance(record, kind)]
