"""dbversus compare: from target names to a verdict and a report."""

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbversus.cli import options
from dbversus.cli.ending import resumable
from dbversus.cli.outcome import heeding, present
from dbversus.errors import UsageError
from dbversus.experiment.asked.demands import Demands, parse_demands
from dbversus.units import parse_count, parse_duration

if TYPE_CHECKING:
    from dbversus.experiment.asked.spec import ExperimentSpec


def compare(
    targets: options.Targets,
    suite: options.Suite = None,
    tests: options.Tests = None,
    profile: options.Profile = None,
    matrix: options.Matrix = None,
    exclude: options.Exclude = None,
    alone: options.Alone = False,
    at_once: options.AtOnce = None,
    order: options.Order = None,
    clients: options.Clients = None,
    table_size: options.TableSize = None,
    tables: options.Tables = None,
    time_budget: options.TimeBudget = None,
    wait_quiet: options.WaitQuiet = None,
    require_quiet: options.RequireQuiet = False,
    seed: options.Seed = None,
    mode: options.Mode = None,
    placement: options.Placement = None,
    judge: options.Judge = None,
    margin: options.Margin = None,
    cache: options.Cache = None,
    restart: options.Restart = None,
    restore: options.Restore = None,
    no_freeze: options.NoFreeze = False,
    no_calibration: options.NoCalibration = False,
    config_dir: options.ConfigDir = None,
    out: options.Out = None,
    fail_on: options.FailOn = None,
    require_verdicts: options.RequireVerdicts = None,
    json: options.Json = False,
    dry_run: options.DryRun = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Compare two or more targets; the first is the base. With `--alone`, measure a single one.

    A target is `dbms:version`, `dbms:/path` or `/path`, then `@` and configs: names of files in configs/, or settings.

    - `dbversus compare postgres:13.1 postgres:17`
    - `dbversus compare postgres:17 postgres:17@synchronous_commit=off,wal_compression=pglz`
    - `dbversus compare /opt/pg-before /opt/pg-after --tests 'point-*,update-*' --time-budget 20m`
    - `dbversus compare sqlite:bundled@wal sqlite:host@wal --profile quick --fail-on regression,failed --require-verdicts 80%`
    - `dbversus compare mysql:8.0 mysql:8.4 --judge cpu,throughput,io,p99 --margin p99=0.2`
    - `dbversus compare mariadb:10.11 postgres:17 --matrix durability --table-size 1m --dry-run`
    """
    from dbversus.cli.plan import print_plan
    from dbversus.experiment.asked.spec import check_alone, make_spec
    from dbversus.suites.profiles import profile_defaults

    demands = parse_demands(fail_on, require_verdicts)
    asked: dict[str, Any] = {"suite": suite, "tests": tests, "profile": profile}
    asked |= {"tables": tables, "seed": seed, "mode": mode, "at_once": at_once, "order": order, "placement": placement}
    asked |= {"cache": cache, "restart": restart, "restore": restore}
    asked |= _from_text(clients, table_size, margin, judge) | durations(time_budget, wait_quiet)
    asked |= _switched(True, alone=alone, require_quiet=require_quiet)
    asked |= _switched(False, freeze=no_freeze, calibration=no_calibration)
    asked["config_dir"] = str(config_dir.absolute()) if config_dir else None
    given = _given(targets, matrix, exclude or (), config_dir)
    chosen = given | named(asked)
    spec = make_spec(profile_defaults(chosen) | chosen)
    check_alone(spec)
    if dry_run:
        print_plan(spec)
        return 0
    directory = out or default_directory(spec, Path(matrix).stem if matrix else "")
    command = repeat_command(spec, targets, given, _matrix_flags(matrix, exclude or ()))
    return _measure(spec, directory, command, demands.over(spec.demands), as_json=json, wait=wait, quiet=quiet)


def _measure(
    spec: "ExperimentSpec", directory: Path, command: str, demands: Demands, *, as_json: bool, wait: bool, quiet: bool
) -> int:
    from dbversus.cli.display import make_display
    from dbversus.experiment.run import run_experiment

    with heeding(directory, demands), resumable(directory), make_display(quiet) as display:
        run_experiment(spec, directory, command, display, wait=wait)
    return present(directory, demands, as_json=as_json)


def durations(time_budget: str | None, wait_quiet: str | None) -> dict[str, float | None]:
    """In seconds, as settings of the experiment."""
    return {
        "time_budget_s": None if time_budget is None else parse_duration(time_budget, "--time-budget"),
        "wait_quiet_s": None if wait_quiet is None else parse_duration(wait_quiet, "--wait-quiet"),
    }


def _from_text(
    clients: str | None, table_size: str | None, margin: list[str] | None, judge: str | None
) -> dict[str, Any]:
    """Choices that are read from text."""
    return {
        "clients": _clients(clients) if clients else None,
        "table_size": parse_count(table_size, "--table-size") if table_size else None,
        "margins": _margins(margin) if margin else None,
        "judge": options.judged(judge),
    }


def _switched(to: bool, **flags: bool) -> dict[str, bool | None]:
    """Settings that flags without a value switch on, or off."""
    return {name: to if given else None for name, given in flags.items()}


def named(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Flags that were given."""
    return {name: value for name, value in flags.items() if value is not None}


def _matrix_flags(matrix: str | None, exclude: Sequence[str]) -> list[str]:
    return ["--matrix", matrix, *(f"--exclude={pattern}" for pattern in exclude)] if matrix else []


def _given(targets: list[str], matrix: str | None, exclude: Sequence[str], config_dir: Path | None) -> dict[str, Any]:
    """The targets, or with a matrix all that its file says, the targets crossed with its configs."""
    if matrix:
        from dbversus.experiment.asked.bundled import find_experiment
        from dbversus.experiment.asked.spec import read_choices

        return read_choices(find_experiment(matrix), targets, exclude, config_dir)
    if exclude:
        raise UsageError("--exclude is for --matrix; without it, name only the targets to compare.")
    return {"targets": targets}


def _clients(text: str) -> list[int]:
    return [parse_count(part, "--clients") for part in text.split(",")]


def _margins(items: list[str]) -> dict[str, float]:
    margins = {}
    for item in items:
        metric, _, share = item.partition("=")
        try:
            margins[metric] = float(share)
        except ValueError:
            raise UsageError(f"--margin {item}: write METRIC=SHARE, such as cpu=0.05.") from None
    return margins


def default_directory(spec: "ExperimentSpec", name: str = "") -> Path:
    """results/<time>-<name or targets>, shortened to what a file name can carry."""
    names = name or "-vs-".join(re.sub(r"[^\w.]+", "-", target.rpartition("/")[2]) for target in spec.targets)[:80]
    return Path("results") / f"{time.strftime('%Y%m%d-%H%M%S')}-{names}"


def repeat_command(
    spec: "ExperimentSpec", targets: Sequence[str], given: Mapping[str, Any], more: Sequence[str]
) -> str:
    """The command that repeats `spec`: `targets` as named, `more` flags, and those that its profile and `given` do not say."""
    from dbversus.experiment.asked.spec import make_spec
    from dbversus.suites.profiles import profile_defaults

    known = {"targets": spec.targets, "profile": spec.profile}
    defaults = make_spec(profile_defaults(known | {"suite": spec.suite}) | dict(given) | known)
    words = ["dbversus", "compare", *targets, *more, "--profile", spec.profile]
    for name, flag in _FLAGS.items():
        value = getattr(spec, name)
        if value != getattr(defaults, name):
            words += [flag, _flag_value(name, value)]
    words += [
        f"--margin={metric}={share}" for metric, share in spec.margins.items() if defaults.margins.get(metric) != share
    ]
    words += ["--alone"] if spec.alone else []
    words += ["--require-quiet"] if spec.require_quiet else []
    words += [] if spec.freeze else ["--no-freeze"]
    words += [] if spec.calibration else ["--no-calibration"]
    return shlex.join(words)


def _flag_value(name: str, value: Any) -> str:
    if name in ("time_budget_s", "wait_quiet_s"):
        return f"{value:g}s"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


_FLAGS = {
    "at_once": "--at-once",
    "order": "--order",
    "suite": "--suite",
    "tests": "--tests",
    "clients": "--clients",
    "table_size": "--table-size",
    "tables": "--tables",
    "time_budget_s": "--time-budget",
    "wait_quiet_s": "--wait-quiet",
    "seed": "--seed",
    "mode": "--mode",
    "placement": "--placement",
    "cache": "--cache",
    "restart": "--restart",
    "restore": "--restore",
    "judge": "--judge",
    "config_dir": "--config-dir",
}
