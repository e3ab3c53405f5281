"""The engine beside the reference's Python client: what the peer inserts, and what is said of both."""

import importlib
import queue
import re
from typing import Any

import pytest

insert_client: Any = importlib.import_module("insert_client")
insert_rate: Any = importlib.import_module("insert_rate")


def test_the_peer_makes_statements_as_the_reference_does() -> None:
    made: queue.Queue[str | None] = queue.Queue()
    insert_client.make_statements(made, "pi1", 2, 100)
    first, second, end = made.get(), made.get(), made.get()
    assert end is None and first != second
    assert first is not None and first.startswith("INSERT INTO pi1 (dateandtime, cashregisterid, ")
    rows = re.findall(r"\('[-0-9]{10} [:0-9]{8}',\d{1,3},\d{1,5},\d{1,4},\d{1,3},'a+[A-Za-z0-9+/]+'\)", first)
    assert len(rows) == 100
    assert all(10 <= len(row.split(",")[-1].strip("')")) <= 20 for row in rows)


def test_rates_and_cpu_per_row_are_compared_round_by_round() -> None:
    own, peer = insert_rate.Usage(2.0, 0.5, 0.5), insert_rate.Usage(4.0, 3.0, 1.0)
    text = insert_rate.report({insert_rate.OWN: [own] * 3, insert_rate.PEER: [peer] * 3}, 1_000_000)
    assert "| dbversus-engine | 500,000 [500,000–500,000] | 1.00 [1.00–1.00] |" in text
    assert "rows/s 2.00 [2.00–2.00], client CPU per row 0.25 [0.25–0.25]" in text


def test_a_driver_that_nobody_has_is_asked_for() -> None:
    with pytest.raises(insert_rate.RunError, match="python3-psycopg2"):
        insert_rate.python_with("no_such_driver")
