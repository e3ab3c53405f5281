"""The ready experiments that repeat published posts, in both their forms; nothing is fetched or started."""

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.bundled import POSTS, find_experiment, ready_experiments
from dbversus.experiment.asked.spec import read_choices, read_spec
from dbversus.experiment.plan.estimate import check_time_budget, estimate
from dbversus.servers.config.load import LIMITED
from dbversus.suites.profiles import profile_defaults

READY = [name for name in ready_experiments() if name.startswith(f"{POSTS}/")]
SCALED_AT_MOST_S = 3600


def test_every_post_has_its_experiment() -> None:
    assert len(READY) == 18
    assert all(read_choices(find_experiment(name))["posts"] == [name.removeprefix(f"{POSTS}/")] for name in READY)


@pytest.mark.parametrize("name", READY)
def test_the_full_form_is_one_long_pass_and_the_scaled_one_ends_within_the_hour(name: str) -> None:
    path = find_experiment(name)
    full, scaled = (read_spec(path, profile_defaults, scaled=form) for form in (False, True))
    assert (full.order, full.looks) == ("sequential", [1])
    assert full.read_suite().tests
    # caches by the reference's share of a host's memory leave a small server no room for itself
    assert [text.replace(f",{LIMITED}", "") for text in scaled.targets] == full.targets
    assert not scaled.memory or all(LIMITED in text for text in scaled.targets)
    assert scaled.order == "interleaved" and scaled.time_budget_s
    expected = estimate(scaled, scaled.read_suite())
    assert scaled.time_budget_s <= SCALED_AT_MOST_S and expected.first_verdict_s < SCALED_AT_MOST_S
    assert check_time_budget(scaled, scaled.read_suite()) == ""


def test_a_file_without_a_short_form_says_so() -> None:
    with pytest.raises(UsageError, match=r"versions\.toml has no table \[scaled\]; --scaled is for"):
        read_choices(find_experiment("versions"), ["sqlite"], scaled=True)
    assert "scaled" not in read_choices(find_experiment(READY[0]))
