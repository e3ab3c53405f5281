import pytest

from dbversus.suites.sql import fill, placeholders, values_row


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
        ("SELECT c FROM sbtest{table} WHERE id IN (:ids)", {"ids": "3, 5"}, "SELECT c FROM sbtest2 WHERE id IN (3, 5)"),
        ('UPDATE "t{table}" SET c = :c -- :c', {"c": "'it''s'"}, "UPDATE \"t2\" SET c = 'it''s' -- :c"),
        ("SELECT :x::int", {"x": "-1"}, "SELECT -1::int"),
    ],
)
def test_values_take_the_places_of_names(sql: str, values: dict[str, str], filled: str) -> None:
    assert fill(sql, 2, values) == filled


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("INSERT INTO t (a, b) VALUES (:a, :b)", "(:a, :b)"),
        ("insert into t values(:a, f(:b, ')')) ON CONFLICT (a) DO NOTHING", "(:a, f(:b, ')'))"),
        ("INSERT INTO values_of VALUES\n (1) -- (2)", "(1)"),
        ("INSERT INTO t /* VALUES (1) */ (a) VALUES (':x')", "(':x')"),
        ("INSERT INTO t VALUES (1), (2)", None),
        ("INSERT INTO t VALUES (1", None),
        ("INSERT INTO t SELECT 1", None),
    ],
)
def test_the_row_of_values(sql: str, row: str | None) -> None:
    found = values_row(sql)
    assert (found and sql[slice(*found)]) == row


def test_windows_have_two_placeholders() -> None:
    assert placeholders("t >= :w.from AND t < :w.to AND :a.c") == ["w.from", "w.to", "a"]
