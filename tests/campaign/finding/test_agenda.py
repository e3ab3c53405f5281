"""What is measured to find causes: steps in turn, on the experiment's own suite and configs, in the tests that changed."""

from pathlib import Path

import pytest

from dbversus.campaign.agenda import End, Found, Outcome, Step
from dbversus.campaign.finding.agenda import MEASURED_ALL, Finding
from dbversus.campaign.finding.asked import Change, Experiment, changes_of, put_back
from dbversus.campaign.finding.steps import PLANS, PROFILE, PROFILED_BLOCKS, SETTINGS, STEPS, TRIAL, WAITS
from dbversus.campaign.journal import Asked, CampaignJournal, read_campaign
from dbversus.campaign.run import decided, spec_of
from dbversus.errors import UsageError
from dbversus.experiment.asked.spec import make_spec, write_spec
from dbversus.experiment.folder import copies_of, read_folder, write_copies
from dbversus.results.read import open_results
from dbversus.results.schema import EXPERIMENT
from dbversus.stats.metrics import CPU, THROUGHPUT
from dbversus.stats.model import Verdict

from ...report.synthetic import TRUTHS, write_results
from ..screening.worlds import METRIC, TEST, World

TARGETS = ["sqlite:bundled@default", "sqlite:bundled@wal", "sqlite:bundled@wal,cache_64mb"]
CHANGES = (Change("point-query", 2, cpu=True), Change("scan", 1, cpu=False), Change("update-one@4", 2, cpu=True))


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """A results folder before its first row."""
    spec = make_spec({"targets": TARGETS, "table_size": 1000, "fail_on": ["regression"], "seconds": 1.0})
    write_spec(spec, tmp_path / EXPERIMENT)
    write_copies(copies_of(spec), tmp_path)
    return tmp_path


def test_tests_whose_cpu_changed_are_profiled_on_the_targets_where_it_did(experiment: Path) -> None:
    agenda = Finding((PROFILE,), CHANGES).within(experiment / "measured/1")
    step = agenda.next({})
    assert isinstance(step, Step)
    (planned,) = step.experiments
    spec = planned.spec
    assert (planned.name, spec.targets, spec.tests) == (PROFILE, [TARGETS[0], TARGETS[2]], "point-query,update-one")
    assert spec.functions and spec.looks == [PROFILED_BLOCKS] and spec.fail_on == [] and spec.table_size == 1000
    assert spec.folder == experiment
    assert agenda.next({PROFILE: Outcome("looks used up")}) == End(MEASURED_ALL)


def test_settings_that_leads_point_to_are_tried_beside_the_base_and_the_target(experiment: Path) -> None:
    tried = "sqlite:bundled@wal,cache_size=-500"
    changes = (Change("point-query", 2, cpu=True), Change("scan", 1, trials=(tried,)))
    assert STEPS[TRIAL].applies(changes) and not STEPS[TRIAL].applies(changes[:1])
    agenda = Finding((TRIAL, PROFILE), changes).within(experiment / "measured/1")
    step = agenda.next({})
    assert isinstance(step, Step)
    (planned,) = step.experiments
    assert (planned.name, planned.spec.tests) == ("trial-1", "scan")
    assert planned.spec.targets == [TARGETS[0], TARGETS[1], tried] and planned.spec.fail_on == []
    assert step.then == "profile, as far as the cause is not found before" and step.then_s > 60
    after = agenda.next({"trial-1": Outcome("decided")})
    assert isinstance(after, Step) and after.experiments[0].name == PROFILE


