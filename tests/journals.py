"""Records and journals from what their lines hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dbversus.results.records import AnyRecord, Experiment, convert
from dbversus.results.schema import SCHEMA_VERSION
from dbversus.results.write import Journal

HOST = "0123456789abcdef"

Content = Mapping[str, Any]


class DictJournal(Journal):
    """A journal that takes what a line is to hold, besides records, and waits for no disk: it need not outlast a power cut."""

    def __init__(self, directory: Path):
        super().__init__(directory, HOST)

    def append(self, record: AnyRecord | Content) -> None:
        with patch("os.fdatasync", lambda _: None):
            super().append(convert(record) if isinstance(record, Mapping) else record)


def records_of(*contents: Content) -> tuple[AnyRecord, ...]:
    return tuple(convert(content) for content in contents)


def header(**fields: Any) -> Experiment:
    """The first record of a journal; nothing in it but `fields`."""
    first = {"type": "experiment", "schema": SCHEMA_VERSION, "targets": [], "tests": [], **fields}
    made = convert(first)
    assert isinstance(made, Experiment)
    return made
