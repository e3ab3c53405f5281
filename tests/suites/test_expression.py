import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from dbversus.suites.expression import Expression, evaluate, evaluate_number, names_of, reduce, variables_of
from dbversus.suites.variables import Variable, duration_us, in_words

VARIABLES: dict[str, Variable] = {
    "table_size": 11,
    "range": 100,
    "share": 0.5,
    "interval": "10s",
    "start": datetime(2016, 1, 1, tzinfo=UTC),
    "metrics": ["user", "idle", "wait"],
    "word": "ten",
}


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
        ("-table_size / 2", -6),
        ("-table_size % 4", 1),
        ("1 < table_size <= 11", 1),
        ("1 if table_size > 11 or not range else 2", 2),
        ("min(table_size, range, 7) + max(1, abs(-2))", 9),
        ("floor(table_size * share) + ceil(share) + round(share)", 7),
        ("interval", 10_000_000),
        ("1d / interval", 8640),
        ("1.5min + 2ms", 90_002_000),
        ("start + 1s", 1_451_606_401_000_000),
        ("len(metrics)", 3),
    ],
)
def test_values(expression: Expression, value: int) -> None:
    assert evaluate(expression, VARIABLES) == value


def test_floats_are_numbers_but_no_integers() -> None:
    assert evaluate_number("table_size / 2.0", VARIABLES) == 5.5
    assert evaluate_number(1.5, VARIABLES) == 1.5
    with pytest.raises(ValueError, match=r'"range \* share" is 50.0; an integer is accepted, and floor'):
        evaluate("range * share", VARIABLES)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "is no expression"),
        ("1 +", "is no expression"),
        ("2 ** 9", "is no expression"),
        ("1x", "is no expression"),
        ("True", "is no expression"),
        ("__import__('os')", "is no expression"),
        ("min(1)", "is no expression"),
        ("range.real", "is no expression"),
        ("1 in range", "is no expression"),
        ("rang + 1", "unknown variable 'rang' in \"rang \\+ 1\"; known here: interval, metrics, range, share"),
        ("1 / (range - 100)", "divides by zero"),
        ("1e300 * 1e300 % 0", "divides by zero"),
        ("word + 1", "variable 'word' is a text, \"ten\"; numbers, times and durations"),
        ("metrics + 1", "variable 'metrics' is a list"),
        ("len(range)", "variable 'range' is no list"),
        ("len(rang)", "unknown variable 'rang'"),
    ],
)
def test_mistakes(expression: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(expression, VARIABLES)


def test_names_are_found_without_values() -> None:
    assert variables_of("a * (b - 1) / a + len(c)") == {"a", "b", "c"}
    assert variables_of("12h") == set()
    assert variables_of(5) == set()
    with pytest.raises(ValueError, match="is no expression"):
        variables_of("a b")


@pytest.mark.parametrize(
    ("expression", "form"),
    [
        ("row % (range / 10)", ["%", "row", 10]),
        ("start + row / 4 * interval", ["+", 1_451_606_400_000_000, ["*", ["/", "row", 4], 10_000_000]]),
        ("0 <= row < 5", ["and", ["<=", 0, "row"], ["<", "row", 5]]),
        ("max(row, 1, range) if share > 1 else -row", ["if", 0, ["max", ["max", "row", 1], 100], ["neg", "row"]]),
        ("range + 1", 101),
    ],
)
def test_what_depends_on_the_row_is_left_for_the_engine(expression: str, form: Any) -> None:
    assert reduce(expression, VARIABLES, {"row"}) == form


def test_symbols() -> None:
    assert reduce("range + 1", VARIABLES, {"range"}) == ["+", "range", 1]
    assert names_of(reduce("row + range * host", VARIABLES, {"row", "host"})) == {"row", "host"}
    with pytest.raises(ValueError, match="divides by what depends on the row"):
        reduce("range % row", VARIABLES, {"row"})
    with pytest.raises(ValueError, match="known here: interval, metrics, range, row"):
        reduce("rwo + 1", VARIABLES, {"row"})


def test_times_and_durations() -> None:
    assert evaluate("t", {"t": date(1970, 1, 2)}) == 86_400_000_000
    assert evaluate("t", {"t": datetime(1970, 1, 1, 0, 0, 1)}) == 1_000_000
    assert evaluate("t", {"t": datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))}) == 0
    assert duration_us("12h") == 43_200_000_000
    assert duration_us("12 h") is None
    assert in_words(["a", 1]) == "a, 1"
    assert in_words(datetime(2016, 1, 1, tzinfo=UTC)) == "2016-01-01T00:00:00+00:00"


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Garbage is collected, and threads take turns, as often as possible."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(1)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


class _Garbage:
    """Its collection runs Python code, in which another thread may take over."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.mark.usefixtures("hasty_threads")
def test_threads_do_not_make_each_other_fail() -> None:
    text = " + ".join(f"(table_size * {number})" for number in range(1, 61))

    def value(_: int) -> float:
        _Garbage()
        return evaluate_number(text, VARIABLES)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(value, range(200))) == {11 * sum(range(1, 61))}
