"""How much longer a run takes, told while it runs."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.plan.pace import Pace, pace_of
from dbversus.experiment.plan.progress import Progress
from dbversus.suites.load import load_suite

INSERTS = make_spec({"suite": "insert", "targets": ["postgres:16", "postgres:17"], "looks": [3]})


def pace(expected_s: dict[str, float | None], ends_s: float = math.inf) -> Pace:
    return Pace({(name, 0): value for name, value in expected_s.items()}, 2, 1000.0, ends_s)


def told(of: Pace, *begins: tuple[str, float]) -> list[float | None]:
    return [of.test_begins(name, now_s) for name, now_s in begins]


def test_time_left_follows_the_pace_of_the_tests_that_are_done() -> None:
    """Servers take 10 s to start; 25 s of tests take 50, and 25 s in time beside them: the other 75 take 1.5 times as long."""
    begins = ("point-query", 1010.0), ("scan", 1060.0)
    assert told(pace({"point-query": 25, "scan": 75}), *begins) == [None, 112.5 + 2 * (10 + 50 + 112.5)]
    assert told(pace({"point-query": 25, "scan": 75}, ends_s=1090), *begins) == [None, 30]


def test_one_slow_test_does_not_tell_of_all_that_are_to_come() -> None:
    """It takes six times as long, the next one what it should: what comes is told as 2.9 times, then twice as long."""
    begins = ("a", 1000.0), ("b", 1090.0), ("c", 1125.0)
    after_slow, after_both = 85 * (90 + 25) / (15 + 25), 50 * (125 + 25) / (50 + 25)
    expected = [None, after_slow + 2 * (90 + after_slow), after_both + 2 * (125 + after_both)]
    assert told(pace({"a": 15, "b": 35, "c": 50}), *begins) == expected


def test_little_that_is_done_tells_nothing() -> None:
    assert told(pace({"point-query": 5, "scan": 95}), ("point-query", 1000.0), ("scan", 1050.0)) == [None, None]


def test_work_of_unknown_length_is_no_sign_of_a_slow_host() -> None:
    """It takes 200 s; steps with a rate take what they should, and later blocks have that work as well."""
    steps = pace({"l.i0": None, "q100": 10, "q1000": 10})
    assert told(steps, ("l.i0", 1000.0), ("q100", 1200.0), ("q1000", 1210.0)) == [None, None, 10 + 2 * 220]


def test_nothing_is_told_before_work_of_unknown_length() -> None:
    assert told(pace({"q100": 10, "l.i1": None, "q1000": 10}), ("q100", 1000.0), ("l.i1", 1010.0)) == [None, None]


def test_a_test_that_was_measured_along_with_another_counts_as_done() -> None:
    assert told(pace({"a": 10, "b": 10, "c": 20}), ("a", 1000.0), ("c", 1020.0)) == [None, 20 + 2 * 40]


def test_groups_of_targets_have_turns_of_their_own() -> None:
    both = Pace({("a", 0): 10, ("a", 1): 30}, 0, 0.0)
    assert told(both, ("a", 0.0), ("a", 10.0)) == [None, 30]
    assert both.test_begins("a", 40.0) is None  # begun again


def test_a_later_block_knows_what_work_took_in_the_one_before() -> None:
    suite = load_suite("insert")
    first = pace_of(INSERTS, suite, Progress(), 2, 0.0, {})
    names = [name for name, _ in first.expected_s]
    assert first.expected_s[("l.i0", 0)] is None and first.expected_s[(names[-1], 0)]
    begins = [(name, 100.0 * number) for number, name in enumerate(names)]
    told(first, *begins)
    first.test_ends(100.0 * len(names))
    second = pace_of(INSERTS, suite, Progress(), 2, 0.0, first.took_s)
    assert set(second.expected_s.values()) == {100}
    left = [left_s for left_s in told(replace(second, blocks_after=0), *begins) if left_s is not None]
    assert left[-1] == pytest.approx(100) and all(a - b == pytest.approx(100) for a, b in pairwise(left))
