from dataclasses import replace

import pytest

from dbversus.errors import UsageError
from dbversus.stats.judging.looks import FEWEST_FRESH_BLOCKS
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.suites import list_profiles, load_profile, load_suite, profile_choices, profile_defaults


def test_profiles_there_are() -> None:
    assert list(list_profiles()) == [
        "demo",
        "quick",
        "standard",
        "fine",
        "sustained",
        "io-bound",
        "reference-2021",
        "reference-2021-io",
        "reference-2017",
    ]
    with pytest.raises(UsageError, match=r"Unknown profile 'quik'\. Did you mean 'quick'\? Accepted: demo, quick,"):
        load_profile("quik")


@pytest.mark.parametrize("name", list_profiles())
def test_their_tests_exist(name: str) -> None:
    profile = load_profile(name)
    assert load_suite(profile.suite).select(profile.tests).tests


@pytest.mark.parametrize(("name", "most_s"), [("demo", 90), ("quick", 150)])
def test_small_profiles_fit_into_their_time(name: str, most_s: float) -> None:
    profile = load_profile(name)
    tests = len(load_suite(profile.suite).select(profile.tests).reported_tests)
    assert tests * profile.looks[-1] * profile.seconds <= most_s


def test_the_demo_is_quick_and_measures_less_of_it() -> None:
    demo, quick = load_profile("demo"), load_profile("quick")
    as_quick = replace(demo, name="quick", title=quick.title, rows=quick.rows, seconds=quick.seconds, looks=quick.looks)
    assert as_quick == quick
    assert demo.looks[-1] - demo.looks[0] >= FEWEST_FRESH_BLOCKS


def test_standard_is_the_protocol() -> None:
    profile = load_profile("standard")
    assert (profile.rows, profile.slot_ms, profile.looks) == (36, 20, (3, 4, 6, 8, 12))
    assert profile.tests is None


def test_sustained_work_has_a_lead_in_and_slots_longer_than_the_clocks_of_servers() -> None:
    profile = load_profile("sustained")
    suite = load_suite(profile.suite).select(profile.tests)
    assert profile.lead_in_s >= 40 and profile.write_slot_ms >= 1000
    assert all(test.changes_data for test in suite.tests.values()) and "delete" not in suite.tests
    assert all(load_profile(name).lead_in_s == 0 for name in list_profiles() if name != "sustained")


def test_reference_is_one_long_pass() -> None:
    profile = load_profile("reference-2021")
    assert (profile.order, profile.clients, profile.looks) == ("sequential", (1, 2, 3), (1,))
    assert profile.slot_ms * profile.rows == 180_000
    assert profile.warm_up_ms == 0
    assert profile.seconds * 1000 >= 180_000


def test_larger_than_memory_the_reference_takes_300_s_and_in_2017_600_s() -> None:
    io, old = load_profile("reference-2021-io"), load_profile("reference-2017")
    assert (io.slot_ms * io.rows, io.clients, io.table_size) == (300_000, (1, 2, 3), 400_000_000)
    assert (old.slot_ms * old.rows, old.clients, old.tables) == (600_000, (1, 2), 2)
    assert old.test_seconds == {"insert": 305}
    assert {io.memory, old.memory} == {16 * 2**30}


def test_choices_are_plain_values() -> None:
    assert profile_choices("quick")["clients"] == [1]
    assert profile_choices("quick")["tests"] == "quick"
    assert "tests" not in profile_choices("standard")
    assert profile_choices("reference-2021")["clients"] == [1, 2, 3]


def test_fine_has_margins_of_one_percent() -> None:
    margins = profile_choices("fine")["margins"]
    assert {margins[CPU], margins[THROUGHPUT]} == {0.01}
    assert "margins" not in profile_choices("standard")


@pytest.mark.parametrize(
    ("given", "most_rows"),
    [
        ({}, 6_195_000),
        ({"memory": "64m"}, 775_000),
        ({"memory": 64 * 2**20, "tables": "4"}, 194_000),
    ],
)
def test_io_bound_has_data_three_times_as_large_as_memory(given: dict[str, object], most_rows: int) -> None:
    choices = profile_defaults({"profile": "io-bound"} | given)
    assert choices["table_size"] == most_rows and choices["table_size"] % 1000 == 0
    assert "data_to_memory" not in choices
    assert choices["memory"] == 512 * 2**20


def test_io_bound_goes_by_the_suite_that_is_asked_for() -> None:
    asked = {"profile": "io-bound", "suite": "scan"}
    assert profile_defaults(asked)["table_size"] > 1_000_000 and "tests" not in profile_defaults(asked)
    assert "table_size" not in profile_defaults(asked | {"table_size": "1m"})