def test_what_a_trial_has_found_is_not_profiled_unless_asked_for(experiment: Path) -> None:
    change = Change("scan", 1, cpu=True, trials=("a", "b"))
    world = Experiment(read_folder(experiment), [change])

    def tried(after: float, test: str = "scan") -> dict[str, Outcome]:
        ratios = {1: 6.0, 2: 5.9, 3: after}
        found = tuple(
            Found(test, place, CPU, Verdict.REGRESSION, 4, ratio, ratio * 0.98, ratio * 1.02)
            for place, ratio in ratios.items()
        )
        return {"trial-1": Outcome("decided", (*TARGETS[:2], *(f"{TARGETS[1]},threads={n}" for n in (2, 3))), found)}

    assert not STEPS[PROFILE].next(world, tried(1.01))
    assert STEPS[PROFILE].next(world, tried(2.4)) and STEPS[PROFILE].next(world, tried(1.01, test="point-query"))
    asked = Experiment(world.spec, [Change("scan", 1, cpu=True, asked=True)])
    assert STEPS[PROFILE].next(asked, tried(1.01))


@pytest.mark.parametrize(
    ("setting", "is_profiled"),
    [
        ("env.LD_PRELOAD=/lib/{}.so", True),
        ("env.MALLOC_ARENA_MAX={}", True),
        ("plugin_load_add={}", True),
        ("shared_preload_libraries={}", True),
        ("cache_size={}", False),
        ("ddl.env={}", False),
    ],
)
def test_where_the_setting_that_a_trial_has_found_loads_other_code_that_is_profiled_all_the_same(
    experiment: Path, setting: str, is_profiled: bool
) -> None:
    build, old, new = "sqlite:bundled@wal", setting.format(1), setting.format(2)
    targets = [f"{build},{old}", f"{build},threads=2,{new}", f"{build},threads=2,{old}"]
    spec = read_folder(experiment).model_copy(update={"targets": targets[:2]})
    ratios = {1: 1.7, 2: 1.01}
    found = tuple(
        Found("scan", place, CPU, Verdict.REGRESSION, 4, ratio, ratio * 0.98, ratio * 1.02)
        for place, ratio in ratios.items()
    )
    outcome = {"trial-1": Outcome("decided", tuple(targets), found)}
    planned = STEPS[PROFILE].next(Experiment(spec, [Change("scan", 1, cpu=True)]), outcome)
    assert bool(planned) == is_profiled


def test_a_target_with_the_old_plan_is_tried_first_and_other_settings_where_that_is_not_the_cause(
    experiment: Path,
) -> None:
    old_plan, lead = f"{TARGETS[1]},automatic_index=off", f"{TARGETS[1]},cache_size=-500"
    change = Change("scan", 1, cpu=True, trials=(lead,), replanned=old_plan)
    assert STEPS[PLANS].applies([change]) and not STEPS[PLANS].applies(CHANGES)
    world = Experiment(read_folder(experiment), [change])
    (planned,) = STEPS[PLANS].next(world, {})
    assert (planned.name, planned.spec.targets) == ("trial-plans-1", [TARGETS[0], TARGETS[1], old_plan])

    def tried(after: float) -> dict[str, Outcome]:
        ratios = {1: 6.0, 2: after}
        found = tuple(
            Found("scan", place, CPU, Verdict.REGRESSION, 4, ratio, ratio * 0.98, ratio * 1.02)
            for place, ratio in ratios.items()
        )
        return {planned.name: Outcome("decided", (*TARGETS[:2], old_plan), found)}

    assert not STEPS[TRIAL].next(world, tried(1.01)) and STEPS[TRIAL].next(world, tried(5.5))


def test_tests_that_try_the_same_share_an_experiment_and_servers_take_turns(experiment: Path) -> None:
    tried = tuple(f"{TARGETS[1]},threads={n}" for n in range(5))
    changes = [Change("point-query", 1, trials=tried), Change("scan", 1, trials=tried), Change("scan", 2, trials=tried)]
    first, second = STEPS[TRIAL].next(Experiment(read_folder(experiment), changes), {})
    assert (first.spec.tests, first.spec.targets) == ("point-query,scan", [*TARGETS[:2], *tried])
    assert (first.spec.at_once, first.spec.seconds) == (5, 2.5)
    assert (second.spec.tests, second.spec.targets[1]) == ("scan", TARGETS[2])


