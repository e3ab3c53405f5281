"""What verbs say of the folder of a campaign."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dbversus.campaign.agenda import Outcome
from dbversus.campaign.journal import Asked, CampaignJournal, Decided, Ended, Measured, Order
from dbversus.campaign.screening.agenda import Screening
from dbversus.cli.main import app
from dbversus.host.facts import machine_id

from ..campaign.screening.worlds import World, play, screening

ALL = [Order("ends", "whether they differ", 5.0, {}), Order("confirm", "what makes it", 6.0, {})]


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


def write(folder: Path, agenda: Screening, outcomes: dict[str, Outcome], ended: str | None = "confirmed") -> Path:
    asked = Asked(schema=1, dbversus="0.1.0", host=machine_id() or "unknown", command="dbversus x", agenda=agenda)
    with CampaignJournal(folder, asked) as journal:
        journal.append(Decided(experiments=ALL))
        for name, outcome in outcomes.items():
            journal.append(Measured(name=name, outcome=outcome))
        if ended:
            journal.append(Ended(reason=ended))
    return folder


@pytest.mark.parametrize("verb", ["show", "report"])
def test_its_experiments_are_listed(tmp_path: Path, verb: str) -> None:
    agenda = screening(2)
    outcomes, _ = play(agenda, World({"s0": 0.1}))
    done = run(verb, write(tmp_path, agenda, {"ends": outcomes["ends"]}, None))
    assert done.exit_code == 0, done.output
    assert "settings of sqlite:bundled, first against second, not finished; go on with: dbversus resume" in done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1][:2] == ["ends", "finished:"] and lines[2][:3] == ["confirm", "to", "come"]


def test_the_list_is_a_table_for_pipes_too(tmp_path: Path) -> None:
    agenda = screening(2)
    write(tmp_path, agenda, play(agenda, World({"s0": 0.1}))[0])
    listed = json.loads(run("show", tmp_path, "--format", "json").stdout)
    assert [one["experiment"] for one in listed] == ["ends", "confirm"]
    assert listed[0] == {"experiment": "ends", "state": "finished: looks used up", "why": "whether they differ"}


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (["show", "--sql", "SELECT 1"], "--sql"),
        (["show", "--table", "efficiency"], "--table"),
        (["show", "--base", "t1"], "--base"),
        (["report", "--format", "md"], "--format"),
        (["report", "--fail-on", "regression"], "--fail-on"),
        (["resume", "--fail-on", "regression"], "--fail-on"),
    ],
)
def test_flags_of_one_experiment_are_refused(tmp_path: Path, words: list[str], flag: str) -> None:
    done = run(words[0], write(tmp_path, screening(2), {}), *words[1:])
    assert done.exit_code == 2 and f"is a campaign, and {flag} is about one experiment" in done.stderr


def test_what_reads_one_experiment_says_that_it_is_a_campaign(tmp_path: Path) -> None:
    done = run("side-by-side", write(tmp_path, screening(2), {}), tmp_path)
    assert done.exit_code == 2 and "is a campaign; expected the results of one experiment" in done.stderr


def test_going_on_with_an_ended_one_shows_what_it_has_found(tmp_path: Path) -> None:
    agenda = screening(3)
    outcomes, _ = play(agenda, World({}, {("s0", "s2"): 0.2}))
    done = run("resume", write(tmp_path, agenda, outcomes))
    assert done.exit_code == 0, done.output
    assert "; s0 and s2 make it: 1.2" in done.stdout and "with them alone, " in done.stdout
    found = json.loads(run("resume", tmp_path, "--json").stdout)
    assert [change["is_sure"] for change in found["changes"]] == [True]
    assert {part["settings"] for part in found["changes"][0]["parts"]} >= {"all that differ", "s0", "s0, s2"}


def test_a_report_has_its_experiments_and_what_it_has_found(tmp_path: Path) -> None:
    agenda = screening(3)
    outcomes, _ = play(agenda, World({"s1": 0.2}))
    write(tmp_path, agenda, outcomes)
    said = run("report", tmp_path).stdout
    assert said.startswith("experiment") and "; s1 makes it: 1.2" in said
    assert json.loads(run("report", tmp_path, "--json").stdout)["changes"][0]["is_sure"] is True


def test_configs_that_do_not_differ_name_no_cause(tmp_path: Path) -> None:
    agenda = screening(3)
    outcomes, why = play(agenda, World({}))
    done = run("resume", write(tmp_path, agenda, outcomes, why))
    assert "No test was found to differ, so there is nothing to explain." in done.stdout


def test_a_change_without_a_setting_that_stands_out_is_said_to_be_one(tmp_path: Path) -> None:
    agenda = screening(4)
    outcomes, _ = play(agenda, World({"s1": 0.1}))
    done = run("resume", write(tmp_path, agenda, {"ends": outcomes["ends"]}, "no single setting stands out"))
    assert "no setting is known to make it" in done.stdout
