import pytest

from dbversus.suites.sql import Value, fill, placeholders


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT c FROM sbtest{table} WHERE id BETWEEN :low AND :high_2", ["low", "high_2"]),
        ("SELECT :a::int, b::text[1:2] FROM t -- :c\nWHERE x = :a", ["a"]),
        ("SELECT ':a', 'it''s :b', \":c\", `:d`, 12:34 /* :e */", []),
    ],
)
def test_placeholders_are_found_as_in_the_engine(sql: str, names: list[str]) -> None:
    assert placeholders(sql) == names


@pytest.mark.parametrize(
    ("sql", "values", "filled"),
    [
        ("SELECT c FROM sbtest{table} WHERE id IN (:ids)", {"ids": [3, 5]}, "SELECT c FROM sbtest2 WHERE id IN (3, 5)"),
        ('UPDATE "t{table}" SET c = :c -- :c', {"c": "it's"}, "UPDATE \"t2\" SET c = 'it''s' -- :c"),
        ("SELECT :x::int", {"x": -1}, "SELECT -1::int"),
    ],
)
def test_literal_values(sql: str, values: dict[str, Value], filled: str) -> None:
    assert fill(sql, 2, values) == filled