def test_each_setting_is_put_back_where_several_tell_two_configs_of_a_build_apart(tmp_path: Path) -> None:
    folder = tmp_path / "sqlite"
    folder.mkdir()
    (folder / "new.conf").write_text("cache_size = 20\n[ddl]\nindex.k = none\n")
    choices = {"table_size": 1000, "config_dir": str(tmp_path)}
    base, mine = "sqlite:bundled@cache_size=10,threads=2", "after=sqlite:bundled@new,threads=2"
    spec = make_spec({"targets": [base, mine, f"{base},temp_store=2", base], **choices})
    assert put_back(spec, 1) == (
        "sqlite:bundled@threads=2,cache_size=10,ddl.index.k=none",
        "sqlite:bundled@threads=2,cache_size=20",
    )
    assert put_back(spec, 2) == () and put_back(spec, 3) == ()


def many(tmp_path: Path, count: int = 8) -> tuple[Experiment, tuple[str, str]]:
    """Two configs of a build that differ in so many settings, in a test that changed by half."""
    base, mine = (f"sqlite:bundled@{','.join(f's{n}={on}' for n in range(count))}" for on in (0, 1))
    spec = make_spec({"targets": [base, mine, TARGETS[0]], "table_size": 1000, "seconds": 1.0, "profile": "quick"})
    write_spec(spec, tmp_path / EXPERIMENT)
    write_copies(copies_of(spec), tmp_path)
    whole = (Found(TEST, 1, METRIC, Verdict.REGRESSION, 4, 1.5, 1.45, 1.55),)
    change = Change(TEST, 1, METRIC, cpu=True, trials=(f"{mine},s9=0",), whole=whole)
    return Experiment(read_folder(tmp_path), [change]), (base, mine)


def test_many_settings_of_a_build_are_screened_and_those_that_stand_out_are_put_back(tmp_path: Path) -> None:
    world, (base, mine) = many(tmp_path)
    assert STEPS[SETTINGS].applies(world.changes) and not STEPS[SETTINGS].applies(CHANGES)
    (screen,) = STEPS[SETTINGS].next(world, {})
    assert (screen.name, screen.spec.tests, screen.spec.looks) == ("screen", TEST, [2])
    assert screen.spec.folder == tmp_path and screen.spec.targets[0] == base and len(screen.spec.targets) == 32
    truth = World({"s2": 0.25, "s5": 0.2})
    outcomes = {screen.name: truth.measure(screen)}
    (confirm,) = STEPS[SETTINGS].next(world, outcomes)
    back = ["s2", "s5", "s2 s5", "s0 s1 s3 s4 s6 s7"]
    names = [f"s{n}" for n in range(8)]
    values = [",".join(f"{name}={int(name not in own)}" for name in names) for own in back]
    assert confirm.name == "confirm" and confirm.spec.targets[:2] == [base, mine]
    assert confirm.spec.targets[2:] == [f"sqlite:bundled@{own}" for own in values]
    assert STEPS[PROFILE].next(world, outcomes)
    outcomes[confirm.name] = truth.measure(confirm)
    assert not STEPS[PROFILE].next(world, outcomes)  # the two together are the cause


def test_nothing_is_put_back_where_no_setting_stands_out(tmp_path: Path) -> None:
    world, _ = many(tmp_path)
    (screen,) = STEPS[SETTINGS].next(world, {})
    assert not STEPS[SETTINGS].next(world, {screen.name: World({}).measure(screen)})


def test_what_a_trial_has_found_is_not_screened(tmp_path: Path) -> None:
    world, (base, mine) = many(tmp_path)

    def tried(after: float) -> dict[str, Outcome]:
        ratios = {1: 1.5, 2: after}
        found = tuple(
            Found(TEST, place, METRIC, Verdict.REGRESSION, 4, ratio, ratio * 0.99, ratio * 1.01)
            for place, ratio in ratios.items()
        )
        return {"trial-1": Outcome("decided", (base, mine, "a"), found)}

    assert not STEPS[SETTINGS].next(world, tried(1.01)) and STEPS[SETTINGS].next(world, tried(1.4))


