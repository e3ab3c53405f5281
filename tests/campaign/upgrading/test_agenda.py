"""What an upgrade decides, from what was found of the two versions."""

from dbversus.campaign.agenda import End, Found, Outcome, Planned, Step
from dbversus.campaign.screening.agenda import CONFIRMED, ENDS
from dbversus.campaign.upgrading.agenda import NOT_THE_SETTINGS, NOTHING_TO_PUT_BACK, UNCHANGED, VERSIONS, Upgrade
from dbversus.stats.model import Verdict

from ..screening.worlds import METRIC, TEST, World, play

CHOICES = {"profile": "quick", "tests": "point-query,scan"}
UPGRADE = Upgrade("old=sqlite:host@default", "new=sqlite:bundled@default", "sqlite:bundled", ("default",), CHOICES)


def versions(ratio: float, settings: dict[str, str] | None = None, lost: dict[int, str] | None = None) -> Outcome:
    verdict = Verdict.REGRESSION if ratio > 1 else Verdict.EQUIVALENT
    found = (
        Found(TEST, 1, METRIC, verdict, 4, ratio, ratio * 0.98, ratio * 1.02),
        Found("scan", 1, METRIC, Verdict.EQUIVALENT, 4, 1.0, 0.99, 1.01),
    )
    return Outcome("decided", (UPGRADE.older, UPGRADE.newer), found, lost or {}, settings or {})


def only(step: Step | End) -> Planned:
    assert isinstance(step, Step)
    (planned,) = step.experiments
    return planned


def test_the_two_versions_are_compared_first_with_their_names_and_configs() -> None:
    planned = only(UPGRADE.next({}))
    assert (planned.name, planned.spec.targets) == (VERSIONS, [UPGRADE.older, UPGRADE.newer])
    assert planned.spec.tests == CHOICES["tests"]
    assert UPGRADE.title == "upgrade of old to new"


def test_where_nothing_changed_nothing_more_is_measured() -> None:
    assert UPGRADE.next({VERSIONS: versions(1.0, {"s0": "s0=1"})}) == End(UNCHANGED)


def test_where_no_known_setting_differs_it_ends() -> None:
    assert UPGRADE.next({VERSIONS: versions(1.2)}) == End(NOTHING_TO_PUT_BACK)


def test_a_version_that_cannot_be_measured_ends_it_with_the_reason() -> None:
    assert UPGRADE.next({VERSIONS: versions(1.2, lost={1: "it does not start"})}) == End(
        "a target could not be measured: it does not start"
    )


def test_settings_are_put_back_on_the_newer_version_in_the_tests_that_changed() -> None:
    planned = only(UPGRADE.next({VERSIONS: versions(1.2, {"s0": "s0=1", "s1": "s1=1"})}))
    assert planned.name == ENDS
    assert planned.spec.targets == ["sqlite:bundled@default", "sqlite:bundled@default,s0=1,s1=1"]
    assert planned.spec.tests == TEST


def test_where_all_settings_put_back_change_nothing_it_ends_and_says_so() -> None:
    first = versions(1.2, {"s0": "s0=1"})
    screening = UPGRADE.screening(first)
    assert screening
    outcomes, _ = play(screening, World({}))
    assert UPGRADE.next({VERSIONS: first, **outcomes}) == End(NOT_THE_SETTINGS)
    # nor where they change the test, but bring little of a large change back
    outcomes, _ = play(screening, World({"s0": -0.1}))
    assert UPGRADE.next({VERSIONS: versions(9.0, {"s0": "s0=1"}), ENDS: outcomes[ENDS]}) == End(NOT_THE_SETTINGS)


def test_what_brings_the_change_back_is_named() -> None:
    settings = {f"s{number}": f"s{number}=1" for number in range(6)}
    screening = UPGRADE.screening(versions(1.25, settings))
    assert screening
    outcomes, why = play(screening, World({"s4": -0.2}))
    assert why == CONFIRMED
    assert screening.named(outcomes) == ["s4"]
    step = UPGRADE.next({VERSIONS: versions(1.25, settings), **outcomes})
    assert step == End(CONFIRMED)
