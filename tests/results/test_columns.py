"""Rows of a journal as columns: the bytes of a slot are those with its settle part, where all of these are known."""

from typing import Any

import numpy as np
import pytest

from dbversus.results.columns import slot_columns
from dbversus.results.records import Row, Slot

ALONE = {"ops": 100, "server_read_bytes": 10, "server_write_bytes": 4_000}
SETTLE = {"settle_ops": 20, "settle_read_bytes": 5, "settle_write_bytes": 7_000}


@pytest.mark.parametrize(
    ("figures", "driven"),
    [
        ({**ALONE, **SETTLE}, (120, 15, 11_000)),
        ({**ALONE, "settle_ops": 20}, (100, 10, 4_000)),
        ({**ALONE, **SETTLE, "settle_write_bytes": None}, (100, 10, 4_000)),
        ({**ALONE, **SETTLE, "server_read_bytes": None}, (100, None, 4_000)),
    ],
    ids=["all known", "of an older dbversus", "a process could not be read before the slot", "nor in it"],
)
def test_bytes_come_with_the_operations_that_caused_them(
    figures: dict[str, Any], driven: tuple[int | None, ...]
) -> None:
    row = Row(block=0, test="t", row=0, disturbed=False, slots=[Slot(target="t0", **figures)])
    columns = slot_columns([row], {"t0": "a"})
    found = [columns[f"driven_{name}"] for name in ("ops", "read_bytes", "write_bytes")]
    assert tuple(None if np.ma.getmaskarray(column)[0] else int(column[0]) for column in found) == driven