def test_tests_whose_change_several_settings_of_a_trial_make_are_not_profiled(tmp_path: Path) -> None:
    world, (base, mine) = many(tmp_path, count=3)
    back = put_back(world.spec, 1)
    lefts = {(1.0, 1.18, 1.5): True, (1.15, 1.15, 1.5): True, (1.2, 1.25, 1.5): True, (1.3, 1.35, 1.5): False}
    for left, is_found in lefts.items():
        found = tuple(
            Found(TEST, place, CPU, Verdict.REGRESSION, 4, ratio, ratio * 0.99, ratio * 1.01)
            for place, ratio in enumerate((1.5, *left), start=1)
        )
        outcomes = {"trial-1": Outcome("decided", (base, mine, *back), found[::-1])}
        assert bool(STEPS[PROFILE].next(world, outcomes)) is not is_found


def test_a_test_that_was_asked_for_is_profiled_whether_it_changed_or_not() -> None:
    assert not STEPS[PROFILE].applies([Change("scan", 1)])
    assert STEPS[PROFILE].applies([Change("scan", 1, asked=True)])


def test_where_throughput_changed_without_cpu_time_it_is_recorded_what_operations_wait_for(experiment: Path) -> None:
    changes = (Change("scan", 1, metric=THROUGHPUT, waits=True), Change("point-query", 2, cpu=True))
    assert STEPS[WAITS].applies(changes) and not STEPS[WAITS].applies(changes[1:])
    step = Finding((WAITS, PROFILE), changes).within(experiment / "measured/1").next({})
    assert isinstance(step, Step)
    (planned,) = step.experiments
    assert (planned.name, planned.spec.tests, planned.spec.waits, planned.spec.functions) == (
        WAITS,
        "scan",
        True,
        False,
    )
    world = read_folder(experiment)
    of_wait = Change("scan", 1, metric=THROUGHPUT, waits=True, trials=("a", "b"))
    ratios = {1: 0.1, 2: 1.0}
    found = tuple(
        Found("scan", place, THROUGHPUT, Verdict.REGRESSION, 4, ratio, ratio * 0.98, ratio * 1.02)
        for place, ratio in ratios.items()
    )
    trial = {"trial-1": Outcome("decided", (TARGETS[0], TARGETS[1], "a"), found)}
    assert STEPS[WAITS].next(Experiment(world, [of_wait]), trial) == ()  # it was found by a trial
    assert STEPS[WAITS].next(Experiment(world, [of_wait]), {})


def test_the_folder_can_be_moved_with_what_was_decided(
    experiment: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = experiment / "measured/1"
    agenda = Finding((PROFILE,), CHANGES)
    folder.mkdir(parents=True)
    asked = Asked(schema=1, dbversus="0", host="here", command="dbversus x", agenda=agenda)
    with CampaignJournal(folder, asked) as journal:
        journal.append(decided(agenda.within(folder).next({}), folder))
    moved = tmp_path_factory.mktemp("moved") / "results"
    experiment.rename(moved)
    course = read_campaign(moved / "measured/1")
    assert course.asked.agenda == agenda
    (order,) = course.open
    assert order.folder == "../.." and spec_of(course, order).folder == moved


def test_changes_are_those_of_the_verdicts_or_what_was_asked_for(tmp_path: Path) -> None:
    truths = tuple(truth for truth in TRUTHS if truth.name in ("range-notcovered-si", "hot-points"))
    results = open_results(write_results(tmp_path / "results", targets=2, truths=truths))
    (changed,) = changes_of(results, None)
    assert (changed.test, changed.target, changed.asked) == ("range-notcovered-si", 1, False)
    assert {one.test: one.asked for one in changes_of(results, "hot-*")} == {"hot-points": True}
    with pytest.raises(UsageError, match=r"--tests nothing matches none of the tests"):
        changes_of(results, "nothing")


def test_where_nothing_changed_there_is_nothing_to_measure(tmp_path: Path) -> None:
    truths = tuple(truth for truth in TRUTHS if truth.name == "hot-points")
    results = open_results(write_results(tmp_path / "results", targets=2, truths=truths))
    with pytest.raises(UsageError, match=r"^No test of .* changed"):
        changes_of(results, None)
