from dataclasses import replace

import pytest

from dbversus.explain.cause import WEAK, Cause, Kind
from dbversus.explain.trials import TRIED, Tried, trial_command, with_trials
from dbversus.results.records import Experiment
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Finding, Verdict

COMMAND = "dbversus compare postgres:17@a postgres:17@a,work_mem=16MB --tests t"
LEAD = Cause(Kind.SETTING, "t", "new", "work_mem", "16MB", "4MB", command=COMMAND, means="limits memory")
PLAN = Cause(Kind.PLAN, "t", "new", "t/s")


def finding(ratio: float, verdict: Verdict, metric: str = CPU) -> Finding:
    figures = ratio, ratio * 0.98, ratio * 1.02, 0.95, 4, 0.0, 0.0, 0.05, None, None, None
    return Finding("t", "new", metric, verdict, *figures)


def trial(after: float, verdict: Verdict, settings: str = "work_mem=16MB", metric: str = CPU) -> Tried:
    return Tried(settings, finding(6.0, Verdict.REGRESSION, metric), finding(after, verdict, metric))


def test_a_setting_that_brings_the_change_back_is_the_cause_and_comes_first() -> None:
    first, second = with_trials([PLAN, LEAD], CPU, [trial(1.01, Verdict.EQUIVALENT)])
    assert first.what == "work_mem" and first.tested and first.is_sure and second == PLAN
    assert first.share == pytest.approx(0.994, abs=0.001)
    assert first.means == (
        "limits memory; with work_mem=16MB it is 1.010 [0.990, 1.030] of the base's in place of 6.000"
    )


def test_what_is_left_may_be_undecided_where_its_interval_tells_enough() -> None:
    first, _ = with_trials([PLAN, LEAD], CPU, [trial(0.97, Verdict.UNDECIDED)])
    assert first.is_sure and first.share == pytest.approx(1.017, abs=0.001)
    wide = Tried("work_mem=16MB", finding(6.0, Verdict.REGRESSION), finding(1.0, Verdict.UNDECIDED))
    wide = replace(wide, after=replace(wide.after, low=0.4, high=2.5))
    assert not any(cause.tested for cause in with_trials([PLAN, LEAD], CPU, [wide]))


@pytest.mark.parametrize(
    ("after", "verdict"), [(5.9, Verdict.REGRESSION), (0.2, Verdict.IMPROVEMENT), (2.4, Verdict.REGRESSION)]
)
def test_one_that_brings_little_back_or_too_much_stays_a_lead_and_it_is_said(after: float, verdict: Verdict) -> None:
    first, second = with_trials([PLAN, LEAD], CPU, [trial(after, verdict)])
    assert first == PLAN and not second.tested and second.share is None
    assert second.facts[TRIED] and f"it is {after:.3f}" in second.means


@pytest.mark.parametrize(
    "tried",
    [
        trial(1.0, Verdict.EQUIVALENT, settings="jit=off"),
        trial(1.0, Verdict.EQUIVALENT, metric=THROUGHPUT),
        Tried("work_mem=16MB", finding(1.0, Verdict.EQUIVALENT), finding(1.0, Verdict.EQUIVALENT)),
    ],
)
def test_what_was_not_decided_or_is_of_something_else_changes_nothing(tried: Tried) -> None:
    assert with_trials([PLAN, LEAD], CPU, [tried]) == (PLAN, LEAD)


def test_a_setting_with_which_nothing_is_left_to_compare_is_the_cause() -> None:
    tried = trial(1.0, Verdict.EQUIVALENT)
    tried = replace(tried, after=replace(tried.after, ratio=None, low=None, high=None))
    (only,) = with_trials([LEAD], CPU, [tried])
    assert only.is_sure and only.share == 1.0
    assert only.means.endswith(
        "with work_mem=16MB it is next to nothing, as on the base, in place of 6.000 of the base's"
    )
    unknown = replace(tried, after=replace(tried.after, verdict=Verdict.UNDECIDED))
    assert not with_trials([LEAD], CPU, [unknown])[0].tested


def test_one_that_a_trial_shows_to_do_nothing_is_no_lead_any_more() -> None:
    counter = Cause(Kind.COUNTER, "t", "new", "temp_files")
    first, second = with_trials([LEAD, counter], CPU, [trial(5.9, Verdict.REGRESSION)])
    assert first == counter and second.what == "work_mem" and second.is_weak
    undecided, _ = with_trials([LEAD, counter], CPU, [trial(2.4, Verdict.REGRESSION)])
    assert undecided.what == "work_mem" and not undecided.is_weak


TOGETHER = Cause(Kind.SETTING, "t", "new", "jit, work_mem", "off, 16MB", "on, 4MB", share=1.0, tested=True)
BACK = {"work_mem": ("16MB", "4MB")}


def test_of_several_settings_the_one_that_is_the_cause_takes_the_place_of_all() -> None:
    tried = trial(1.01, Verdict.EQUIVALENT, settings="work_mem=16MB")
    first, second = with_trials([TOGETHER, PLAN], CPU, [replace(tried, values=BACK)])
    assert (first.what, first.base, first.mine, first.target) == ("work_mem", "16MB", "4MB", "new")
    assert first.is_sure and first.facts[TRIED] == tried.words and second == PLAN


def test_a_lead_to_a_setting_that_was_put_back_is_told_by_its_name() -> None:
    lead = replace(LEAD, command="", facts={WEAK: True})
    tried = replace(trial(1.01, Verdict.EQUIVALENT, settings="work_mem not set"), values=BACK)
    (only,) = with_trials([TOGETHER, lead], CPU, [tried])
    assert only.what == "work_mem" and only.is_sure and not only.is_weak and only.means.startswith("limits memory; ")


