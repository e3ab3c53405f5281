"""A calibration as it is kept: what was measured, on which host, when, and its figures."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from dbversus.results.records import CalibrationBrief, Detected, FalseAlarms
from dbversus.stats.calibration.model import Figures, Part

CALIBRATION_SCHEMA = 1


class Host(Part):
    """What a calibration holds for. Facts as in host.json; None: the host does not tell."""

    machine_id: str | None
    kernel: str | None
    cpu: str | None

    @property
    def key(self) -> str:
        """Names the host's folder."""
        return hashlib.sha256(f"{self.machine_id}|{self.kernel}|{self.cpu}".encode()).hexdigest()[:16]

    def is_same_machine(self, other: "Host") -> bool:
        """Whether it is that machine, with whatever kernel."""
        return (self.machine_id, self.cpu) == (other.machine_id, other.cpu)


class Calibration(Part):
    """One calibration. `id` is the name of its file; `at_unix_s`: when the run began, `took_s`: until it ended.

    `rows_per_block` (calibration.use; None: kept before it was) and `slot_ms`: how much was measured per test and block;
    margins are for experiments that measure no more.
    """

    calibration_schema: Literal[1] = 1
    id: str
    at_unix_s: float
    took_s: float
    dbversus: str
    host: Host
    dbms: str
    dbms_title: str
    version: str
    target: str
    profile: str
    suite: str
    clients: list[int]
    table_size: int
    tables: int
    rows_per_block: int | None = None
    slot_ms: float
    seed: int
    command: str
    directory: str
    figures: Figures = Field(repr=False)

    def brief(self) -> CalibrationBrief:
        """What an experiment that stands on this calibration records of it."""
        figures = self.figures
        alarms, bursts = figures.false_alarms, figures.bursts
        return CalibrationBrief(
            id=self.id,
            at_unix_s=self.at_unix_s,
            kernel=self.host.kernel,
            dbms=self.dbms,
            dbms_title=self.dbms_title,
            version=self.version,
            target=self.target,
            profile=self.profile,
            clients=self.clients,
            tests=len(figures.tests),
            blocks=figures.blocks,
            suites=figures.suites,
            false_alarms=FalseAlarms(alarms.share, alarms.low, alarms.high, alarms.count),
            detection=[Detected(one.effect, one.found.share) for one in figures.detection],
            bursts=Detected(bursts.effect, bursts.found.share) if bursts else None,
            injected=figures.injected,
            metrics=figures.metrics,
            changed=figures.changed,
            changed_as_measured=figures.changed_as_measured,
            wider_margins=figures.margins_above_default(),
        )


def host_of(facts: Mapping[str, Any]) -> Host:
    """From facts as in host.json (host/facts.py)."""
    cpu = facts.get("cpu") or {}
    return Host(machine_id=facts.get("machine_id"), kernel=facts.get("kernel"), cpu=cpu.get("model"))
