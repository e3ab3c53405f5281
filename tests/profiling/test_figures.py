"""CPU time per operation and function: what changed is shown, equal profiles show nothing, and what moved is told together."""

import pytest

from dbversus.profiling.figures import Profile, profile_of

from .samples import MOVED_FROM, MOVED_TO, Cost, drawn


def _profile(base: Cost, mine: Cost, seed: int = 1) -> Profile:
    found = profile_of(drawn(base, seed), drawn(mine, seed + 1000))
    assert found
    return found


def test_renamed_and_split_functions_are_told_together_with_what_they_cost_more() -> None:
    found = _profile(MOVED_FROM, MOVED_TO)
    first = found.functions[0]
    assert (first.gone, first.under) == (("mblen", "utf_mblen"), "count")
    assert first.new == ("mblen_with_len", "utf_private")
    assert first.own.is_shown
    assert first.own.low_us is not None
    assert first.own.high_us is not None
    assert first.own.low_us < 54 < first.own.high_us
    share = found.share(first)
    assert share is not None
    assert share > 0.8
    assert not any(one.own.is_shown for one in found.functions if one.names in (("scan",), ("read",)))


def test_a_function_that_costs_more_is_shown_with_what_it_calls() -> None:
    more = {**MOVED_FROM, "main;scan;count": 48}
    found = _profile(MOVED_FROM, more)
    first = found.functions[0]
    assert first.names == ("count",)
    assert first.own.is_shown
    assert first.own.change_us == pytest.approx(24, abs=4)
    assert first.total
    assert first.total.base_us == pytest.approx(104, abs=5)


def test_equal_profiles_show_no_function() -> None:
    shown = [one for seed in range(40) for one in _profile(MOVED_FROM, MOVED_FROM, seed).functions if one.own.is_shown]
    assert len(shown) <= 2, shown


def test_one_block_shows_nothing_and_none_is_no_profile() -> None:
    base, mine = drawn(MOVED_FROM, 1, blocks=1), drawn(MOVED_TO, 2, blocks=1)
    found = profile_of(base, mine)
    assert found
    assert not any(one.own.is_shown for one in found.functions)
    assert found.explained is None
    assert profile_of(base, {}) is None


def test_time_per_operation_is_what_was_accounted() -> None:
    found = _profile(MOVED_FROM, MOVED_FROM)
    assert found.whole.base_us == pytest.approx(sum(MOVED_FROM.values()), rel=0.03)
    assert sum(one.own.base_us for one in found.functions) == pytest.approx(found.whole.base_us)
    assert sum(found.base.values()) == pytest.approx(found.whole.base_us)


def test_where_one_build_is_stripped_no_function_can_be_blamed() -> None:
    stripped = {"main;[postgres]" if "mblen" in stack else stack: cost for stack, cost in MOVED_TO.items()}
    found = _profile(MOVED_FROM, stripped)
    assert not found.has_names and found.unnamed[0] == 0 and found.unnamed[1] > 0.2
    assert _profile(MOVED_FROM, MOVED_TO).has_names
