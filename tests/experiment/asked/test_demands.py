from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.experiment.asked.demands import Demands, parse_demands
from dbversus.experiment.asked.spec import make_spec, read_spec
from dbversus.suites.profiles import profile_defaults


def test_conditions_have_commas_between_or_are_repeated() -> None:
    assert parse_demands(["regression, undecided", "failed", "failed"], None).fail_on == (
        "regression",
        "undecided",
        "failed",
    )
    assert not parse_demands(None, None) and parse_demands(None, "80%")


@pytest.mark.parametrize(("text", "share"), [("80%", 0.8), ("12.5 %", 0.125), ("100%", 1.0)])
def test_shares_are_percent(text: str, share: float) -> None:
    assert parse_demands(None, text).least_share == share


@pytest.mark.parametrize("text", ["0", "0%", "101%", "0.8", "80", "-5%", "many", ""])
def test_other_shares_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"--require-verdicts is '{text}'; accepted: a share above 0% and up to 100%"):
        parse_demands(None, text)


def test_a_file_may_demand_and_choices_over_it_have_the_last_word(tmp_path: Path) -> None:
    file = tmp_path / "nightly.toml"
    file.write_text('targets = ["a", "b"]\nfail_on = ["regression", "failed"]\nrequire_verdicts = "80%"\n')
    spec = read_spec(file, profile_defaults)
    assert spec.demands == Demands(("regression", "failed"), 0.8)
    assert spec.with_choices({"fail_on": ["unstable"]}).demands == Demands(("unstable",), 0.8)


@pytest.mark.parametrize(
    ("setting", "named"),
    [({"fail_on": "sneeze"}, "sneeze"), ({"fail_on": [7]}, "fail_on"), ({"require_verdicts": "0"}, "the share is '0'")],
)
def test_a_file_that_demands_nonsense_is_refused(setting: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        make_spec({"targets": ["a", "b"], **setting}, "nightly.toml: ")
