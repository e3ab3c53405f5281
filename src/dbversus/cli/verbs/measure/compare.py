"""dbversus compare: from target names to a verdict and a report."""

import re
import shlex
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbversus.cli import options
from dbversus.cli.choices import Choices, as_words, with_demands, with_flags
from dbversus.cli.ending import resumable
from dbversus.cli.outcome import heeding, present
from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.experiment.asked.spec import ExperimentSpec


@with_flags("compare")
def compare(
    targets: options.Targets,
    *,
    chosen: Choices,
    matrix: options.Matrix = None,
    exclude: options.Exclude = None,
    out: options.Out = None,
    json: options.Json = False,
    dry_run: options.DryRun = False,
    trust: options.Trust = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Compare two or more targets; the first is the base. One is enough with `--alone`, or tests `against` each other.

    A target is `dbms:version`, `dbms:/path` or `/path`, then `@` and configs: names of files in configs/, or settings. `NAME=`
    before it is what reports call it.

    - `dbversus compare postgres:13.1 postgres:17`
    - `dbversus compare postgres:17 postgres:17@synchronous_commit=off,wal_compression=pglz`
    - `dbversus compare before=/opt/pg-before after=/opt/pg-after --label patch-123 --tests 'point-*,update-*' --time-budget 20m`
    - `dbversus compare sqlite:bundled@wal sqlite:host@wal --profile quick --fail-on regression,failed --require-verdicts 80%`
    - `dbversus compare mysql:8.0 mysql:8.4 --judge cpu,throughput,io,p99 --margin p99=0.2`
    - `dbversus compare mariadb:10.11 postgres:17 --matrix durability --table-size 1m --dry-run`
    """
    from dbversus.cli.consent import with_consent
    from dbversus.cli.plan import print_plan
    from dbversus.experiment.asked.bundled import find_experiment
    from dbversus.experiment.asked.spec import check_alone, make_spec
    from dbversus.experiment.folder import with_absolute_paths
    from dbversus.suites.profiles import profile_defaults

    asked = with_demands(chosen)
    given = _given(targets, matrix, exclude or (), asked.get("config_dir"))
    asked = given | asked
    path = find_experiment(matrix) if matrix else None
    read = partial(make_spec, profile_defaults(asked) | asked)
    spec, may_execute = with_consent(read, path, trust=trust, dry_run=dry_run)
    check_alone(spec)
    if dry_run:
        print_plan(spec, as_json=json, may_execute=may_execute)
        return 0
    directory = out or default_directory(spec, Path(matrix).stem if matrix else "")
    command = repeat_command(with_absolute_paths(spec), targets, given, _matrix_flags(matrix, exclude or ()))
    return _measure(spec, directory, command, as_json=json, wait=wait, quiet=quiet)


def _measure(spec: "ExperimentSpec", directory: Path, command: str, *, as_json: bool, wait: bool, quiet: bool) -> int:
    from dbversus.cli.display import make_display
    from dbversus.experiment.run import run_experiment
    from dbversus.results.write import check_results_dir

    check_results_dir(directory)
    with heeding(directory, spec.demands), resumable(directory), make_display(quiet) as display:
        run_experiment(spec, directory, command, display, wait=wait)
    return present(directory, spec.demands, as_json=as_json)


def _matrix_flags(matrix: str | None, exclude: Sequence[str]) -> list[str]:
    from dbversus.experiment.asked.bundled import absolute_name

    return ["--matrix", absolute_name(matrix), *(f"--exclude={pattern}" for pattern in exclude)] if matrix else []


def _given(targets: list[str], matrix: str | None, exclude: Sequence[str], config_dir: str | None) -> Choices:
    """The targets, or with a matrix all that its file says, the targets crossed with its configs."""
    if matrix:
        from dbversus.experiment.asked.bundled import find_experiment
        from dbversus.experiment.asked.spec import read_choices
        from dbversus.private import whole

        return read_choices(find_experiment(matrix), targets, exclude, Path(whole(config_dir)) if config_dir else None)
    if exclude:
        raise UsageError("--exclude is for --matrix; without it, name only the targets to compare.")
    return {"targets": targets}


def default_directory(spec: "ExperimentSpec", name: str = "") -> Path:
    """results/<time>-<label, name or targets>, shortened to what a file name can carry."""
    from dbversus.builds.target import split_name

    called = [given or target.rpartition("/")[2] for given, target in map(split_name, spec.targets)]
    words = [spec.label] if spec.label else [name] if name else called
    names = "-vs-".join(re.sub(r"[^\w.]+", "-", word) for word in words)[:80]
    return Path("results") / f"{time.strftime('%Y%m%d-%H%M%S')}-{names}"


def repeat_command(
    spec: "ExperimentSpec", targets: Sequence[str], given: Mapping[str, Any], more: Sequence[str]
) -> str:
    """The command that repeats `spec`, from any folder when its paths are absolute.

    `targets` as named, `more` flags, and those that its profile and `given` do not say.
    """
    from dbversus.builds.target import absolute_target
    from dbversus.experiment.asked.spec import make_spec
    from dbversus.suites.profiles import profile_defaults

    known = {"targets": spec.targets, "profile": spec.profile}
    defaults = make_spec(profile_defaults(known | {"suite": spec.suite}) | dict(given) | known)
    differing = {name: value for name, value in spec if value != getattr(defaults, name)}
    differing.pop("table_size", None)
    if spec.table_sizes != defaults.table_sizes:
        differing["table_size"] = list(spec.table_sizes)
    named = map(absolute_target, targets)
    return shlex.join(["dbversus", "compare", *named, *more, "--profile", spec.profile, *as_words(differing)])
