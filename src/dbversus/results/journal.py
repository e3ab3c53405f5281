"""Reads a journal: each line is checked, whatever schema it was written in."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from dbversus.errors import RunError, UsageError
from dbversus.results import records, schema1
from dbversus.results.records import AnyRecord, Experiment
from dbversus.results.schema import SCHEMA_VERSION

# how the writer begins a line of the one numerous type; lets a reader that has slots.parquet pass over them
ROW_START = b'{"type":"row",'
_READ_BYTES = 2**20
MOST_BLOCKS = 1_000_000


def parse_journal(path: Path, with_rows: bool = True) -> tuple[list[AnyRecord], int]:
    """All whole records of a journal (`with_rows` False: except the rows) and the length in bytes of their part.

    A last line that was cut off (power cut, kill) is left out; a damaged line before it raises RunError naming
    file and line, and so does a schema that is not known.
    """
    found: list[AnyRecord] = []
    good_bytes = 0
    reader = LineReader(path)
    with path.open("rb", buffering=_READ_BYTES) as file:
        lines = enumerate(file, 1)
        for number, line in lines:
            if with_rows or not (line.startswith(ROW_START) and line.endswith(b"}\n")):
                record = reader.read(number, line)
                if record is None:
                    if next(lines, None) is None:
                        break
                    raise reader.damaged(number, "expected one JSON object with `type` per line")
                found.append(record)
            good_bytes += len(line)
    return found, good_bytes


class LineReader:
    """Turns the lines of a journal into records, by the schema that its `experiment` and `resumed` records name.

    A run that an older dbversus began may be resumed by a newer one.
    """

    def __init__(self, path: Path):
        self._path = path
        self._schema: object = SCHEMA_VERSION
        self._decoders: dict[object, Callable[[bytes], AnyRecord]] = {
            1: partial(schema1.decode, host=schema1.host_of(path.parent)),
            SCHEMA_VERSION: records.decode,
        }

    def read(self, number: int, line: bytes) -> AnyRecord | None:
        """None: the line is no JSON, perhaps cut off. Raises RunError for JSON that is no record."""
        if not line.endswith(b"\n"):
            return None
        try:
            if number == 1 or line.startswith(b'{"type":"resumed",'):
                self._note_schema(msgspec.json.decode(line))
            return self._decoders[self._schema](line)
        except msgspec.ValidationError as error:
            raise self.damaged(number, str(error)) from error
        except RecursionError as error:
            raise self.damaged(number, "it is nested too deeply") from error
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def damaged(self, number: int, why: str) -> RunError:
        return RunError(f"{self._path}, line {number}: damaged; {why}.")

    def _note_schema(self, content: Any) -> None:
        if not isinstance(content, dict) or content.get("type") not in ("experiment", "resumed"):
            return
        self._schema = schema = content.get("schema", self._schema)
        if not isinstance(schema, int) or schema < 1:
            raise RunError(f"{self._path} names schema {schema!r}; expected a number from 1 to {SCHEMA_VERSION}.")
        if schema > SCHEMA_VERSION:
            raise RunError(
                f"{self._path} has schema {schema}, written by dbversus {content.get('dbversus', '?')}; "
                f"this dbversus reads up to {SCHEMA_VERSION}: use a newer one."
            )


def header_of(found: Sequence[AnyRecord], path: Path) -> Experiment:
    """The first record of a journal. Raises RunError when it is no `experiment`, or one without targets."""
    if not found or not isinstance(found[0], Experiment):
        raise RunError(f"{path} does not begin with an `experiment` record; it is damaged or not of dbversus.")
    if not found[0].targets:
        raise RunError(f"{path}, line 1: the `experiment` record names no targets; it is damaged.")
    if not all(0 < look <= MOST_BLOCKS for look in found[0].looks):
        raise RunError(f"{path}, line 1: looks are after 1 to {MOST_BLOCKS} blocks; it is damaged.")
    _check_targets(found, path)
    return found[0]


def _check_targets(found: Sequence[AnyRecord], path: Path) -> None:
    """RunError for a record of a target that the first one does not name."""
    assert isinstance(found[0], Experiment)
    known = {target.name for target in found[0].targets}
    for record in found:
        named = getattr(record, "target", None)
        if named is not None and named not in known:
            kind = type(record).__name__.lower()
            raise RunError(f"{path}: a `{kind}` record is of target {named!r}, which the first line does not name.")


def read_header(path: Path) -> Experiment:
    """The first record of a journal, and nothing else of it. Raises UsageError when it cannot be read."""
    try:
        with path.open("rb") as file:
            first = LineReader(path).read(1, file.readline())
        return header_of([] if first is None else [first], path)
    except RunError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{path}, line 1: the `experiment` record cannot be read ({error}).") from error
