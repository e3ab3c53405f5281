"""Experiments, one after another, until the time or the number is reached."""

import itertools
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from dbversus.servers.process.engine import engine_binary

from . import leaks
from .disk import can_mount
from .place import Place, targets
from .plan import DISK_KINDS, Kind, Trial, trials
from .trial import Host, Outcome, perform

Say = Callable[[str], None]


def prepare(folder: Path) -> Host:
    """What there is on this host, as it is before."""
    engine_binary()
    place = Place.make(folder)
    return Host(place, targets(), leaks.Baseline.take())


def possible_kinds(host: Host) -> tuple[set[Kind], list[str]]:
    """The faults that can be had here, and sentences on those that cannot."""
    kinds, skipped = set(Kind), []
    if not can_mount():
        kinds -= DISK_KINDS
        skipped.append("full disks: they need the right to mount a file system")
    for dbms in ("postgres", "mariadb"):
        if dbms not in host.targets:
            skipped.append(f"{dbms}: no build of it is installed")
    return kinds, skipped


def plan(seed: int, host: Host, kinds: Collection[Kind]) -> Iterable[Trial]:
    return trials(seed, list(host.targets), kinds)


def soak(planned: Iterable[Trial], host: Host, say: Say, minutes: float, most: int) -> list[Outcome]:
    """Performs trials until `minutes` are over or `most` were performed."""
    deadline = time.monotonic() + 60 * minutes
    outcomes: list[Outcome] = []
    for trial in itertools.islice(planned, most):
        if time.monotonic() > deadline:
            break
        outcome = perform(trial, host)
        outcomes.append(outcome)
        wrong = f"; {len(outcome.violations)} VIOLATIONS" if outcome.violations else ""
        say(f"{trial.title}: {outcome.rows} rows, {outcome.resumes} resumes, {outcome.seconds:.0f} s{wrong}")
        for words in outcome.violations:
            say(f"  {words}")
    return outcomes
