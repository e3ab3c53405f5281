import pytest

from dbversus.errors import UsageError
from dbversus.units import parse_count, parse_duration, show_bytes, show_cores, show_duration


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("10k", 10_000), ("1.5M", 1_500_000), (" 2g ", 2_000_000_000)])
def test_counts(text: str, count: int) -> None:
    assert parse_count(text, "table size") == count


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "ten", "", "1kb"])
def test_a_wrong_count_names_itself(text: str) -> None:
    with pytest.raises(UsageError, match="table size"):
        parse_count(text, "table size")


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("45m", 2700), ("1h30m", 5400), ("50ms", 0.05)])
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text, "--time-budget") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["45", "m", "1h 30", "-5s", "", "0", "0s", "soon"])
def test_a_wrong_duration_names_itself(text: str) -> None:
    with pytest.raises(UsageError, match="--time-budget"):
        parse_duration(text, "--time-budget")


def test_shown_for_people() -> None:
    assert [show_duration(seconds) for seconds in (12.4, 200, 3900)] == ["12 s", "3 min 20 s", "1 h 05 min"]
    assert [show_cores(cores) for cores in (0.731, 0.999, 1.25)] == ["0.73 of a core", "1.0 cores", "1.2 cores"]
    assert [show_bytes(count) for count in (12, 1500, 3_200_000_000)] == ["12 B", "1.5 kB", "3.2 GB"]
