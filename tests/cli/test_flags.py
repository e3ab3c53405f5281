"""Flags come from the fields of the experiment, are read as its settings, and are what a command that repeats it is made of."""

import inspect
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dbversus.cli import generate
from dbversus.cli.choices import Choices, as_words, with_demands, with_flags
from dbversus.cli.flags import OPTIONS
from dbversus.cli.main import app
from dbversus.cli.values import FORMS
from dbversus.cli.verbs.measure.compare import repeat_command
from dbversus.errors import UsageError
from dbversus.experiment.asked.demands import Demands
from dbversus.experiment.asked.fields import Fields
from dbversus.experiment.asked.flag import Flag, Verb
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.folder import with_absolute_paths
from dbversus.suites.profiles import profile_defaults

PAIR = ["sqlite:bundled", "sqlite:bundled@wal"]
EVERY = {
    "label": "patch 123",
    "suite": "durability",
    "variants": ["bursts", "long-transaction"],
    "tests": "point-*,scan",
    "profile": "quick",
    "mode": "unprepared",
    "table_size": [20_000, 30_000],
    "tables": 2,
    "clients": [1, 4],
    "order": "sequential",
    "alone": True,
    "at_once": 2,
    "memory": 1536 * 2**10,
    "seed": 0,
    "time_budget_s": 2700.0,
    "wait_quiet_s": 0.25,
    "require_quiet": True,
    "placement": "apart",
    "freeze": False,
    "config_dir": "/etc/dbversus",
    "judge": ["cpu", "p99"],
    "judge_load": True,
    "margins": {"server_cpu_us_per_op": 0.05, "p99": 0.2},
    "calibration": False,
    "cache": "cold",
    "restart": "never",
    "restore": "never",
    "fail_on": ["regression", "failed"],
    "require_verdicts": "80%",
}
"""A value for each setting that has a flag, none of them the usual one."""


def choose(verb: Verb, words: list[str]) -> Choices:
    """What a verb with these flags is given."""
    given: list[Choices] = []

    @with_flags(verb)
    def one(*, chosen: Choices) -> None:
        given.append(chosen)

    alone = typer.Typer()
    alone.command()(one)
    done = CliRunner().invoke(alone, words)
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return given[0]


def test_the_table_is_up_to_date() -> None:
    assert generate.TABLE.read_text() == generate.source(), "run `python -m dbversus.cli.generate`"


def test_a_field_with_a_flag_is_an_option() -> None:
    class More(Fields):
        think_time_s: Annotated[
            float, Flag("Pause of a client between operations.", ("compare", "run"), "duration")
        ] = 1

    *known, option = generate.options(More)
    assert tuple(known) == OPTIONS
    assert (option.setting, option.name, option.kind, option.default) == (
        "think_time_s",
        "--think-time",
        "duration",
        "1",
    )
    assert option.verbs == ("compare", "run")


@pytest.mark.parametrize("verb", ["compare", "run", "resume", "report", "calibrate"])
def test_a_verb_has_the_flags_of_the_table(verb: str) -> None:
    (command,) = [one for one in app.registered_commands if one.callback and one.callback.__name__ == verb]
    names = list(inspect.signature(command.callback or pytest.fail()).parameters)
    flags = [option.setting for option in OPTIONS if verb in option.verbs]
    assert [name for name in names if name in flags] == flags and "chosen" not in names


def test_flags_give_what_they_say_and_nothing_else() -> None:
    assert set(EVERY) == {option.setting for option in OPTIONS}
    assert choose("compare", as_words(EVERY)) == EVERY
    assert choose("compare", []) == {}
    assert choose("compare", ["--seed", "0", "--tests", ""]) == {"seed": 0, "tests": ""}
    assert choose("run", ["--table-size", "20k", "--wait-quiet", "1m30s"]) == {
        "table_size": [20_000],
        "wait_quiet_s": 90,
    }


def test_another_verb_names_settings_as_it_calls() -> None:
    """As `demo` calls `compare`."""

    @with_flags("compare")
    def verb(*, chosen: Choices, wait: bool = False) -> int:
        return int(chosen == {"profile": "quick"} and wait)

    assert verb(profile="quick", wait=True) == 1
    with pytest.raises(TypeError, match="profil"):
        verb(profil="quick")


