"""A plan is a tested cause where bringing it back also brings the cost back."""

import pytest

from dbversus.campaign.agenda import Found, Outcome
from dbversus.campaign.replanning.plans import Replanned, Restoring
from dbversus.campaign.replanning.tested import cause_of_trial
from dbversus.explain.planner import trials
from dbversus.stats.model import Verdict

RESTORING = Restoring(tuple(trials("postgres", ("13", "17"), {}, {"enable_memoize": "on"})))
ONE = Replanned("lateral", "lateral/all", restoring=(RESTORING,))


def _found(target: int, ratio: float, verdict: Verdict, test: str = "lateral") -> Found:
    return Found(test, target, "cpu", verdict, 6, ratio, ratio * 0.98, ratio * 1.02)


def test_the_old_cost_is_back() -> None:
    outcome = Outcome("decided", found=(_found(1, 2.0, Verdict.REGRESSION), _found(2, 1.0, Verdict.EQUIVALENT)))
    cause = cause_of_trial(ONE, outcome, "postgres:17")
    assert cause and cause.is_sure and cause.share == pytest.approx(1)
    assert cause.means == "with enable_memoize=off the plan and the cost are the old ones: 1.000 [0.980, 1.020]"


def test_most_of_the_cost_stays() -> None:
    outcome = Outcome("decided", found=(_found(1, 2.0, Verdict.REGRESSION), _found(2, 1.9, Verdict.REGRESSION)))
    cause = cause_of_trial(ONE, outcome, "postgres:17")
    assert cause and not cause.is_sure and "the cost 1.900 [1.862, 1.938] in place of 2.000" in cause.means


def test_a_trial_that_overshoots_is_not_sure() -> None:
    outcome = Outcome("decided", found=(_found(1, 1.5, Verdict.REGRESSION), _found(2, 0.7, Verdict.IMPROVEMENT)))
    cause = cause_of_trial(ONE, outcome, "postgres:17")
    assert cause and cause.share and cause.share > 1.3 and not cause.is_sure


def test_an_undecided_trial_explains_nothing() -> None:
    outcome = Outcome("decided", found=(_found(1, 2.0, Verdict.REGRESSION), _found(2, 1.1, Verdict.UNDECIDED)))
    cause = cause_of_trial(ONE, outcome, "postgres:17")
    assert cause and cause.share is None and not cause.is_sure and "was not decided" in cause.means


@pytest.mark.parametrize(
    "found",
    [
        (_found(1, 1.0, Verdict.EQUIVALENT), _found(2, 1.0, Verdict.EQUIVALENT)),
        (_found(1, 2.0, Verdict.REGRESSION),),
        (_found(1, 2.0, Verdict.REGRESSION, "other"), _found(2, 1.0, Verdict.EQUIVALENT, "other")),
    ],
)
def test_without_a_change_or_a_trial_nothing_was_tested(found: tuple[Found, ...]) -> None:
    assert cause_of_trial(ONE, Outcome("decided", found=found), "postgres:17") is None
