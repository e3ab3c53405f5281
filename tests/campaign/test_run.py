"""The turns of a campaign: what is measured, what is gone on with, and what a refusal leaves; experiments take no time here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dbversus.campaign import run
from dbversus.campaign.agenda import Outcome, Planned
from dbversus.campaign.journal import Course, read_campaign
from dbversus.campaign.run import resume_campaign, run_campaign
from dbversus.campaign.screening.agenda import Screening
from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.spec import ExperimentSpec, make_spec, write_spec
from dbversus.experiment.folder import copies_of, write_copies
from dbversus.experiment.rig.rig import Display
from dbversus.host.claims.lock import acquire_host
from dbversus.results.records import Experiment, Finished, TargetFacts
from dbversus.results.schema import CAMPAIGN, EXPERIMENT, JOURNAL, SCHEMA_VERSION
from dbversus.results.stored import Results
from dbversus.results.write import Journal, check_results_dir

from ..silent import Silent
from .screening.worlds import World, play, screening

WORLD = World({"s1": 0.1})


@dataclass
class Lab:
    """In place of experiments: their folders, with journals that say they were measured. `ends`: other reasons, in turn."""

    began: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    ends: list[str | BaseException] = field(default_factory=list)
    specs: list[ExperimentSpec] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    def run(self, spec: ExperimentSpec, directory: Path, command: str, display: Display, **options: Any) -> None:
        check_results_dir(directory, options["but"])
        self.before()
        with options["hold_host"](options["wait"], "x", say=display.say):
            self.began.append(directory.name)
            directory.mkdir(exist_ok=True)
            write_spec(spec, directory / EXPERIMENT)
            copies = copies_of(spec)
            write_copies(copies, directory)
            targets = [TargetFacts(name=f"t{n}", label=text, dbms="sqlite") for n, text in enumerate(spec.targets)]
            with Journal(directory, "here") as journal:
                journal.append(
                    Experiment(
                        schema=SCHEMA_VERSION,
                        dbversus="0.1.0",
                        command=command,
                        targets=targets,
                        tests=["point-query"],
                        spec=spec.model_dump(mode="json"),
                        files=[copy.record() for copy in copies],
                    )
                )
            self._end(spec, directory, display)

    def resume(self, spec: ExperimentSpec, directory: Path, display: Display, **options: Any) -> None:
        with options["hold_host"](options["wait"], "x", say=display.say):
            self.resumed.append(directory.name)
            self._end(spec, directory, display)

    def _end(self, spec: ExperimentSpec, directory: Path, display: Display) -> None:
        with pytest.raises(RunError, match="in use by"):
            acquire_host()
        self.specs.append(spec)
        display.expect(1.0)
        end = self.ends.pop(0) if self.ends else "looks used up"
        if isinstance(end, BaseException):
            raise end
        with Journal(directory, "here") as journal:
            journal.append(Finished(end))


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Lab]:
    monkeypatch.setenv("DBVERSUS_HOST_LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(run, "machine_id", lambda: "here")
    made = Lab()
    monkeypatch.setattr(run, "run_experiment", made.run)
    monkeypatch.setattr(run, "resume_experiment", made.resume)
    monkeypatch.setattr(Screening, "outcome", lambda _, results: _measured(results))
    yield made
    acquire_host().close()  # nobody has it any more


def _measured(results: Results) -> Outcome:
    return WORLD.measure(Planned("", make_spec(results.header.spec), ""))


def start(folder: Path, count: int = 3, **options: Any) -> Course:
    return run_campaign(screening(count), folder / "out", "dbversus x", Silent(), **options)


def go_on(folder: Path, **options: Any) -> Course:
    return resume_campaign(folder / "out", Silent(), **options)


def test_experiments_are_measured_in_folders_of_their_names_under_one_lock(tmp_path: Path, lab: Lab) -> None:
    course = start(tmp_path, 4)
    assert lab.began == ["ends", "screen", "confirm"] and not lab.resumed
    assert course.ended == "confirmed" and course.outcomes == play(screening(4), WORLD)[0]
    assert all((tmp_path / "out" / name / JOURNAL).is_file() for name in lab.began)
    stored = read_campaign(tmp_path / "out")
    assert (stored.outcomes, stored.ended) == (course.outcomes, course.ended)


def test_an_ended_campaign_is_not_measured_again(tmp_path: Path, lab: Lab) -> None:
    start(tmp_path)
    before = (tmp_path / "out" / CAMPAIGN).read_bytes()
    assert go_on(tmp_path).ended == "confirmed"
    assert (tmp_path / "out" / CAMPAIGN).read_bytes() == before and not lab.resumed


@pytest.mark.parametrize("begun", [True, False])
def test_an_interrupted_campaign_goes_on_where_it_was(
    tmp_path: Path, lab: Lab, begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.ends = ["looks used up", KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path)
    assert lab.began == ["ends", "confirm"]
    if not begun:  # killed while the first line of its journal was written
        journal = tmp_path / "out/confirm" / JOURNAL
        journal.write_bytes(journal.read_bytes()[:50])
    course = go_on(tmp_path)
    assert course.ended == "confirmed"
    assert (lab.began[2:], lab.resumed) == ([], ["confirm"]) if begun else (["confirm"], [])


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9, 0.97, 0.999])
def test_a_cut_journal_comes_to_the_same(tmp_path: Path, lab: Lab, share: float) -> None:
    whole = start(tmp_path, 4)
    path = tmp_path / "out" / CAMPAIGN
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    path.write_bytes(content[: first + int(share * (len(content) - first))])
    course = go_on(tmp_path)
    assert (course.outcomes, course.orders, course.ended) == (whole.outcomes, whole.orders, whole.ended)
    assert lab.began == ["ends", "screen", "confirm"]  # nothing was measured twice


@pytest.mark.parametrize("number", range(1, 6))
def test_a_damaged_line_comes_to_the_same(tmp_path: Path, lab: Lab, number: int) -> None:
    whole = start(tmp_path)
    path = tmp_path / "out" / CAMPAIGN
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:number], b'{"cut\n', *lines[number + 1 : -1]]))
    course = go_on(tmp_path)
    assert (course.outcomes, course.ended) == (whole.outcomes, whole.ended)
    assert lab.began == ["ends", "confirm"]


def test_a_time_budget_is_that_of_all_experiments(tmp_path: Path, lab: Lab) -> None:
    course = start(tmp_path, time_budget_s=3600.0)
    assert course.ended == "confirmed"
    first, second = (spec.time_budget_s for spec in lab.specs)
    assert first == 3600.0 and second is not None and 0 < second < 3600


def test_an_experiment_that_would_take_longer_is_not_begun(tmp_path: Path, lab: Lab) -> None:
    course = start(tmp_path, time_budget_s=1.0)
    assert (lab.began, course.ended, list(course.outcomes)) == (["ends"], "time budget", ["ends"])
    assert go_on(tmp_path, time_budget_s=3600.0).ended == "confirmed"
    assert lab.began == ["ends", "confirm"]


def test_an_experiment_whose_time_is_up_is_gone_on_with(tmp_path: Path, lab: Lab) -> None:
    lab.ends = ["time budget"]
    course = start(tmp_path, time_budget_s=3600.0)
    assert (course.ended, course.outcomes) == ("time budget", {})
    assert go_on(tmp_path).ended == "confirmed"
    assert (lab.resumed, lab.specs[1].time_budget_s) == (["ends"], 3600.0)


@pytest.mark.parametrize("error", [UsageError("no such build"), RunError("the host is in use")])
def test_a_refused_campaign_leaves_nothing(tmp_path: Path, lab: Lab, error: Exception) -> None:
    def refuse() -> None:
        raise error

    lab.before = refuse
    with pytest.raises(type(error)):
        start(tmp_path)
    assert not (tmp_path / "out").exists()


def test_what_failed_after_it_was_begun_can_be_gone_on_with(tmp_path: Path, lab: Lab) -> None:
    lab.ends = [RunError("no space left on device")]
    with pytest.raises(RunError):
        start(tmp_path)
    assert go_on(tmp_path).ended == "confirmed" and lab.resumed == ["ends"]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, lab: Lab) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").write_text("x")
    with pytest.raises(UsageError, match="is not empty"):
        start(tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"] and not lab.began


def test_later_experiments_are_of_the_same_files(tmp_path: Path, lab: Lab) -> None:
    config = tmp_path / "sqlite/mine.conf"
    config.parent.mkdir()
    config.write_text("cache_size = 100\n")
    agenda = screening(3)
    agenda = msgspec.structs.replace(
        agenda,
        settings=msgspec.structs.replace(agenda.settings, common=("mine",)),
        choices=agenda.choices | {"config_dir": str(tmp_path)},
    )
    lab.before = lambda: config.write_text("cache_size = 200\n") if lab.began else None  # type: ignore[assignment]
    lab.ends = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        run_campaign(agenda, tmp_path / "out", "x", Silent())
    config.write_text("cache_size = 300\n")
    with pytest.raises(UsageError, match=r"mine.conf changed after .*ends had been begun"):
        go_on(tmp_path)
    config.write_text("cache_size = 100\n")
    lab.before = lambda: None
    assert go_on(tmp_path).ended == "confirmed"


def test_nothing_is_written_through_links(tmp_path: Path, lab: Lab) -> None:
    lab.ends = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        start(tmp_path)
    (tmp_path / "out/ends").rename(tmp_path / "elsewhere")
    (tmp_path / "out/ends").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link"):
        go_on(tmp_path)
    assert not lab.resumed


def test_another_host_does_not_go_on_with_it(tmp_path: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    start(tmp_path)
    monkeypatch.setattr(run, "machine_id", lambda: "elsewhere")
    with pytest.raises(UsageError, match="was measured on another host"):
        go_on(tmp_path)


def test_the_time_left_is_that_of_all_experiments_with_the_name_of_the_one_under_way(tmp_path: Path, lab: Lab) -> None:
    said: list[object] = []

    class Noted(Silent):
        def expect(self, seconds: float) -> None:
            said.append(seconds)

        def doing(self, text: str) -> None:
            said.append(text)

    course = run_campaign(screening(3), tmp_path / "out", "x", Noted())
    ends, confirm = course.orders.values()
    assert said[0] == pytest.approx(1.0 + confirm.expected_s) and said[1] == 1.0
    run._Part(Noted(), "ends", 0).doing("block 1")
    run._Part(Noted(), ".", 0).doing("block 1")
    assert said[2:] == ["ends: block 1", "block 1"] and ends.expected_s > 0
