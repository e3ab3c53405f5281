"""dbversus run: an experiment described in a file."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli import options
from dbversus.cli.choices import Choices, as_words, with_demands, with_flags
from dbversus.cli.ending import resumable
from dbversus.cli.outcome import heeding, present
from dbversus.cli.verbs.measure.compare import default_directory
from dbversus.errors import UsageError
from dbversus.results.schema import EXPERIMENT

if TYPE_CHECKING:
    from dbversus.experiment.asked.matrix import UnknownBuilds
    from dbversus.experiment.asked.spec import ExperimentSpec


@with_flags("run")
def run(
    experiment: Annotated[
        str,
        typer.Argument(
            help="experiment.toml (docs/experiments.md), or durability, allocators, myrocks-compression, versions, posts/… "
            "(docs/posts.md)."
        ),
    ],
    *,
    chosen: Choices,
    builds: options.Builds = None,
    exclude: options.Exclude = None,
    scaled: options.Scaled = False,
    out: options.Out = None,
    json: options.Json = False,
    dry_run: options.DryRun = False,
    trust: options.Trust = False,
    wait: options.Wait = False,
    quiet: options.Quiet = False,
) -> int:
    """Run the experiment that a file describes, or one that comes with dbversus.

    Every results directory holds such a file, with its suite and configs beside it, so `dbversus run
    results/…/experiment.toml` repeats an experiment.

    - `dbversus run nightly.toml --dry-run`
    - `dbversus run nightly.toml --out results/nightly-7 --fail-on regression,failed`
    - `dbversus run results/20260701-nightly/experiment.toml --table-size 10m`
    - `dbversus run nightly.toml --judge cpu,throughput,io,p99`
    - `dbversus run durability --builds mariadb:10.11,postgres:17`
    - `dbversus run versions --builds 'mysql:*' --dry-run`
    - `dbversus run posts/2021-01-10-pg-mem --scaled`
    """
    from dbversus.cli.display import make_display
    from dbversus.cli.plan import print_plan
    from dbversus.experiment.asked.bundled import find_experiment
    from dbversus.experiment.asked.spec import check_alone
    from dbversus.experiment.folder import origins
    from dbversus.experiment.run import run_experiment
    from dbversus.posts.reading import load_post
    from dbversus.results.write import check_results_dir

    asked = with_demands(chosen)
    path = find_experiment(experiment)

    spec, may_execute = _read_with_consent(
        lambda: _read(path, builds or (), exclude or (), scaled=scaled).with_choices(asked),
        path, trust=trust, dry_run=dry_run,
    )  # fmt: skip
    for post in spec.posts:
        load_post(post)  # one without claims is a mistake, best known before a day of measuring
    check_alone(spec)
    if spec.folder:
        print(origins(spec), file=sys.stderr)
    if dry_run:
        print_plan(spec, as_json=json, may_execute=may_execute)
        return 0
    directory = out or default_directory(spec, path.stem if builds else "")
    check_results_dir(directory)
    flags = [*(f"--exclude={pattern}" for pattern in exclude or ()), *(["--scaled"] if scaled else [])]
    command = _repeat_command(experiment, builds or (), flags, asked)
    with heeding(directory, spec.demands), resumable(directory), make_display(quiet) as display:
        run_experiment(spec, directory, command, display, wait=wait)
    return present(directory, spec.demands, as_json=json)


def _read_with_consent(
    read: "Callable[[], ExperimentSpec]", path: Path, *, trust: bool, dry_run: bool
) -> "tuple[ExperimentSpec, bool]":
    """As `with_consent`, and UsageError for builds that cannot be had, which are asked only once they may be executed."""
    from dbversus.cli.consent import with_consent
    from dbversus.experiment.asked.matrix import UnknownBuilds, check_builds

    try:
        spec, may_execute = with_consent(read, path, trust=trust, dry_run=dry_run)
        if may_execute:
            check_builds(spec.targets)
    except UnknownBuilds as error:
        raise UsageError(_with_claims(path, error)) from None
    return spec, may_execute


def _with_claims(path: Path, error: "UnknownBuilds") -> str:
    """Of a post's experiment: which of its claims fall out for want of the builds."""
    from dbversus.posts.reading import load_post
    from dbversus.report.words import listing
    from dbversus.suites.file.source import read_source

    named = read_source(path).document.get("posts")
    if not isinstance(named, list):  # the file is not checked yet
        return str(error)
    found = []
    for post in (load_post(name) for name in named if isinstance(name, str)):
        claims = [one for build in error.builds for one in post.claims_of(*build.split(":", 1))]
        numbers = [claim.id for claim in post.claims if claim.id in claims]
        if numbers:
            found.append(
                f"{'claim' if len(numbers) == 1 else 'claims'} {listing(numbers, most=len(numbers))} of {post.name}"
            )
    return f"{error}, without {listing(found)}" if found else str(error)


def _read(path: Path, builds: Sequence[str], exclude: Sequence[str], *, scaled: bool) -> "ExperimentSpec":
    """The experiment of a results folder, or of any other file."""
    from dbversus.experiment.asked.spec import read_spec
    from dbversus.experiment.folder import is_results_folder, read_folder
    from dbversus.suites.profiles import profile_defaults

    if path.name != EXPERIMENT or not is_results_folder(path.parent):
        return read_spec(path, profile_defaults, _split(builds), exclude, scaled=scaled)
    if scaled:
        raise UsageError(
            f"{path} is of results, and has no short form; --scaled is for experiment files with a [scaled]."
        )
    return read_folder(path.parent, _split(builds), exclude)


def _repeat_command(experiment: str, builds: Sequence[str], flags: Sequence[str], asked: Choices) -> str:
    """From any folder: paths are absolute, and none of the choices is one."""
    from dbversus.builds.target import absolute_target
    from dbversus.experiment.asked.bundled import absolute_name

    named = [",".join(map(absolute_target, _split([text]))) for text in builds]
    builds_flags = [f"--builds={text}" for text in named]
    return shlex.join(["dbversus", "run", absolute_name(experiment), *builds_flags, *flags, *as_words(asked)])


def _split(texts: Sequence[str]) -> list[str]:
    """Builds between commas; a text with configs (`mysql:8.0@ahi,bl0`) is one build, since they have commas too."""
    return [part.strip() for text in texts for part in ([text] if "@" in text else text.split(",")) if part.strip()]
