"""The worked example of docs/protocol.md says what the code says, in its table and in its picture."""

import importlib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

worked_example: Any = importlib.import_module("worked_example")
worked_picture: Any = importlib.import_module("worked_picture")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def worked() -> Any:
    return worked_example.work_out()


def test_the_table_stands_in_the_protocol(worked: Any) -> None:
    assert worked_example.table(worked) in (DOCS / "protocol.md").read_text()


def test_the_picture_is_the_one_that_is_drawn(worked: Any) -> None:
    drawn = worked_picture.picture(worked_example.figures(worked))
    assert drawn == (DOCS / "images/protocol.svg").read_text()
    circles = [each for each in ET.fromstring(drawn).iter() if each.tag.endswith("circle")]
    # two slots and a ratio for each row, a dot for each block, the verdict, and two in the key
    assert len(circles) == 3 * len(worked.base) + len(worked.values) + 1 + 2