def test_a_relative_path_holds_in_any_working_directory() -> None:
    assert choose("configs", ["--config-dir", "mine"]) == {"config_dir": str(Path("mine").absolute())}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--clients", "1,x"], "--clients is 'x'; write a whole number from 1, such as 5000, 100k or 1m."),
        (["--table-size", ""], "--table-size is ''; write a whole number from 1"),
        (["--margin", "cpu"], "--margin cpu: write METRIC=SHARE, such as cpu=0.05."),
        (["--judge", "speed"], "--judge: unknown metric 'speed'; accepted: cpu, throughput"),
        (["--time-budget", "soon"], "--time-budget is 'soon'; write a duration such as 90s, 45m or 1h30m."),
    ],
)
def test_a_mistake_names_the_flag(words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        choose("compare", words)
    assert str(error.value).startswith(sentence)


@given(st.floats(0.001, 1e7).map(lambda seconds: round(seconds, 3)))
def test_durations_are_read_as_they_are_shown(seconds: float) -> None:
    form = FORMS["duration"]
    assert form.read(form.show(seconds), "--time-budget") == pytest.approx(seconds, rel=1e-11)


def test_demands_are_kept_with_the_experiment_and_repeated_by_its_command() -> None:
    asked = with_demands({"seed": 2, "fail_on": ["regression,failed"], "require_verdicts": "80%"})
    spec = make_spec(profile_defaults(asked) | asked | {"targets": PAIR})
    assert spec.demands == Demands(("regression", "failed"), 0.8)
    words = repeat_command(spec, PAIR, {"targets": PAIR}, [])
    assert words.endswith("--fail-on regression --fail-on failed --require-verdicts 80%")
    with pytest.raises(UsageError, match="--fail-on 'sneeze' is unknown"):
        with_demands({"fail_on": ["sneeze"]})


def test_the_command_that_repeats_an_experiment_works_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs/sqlite").mkdir(parents=True)
    (tmp_path / "configs/sqlite/mine.conf").write_text("cache_size = -1000\n")
    (tmp_path / "mine.toml").write_text('extends = "sysbench"\n')
    given = {"targets": ["./libsqlite3.so@mine", "sqlite:bundled"], "suite": "mine.toml", "profile": "quick"}
    spec = with_absolute_paths(make_spec(profile_defaults(given) | given))
    words = repeat_command(spec, given["targets"], given, []).split()
    assert words[2:4] == [f"{tmp_path}/libsqlite3.so@mine", "sqlite:bundled"]
    assert words[words.index("--suite") + 1] == f"{tmp_path}/mine.toml"
    assert words[words.index("--config-dir") + 1] == f"{tmp_path}/configs"


def test_the_command_that_repeats_an_experiment_makes_the_same_one() -> None:
    chosen: dict[str, Any] = {"profile": "quick", "margins": {"cpu": 0.05, "p99": 0.2}, "seed": 7, "freeze": False}
    chosen |= {"clients": [1, 2], "time_budget_s": 90.0}
    spec = make_spec(profile_defaults(chosen) | chosen | {"targets": PAIR})
    words = repeat_command(spec, PAIR, {"targets": PAIR}, []).split()
    assert words[:4] == ["dbversus", "compare", *PAIR]
    again = choose("compare", words[4:])
    assert make_spec(profile_defaults(again) | again | {"targets": PAIR}) == spec


def test_choices_over_those_of_a_file_are_checked_and_keep_the_rest(tmp_path: Path) -> None:
    bursts = {"1": {"cpu": {"scan": [{"share": 1.0, "ms": 50, "every_ms": 500}]}}}
    spec = make_spec({"targets": PAIR, "inject": bursts, "margins": {"cpu": 0.1}}).taken_from(tmp_path)
    changed = spec.with_choices({"table_size": 5})
    assert changed.folder == tmp_path
    assert changed.model_dump() == spec.model_dump() | {"table_size": 5}
    with pytest.raises(UsageError, match="'seed' is -1"):
        spec.with_choices({"seed": -1})
