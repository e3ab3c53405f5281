import pytest

from dbversus.suites.expression import Expression, evaluate, variables_of

VARIABLES = {"table_size": 11, "range": 100}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (7, 7),
        ("7", 7),
        ("table_size", 11),
        ("table_size / 2 + 1", 6),
        ("table_size // 2", 5),
        ("-(range - 1) * 2", -198),
        (" range-1 ", 99),
    ],
)
def test_values(expression: Expression, value: int) -> None:
    assert evaluate(expression, VARIABLES) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "is no integer expression"),
        ("1 +", "is no integer expression"),
        ("1.5", "is no integer expression"),
        ("2 ** 9", "is no integer expression"),
        ("True", "is no integer expression"),
        ("__import__('os')", "is no integer expression"),
        ("range.real", "is no integer expression"),
        ("rang + 1", "unknown variable 'rang' in \"rang \\+ 1\"; known here: range, table_size"),
        ("1 / (range - 100)", "divides by zero"),
    ],
)
def test_mistakes(expression: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(expression, VARIABLES)


def test_names_are_found_without_values() -> None:
    assert variables_of("a * (b - 1) / a") == {"a", "b"}
    assert variables_of(5) == set()
    with pytest.raises(ValueError, match="is no integer expression"):
        variables_of("a b")
