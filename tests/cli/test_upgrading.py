"""What an upgrade says could be set, where no trial has found it."""

import pytest

from dbversus.cli.upgrading import _untried
from dbversus.explain.cause import WEAK, Cause, Explanation, Fact, Kind
from dbversus.stats.metrics import CPU

TEXTS = {"log_bin": "skip_log_bin=ON"}


def _of(what: str, base: Fact, mine: Fact, *, weak: bool = False, kind: Kind = Kind.SETTING) -> Cause:
    return Cause(kind, "insert", "new", what, base, mine, facts={WEAK: True} if weak else {})


@pytest.mark.parametrize(
    ("causes", "said"),
    [
        ([_of("log_bin", "OFF", "ON")], ["skip_log_bin=ON, not measured"]),
        ([_of("query_cache_size", "33554432", None)], ["query_cache_size is gone, and nothing brings it back"]),
        ([_of("q/q", "a", "b", kind=Kind.PLAN), _of("log_bin", "OFF", "ON")], ["skip_log_bin=ON, not measured"]),
        ([_of("log_bin", "OFF", "ON", weak=True)], []),
        ([_of("sql_mode.ANSI", "off", "on")], []),
        ([_of("new_cache", None, "ON")], []),
        ([], []),
    ],
)
def test_the_first_setting_that_acted_has_its_older_value(causes: list[Cause], said: list[str]) -> None:
    explanation = Explanation("insert", "new", "old", CPU, 2.0, 1.5, tuple(causes))
    assert list(_untried(explanation, TEXTS)) == said


def test_without_an_explanation_there_is_nothing_to_set() -> None:
    assert list(_untried(None, TEXTS)) == []