def put_back(after: float, *names: str) -> Tried:
    settings = ",".join(f"{name}=off" for name in names)
    return replace(trial(after, Verdict.REGRESSION, settings=settings), values=dict.fromkeys(names, ("off", "on")))


ALL = replace(TOGETHER, what="a, b, c", base="off, off, off", mine="on, on, on")


def test_settings_that_act_only_together_are_one_cause() -> None:
    lead = replace(LEAD, what="b", base="off", mine="on", command="", facts={WEAK: True})
    trials = [put_back(2.4, "a"), put_back(1.01, "b"), put_back(5.9, "c")]
    first, *others = with_trials([ALL, lead, PLAN], CPU, trials)
    assert (first.what, first.base, first.mine, first.is_sure) == ("a, b", "off, off", "on, on", True)
    assert first.means == (
        "they act together, either put back brings it back in part or in whole: "
        "with a=off it is 2.400 [2.352, 2.448] of the base's in place of 6.000; "
        "with b=off it is 1.010 [0.990, 1.030] of the base's in place of 6.000"
    )
    assert others == [PLAN]


def test_whether_they_act_together_is_not_told_where_not_all_that_differs_was_put_back() -> None:
    """What is left may act against them."""
    trials = [put_back(1.2, "a"), put_back(1.01, "b")]
    assert [cause.what for cause in with_trials([ALL], CPU, trials)] == ["b", "a"]
    # the others as one are enough
    many = replace(ALL, what="a, b, c, d")
    (only,) = with_trials([many], CPU, [*trials, put_back(5.9, "c", "d"), put_back(1.0, "a", "b")])
    assert only.what == "a, b" and "they act together" in only.means


def test_settings_that_make_it_with_effects_of_their_own_are_found_by_what_puts_them_all_back() -> None:
    trials = [put_back(2.4, "a"), put_back(2.4, "b"), put_back(1.01, "a", "b")]
    (only,) = with_trials([ALL], CPU, trials)
    assert only.what == "a, b" and only.is_sure and only.means.startswith("with a=off,b=off it is 1.010")


def test_settings_of_which_each_makes_a_part_are_one_cause() -> None:
    (only,) = with_trials([ALL], CPU, [put_back(2.4, "a"), put_back(2.5, "b"), put_back(5.9, "c")])
    assert only.what == "a, b" and only.is_sure and only.share == pytest.approx(1.0, abs=0.01)
    assert only.means.startswith(
        "each makes a part of it, and either put back brings that back: with a=off it is 2.400"
    )


def test_no_more_settings_are_named_than_it_takes() -> None:
    trials = [put_back(1.0, "b", "c"), put_back(1.01, "b"), put_back(1.02, "a", "b"), put_back(5.9, "a", "c")]
    assert [cause.what for cause in with_trials([ALL], CPU, trials)] == ["b"]


def test_where_no_setting_brings_the_change_back_by_itself_all_of_them_stay_the_cause() -> None:
    tried = replace(trial(2.4, Verdict.REGRESSION), values=BACK)
    assert with_trials([TOGETHER, PLAN], CPU, [tried]) == (TOGETHER, PLAN)


HEADER = Experiment(
    schema=2,
    targets=[],
    tests=["scan"],
    suite="sysbench",
    table_size=1000,
    command="dbversus compare a:1 'b:2@x y=1' --profile quick --tests 'p*' --clients 1,4 --out /tmp/x --matrix m --judge p95",
)


@pytest.mark.parametrize(
    ("target", "settings", "named"),
    [
        ("postgres:17", "jit=off", "postgres:17 postgres:17@jit=off"),
        ("postgres:17#2", "jit=off", "postgres:17 postgres:17@jit=off"),
        ("postgres:17@fpw_off,jit=on", "jit=off", "postgres:17@fpw_off,jit=on postgres:17@fpw_off,jit=off"),
        ("mysql:8.0", "optimizer_switch=mrr=off", "mysql:8.0 mysql:8.0@optimizer_switch=mrr=off"),
    ],
)
def test_the_target_beside_itself_with_a_setting_in_place_of_its_own(target: str, settings: str, named: str) -> None:
    found = trial_command(HEADER, target, "scan@4", settings)
    assert found == f"dbversus compare {named} --tests scan --profile quick --clients 1,4 --judge p95"


def test_there_is_none_without_a_setting_and_where_a_list_is_set_already() -> None:
    assert trial_command(HEADER, "postgres:17", "scan", "") == ""
    assert trial_command(HEADER, "postgres:17@jit=off", "scan", "jit=off") == ""
    assert trial_command(HEADER, "mysql:8.0@optimizer_switch=x=on", "scan", "optimizer_switch=mrr=off") == ""


def test_an_experiment_that_did_not_compare_is_repeated_by_its_suite_and_size() -> None:
    header = Experiment(schema=2, targets=[], tests=[], suite="my.toml", table_size=5, command="dbversus run x.toml")
    assert trial_command(header, "a:1", "scan", "b=1").endswith("--tests scan --suite my.toml --table-size 5")


def test_a_setting_that_no_lead_names_is_the_cause_where_it_brings_the_change_back_with_the_old_plan() -> None:
    tried = replace(
        trial(1.01, Verdict.EQUIVALENT, settings="enable_memoize=off"), values={"enable_memoize": (None, None)}
    )
    first, second = with_trials([PLAN], CPU, [tried])
    assert (first.what, first.is_sure, second) == ("enable_memoize", True, PLAN)
    little = replace(tried, after=finding(5.0, Verdict.REGRESSION))
    assert with_trials([PLAN], CPU, [little]) == (PLAN,)
