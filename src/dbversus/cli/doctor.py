"""dbversus doctor: what this host can and cannot measure, how well it does, and what to change."""

import json as json_module
import time
from typing import TYPE_CHECKING, Annotated

import typer

from dbversus.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from dbversus.calibration.store import Stored
    from dbversus.host.doctor import Diagnosis
    from dbversus.host.noise import Noise


def doctor(
    seconds: Annotated[float, typer.Option(help="Length of the noise probe; 0 leaves it out.")] = 5.0,
    json: options.Json = False,
) -> None:
    """Say what this host can and cannot measure, how noisy it is now, how it was calibrated, and what to change.

    - `dbversus doctor`
    - `dbversus doctor --seconds 0 --json`
    """
    from rich.console import Console

    from dbversus.calibration.model import host_of
    from dbversus.calibration.store import load_all
    from dbversus.host.doctor import diagnose
    from dbversus.storage.listing import list_kept, summary

    diagnosis = diagnose(seconds)
    stored = load_all(host_of(diagnosis.facts))
    could_be_freed = summary(list_kept())
    if json:
        calibrations = [one.model_dump(mode="json") for one in stored.calibrations]
        content = diagnosis.as_dict() | {"calibrations": calibrations, "calibration_notes": stored.notes}
        content |= {"could_be_freed": could_be_freed}
        print(json_module.dumps(content, indent=1, default=str))
        return
    console = Console()
    _print(diagnosis, console)
    for line in _calibration_lines(stored, diagnosis):
        console.print(line, markup=False, highlight=False)
    if could_be_freed:
        console.print(_freed_words(could_be_freed), markup=False, highlight=False)


def _print(diagnosis: "Diagnosis", console: "Console") -> None:
    from rich.table import Table

    facts = diagnosis.facts
    cpu, memory = facts["cpu"], facts["memory"]["total_bytes"] or 0
    console.print(
        f"{cpu['model']}, {cpu['logical']} CPUs, {memory / 1e9:.0f} GB, {facts['virtualisation']}", markup=False
    )
    table = Table(box=None, show_header=False, pad_edge=False)
    for one in diagnosis.capabilities:
        word = "[green]yes[/]" if one.available else "[yellow]no[/]"
        table.add_row(one.name, word, one.detail if one.available else one.without)
    console.print(table, highlight=False)
    for finding in diagnosis.findings:
        console.print(f"{finding.severity}: {finding.message}; {finding.advice}", markup=False, highlight=False)
    if diagnosis.noise:
        console.print(_noise_words(diagnosis.noise), markup=False, highlight=False)


def _freed_words(could_be_freed: "Mapping[str, Mapping[str, int]]") -> str:
    from dbversus.experiment.units import show_bytes
    from dbversus.home import home_dir

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
        from dbversus.report.calibration import sentence  # reports take seconds to import

        lines = [sentence(one.brief(), time.time(), host.kernel) for one in found if one]
    return lines + [f"warning: {note}" for note in stored.notes]
