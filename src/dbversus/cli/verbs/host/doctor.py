"""dbversus doctor: what this host can and cannot measure, how well it does, and what to change."""

import json as json_module
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli import options
from dbversus.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from dbversus.calibration.store import Stored
    from dbversus.host.checks.doctor import Diagnosis
    from dbversus.host.checks.noise import Noise


def doctor(
    seconds: Annotated[float, typer.Option(help="Length of the noise probe; 0 leaves it out.")] = 5.0,
    make_user: Annotated[
        bool,
        typer.Option(
            "--make-user",
            help="As root, first make the system user `dbversus` (useradd --system), as which servers run from then on.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Say what this host can and cannot measure, how noisy it is now, how it was calibrated, and what to change.

    - `dbversus doctor`
    - `dbversus doctor --seconds 0 --json`
    - `sudo dbversus doctor --make-user`
    """
    from dbversus.calibration.model import host_of
    from dbversus.calibration.store import load_all
    from dbversus.host.checks.doctor import diagnose
    from dbversus.report.terminal import make_console, say
    from dbversus.storage.listing import list_kept, summary

    if make_user:
        from dbversus.host.user import make_own_user

        print(make_own_user(), file=sys.stderr)
    diagnosis = _with_engine(diagnose(seconds))
    stored = load_all(host_of(diagnosis.facts))
    could_be_freed = summary(list_kept())
    if json:
        calibrations = [one.model_dump(mode="json") for one in stored.calibrations]
        content = diagnosis.as_dict() | {"calibrations": calibrations, "calibration_notes": stored.notes}
        content |= {"could_be_freed": could_be_freed}
        print(json_module.dumps(content, indent=1, default=str))
        return
    console = make_console()
    _print(diagnosis, console)
    for line in _calibration_lines(stored, diagnosis):
        say(console, line)
    if could_be_freed:
        say(console, _freed_words(could_be_freed))


def _with_engine(diagnosis: "Diagnosis") -> "Diagnosis":
    """What an installation without an engine cannot do comes first: everything."""
    from dbversus.host.checks.doctor import Capability
    from dbversus.servers.process.engine import engine_binary

    try:
        engine = Capability("engine", True, str(engine_binary()))
    except RunError as error:
        engine = Capability("engine", False, without=str(error))
    return replace(diagnosis, capabilities=[engine, *diagnosis.capabilities])


def _print(diagnosis: "Diagnosis", console: "Console") -> None:
    from rich.text import Text

    from dbversus.report.terminal import plain_table, print_table, say

    facts = diagnosis.facts
    cpu, memory = facts["cpu"], facts["memory"]["total_bytes"] or 0
    say(console, f"{cpu['model']}, {cpu['logical']} CPUs, {memory / 1e9:.0f} GB, {facts['virtualisation']}")
    table = plain_table("capability", "", "")
    table.show_header = False
    for one in diagnosis.capabilities:
        word = Text("yes", style="green") if one.available else Text("no", style="yellow")
        table.add_row(Text(one.name), word, Text(one.detail if one.available else one.without))
    print_table(console, table)
    for finding in diagnosis.findings:
        say(console, f"{finding.severity}: {finding.message}; {finding.advice}")
    if diagnosis.noise:
        say(console, _noise_words(diagnosis.noise))


def _freed_words(could_be_freed: "Mapping[str, Mapping[str, int]]") -> str:
    from dbversus.home import home_dir
    from dbversus.units import show_bytes

    parts = [f"{kind} {show_bytes(one['bytes'])} ({one['count']})" for kind, one in could_be_freed.items()]
    total = show_bytes(sum(one["bytes"] for one in could_be_freed.values()))
    return f"could be freed in {home_dir()}: {total}: {', '.join(parts)}; `dbversus clean` lists it"


def _noise_words(noise: "Noise") -> str:
    return (
        f"noise now: adjacent {noise.slot_ms:g} ms slots differ by {noise.pair_sd:.1%} (sd of {noise.slots // 2} pairs), "
        f"all slots by {noise.slot_sd:.1%}; a loop got {noise.cpu_share:.0%} of its core"
    )


def _calibration_lines(stored: "Stored", diagnosis: "Diagnosis") -> list[str]:
    """One for the newest calibration of each DBMS, and one for each file that cannot be used."""
    from dbversus.calibration.model import host_of
    from dbversus.calibration.store import newest

    host = host_of(diagnosis.facts)
    found = [newest(stored.calibrations, host, dbms) for dbms in dict.fromkeys(one.dbms for one in stored.calibrations)]
    lines = ["not calibrated: `dbversus calibrate postgres:17 --quick` measures how often verdicts are wrong here"]
    if stored.calibrations:
        from dbversus.report.parts.notes.calibration import sentence  # reports take seconds to import

        lines = [sentence(one.brief(), time.time(), host.kernel) for one in found if one]
    return lines + [f"warning: {note}" for note in stored.notes]
