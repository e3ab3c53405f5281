"""The journal's first record: reads and checks it, and nothing else of the journal."""

import json
from collections.abc import Sequence
from pathlib import Path

from dbversus.errors import UsageError
from dbversus.results.records import Record
from dbversus.results.schema import JOURNAL, SCHEMA_VERSION


def read_header(directory: Path) -> Record:
    """The journal's first record alone. Raises UsageError when the line is damaged, or of a newer schema."""
    journal = directory / JOURNAL
    try:
        with journal.open() as file:
            first = json.loads(file.readline())
    except (OSError, ValueError) as error:
        raise UsageError(f"{journal}, line 1: the `experiment` record cannot be read ({error}).") from error
    return check_header([first] if isinstance(first, dict) and "type" in first else [], journal)


def check_header(records: Sequence[Record], journal: Path) -> Record:
    if not records or records[0]["type"] != "experiment":
        raise UsageError(f"{journal} does not begin with an `experiment` record; it is damaged or not of dbversus.")
    header = records[0]
    schema = header.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise UsageError(f"{journal} names schema {schema!r}; expected a number from 1 to {SCHEMA_VERSION}.")
    if schema > SCHEMA_VERSION:
        raise UsageError(
            f"{journal} has schema {schema}, written by dbversus {header.get('dbversus', '?')}; "
            f"this dbversus reads up to {SCHEMA_VERSION}: use a newer one."
        )
    if not isinstance(header.get("tests"), list):
        raise UsageError(f"{journal}, line 1: the `experiment` record has no list `tests`; it is damaged.")
    return header
