"""What ANALYZE happens to draw, and what statements cost after it: the statements and the table."""

import importlib
from typing import Any

planner_statistics: Any = importlib.import_module("planner_statistics")
Drawn = planner_statistics.Drawn


def test_statements_ask_for_a_hundred_values_of_the_table_and_are_the_same_each_time() -> None:
    asked = [statement.as_string() for statement in planner_statistics.statements(5000, 3)]
    assert asked == [statement.as_string() for statement in planner_statistics.statements(5000, 3)]
    lists = [[int(value) for value in text.split("k IN (")[1].rstrip(")").split(", ")] for text in asked]
    assert all(len(values) == 100 and min(values) >= 1 and max(values) <= 5000 for values in lists)
    assert lists[0] != lists[1]


def test_analyzes_are_counted_by_the_length_of_the_list_they_drew() -> None:
    drawn = {
        100_000: [Drawn(1, 38.0, 140.0), Drawn(0, 28.0, 141.0), Drawn(1, 40.0, 142.0)],
        1_000_000: [Drawn(0, 29.0, 270.0)],
    }
    lines = planner_statistics.table(drawn).splitlines()[2:]
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines] == [
        ["100,000", "0", "1 of 3", "28 [28–28]", "141 [141–141]"],
        ["100,000", "1", "2 of 3", "39 [38–40]", "141 [140–142]"],
        ["1,000,000", "0", "1 of 1", "29 [29–29]", "270 [270–270]"],
    ]
