"""The journal of a campaign: a line for what was asked, each decision, each finished experiment and the end (docs/campaigns.md).

Only the first line cannot be had again: what any other said is decided again, or read again from the experiment's folder. So a
damaged line is told and passed over.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dbversus.campaign.agenda import HERE, Outcome
from dbversus.campaign.calibrating.agenda import Calibration
from dbversus.campaign.finding.agenda import Finding
from dbversus.campaign.screening.agenda import Screening
from dbversus.campaign.upgrading.agenda import Upgrade
from dbversus.errors import UsageError
from dbversus.files import LineFile
from dbversus.private import with_short_paths
from dbversus.results.schema import CAMPAIGN

AnyAgenda = Calibration | Finding | Screening | Upgrade
"""The kinds of campaigns that there are."""

CAMPAIGN_SCHEMA = 1
TIME_BUDGET = "time budget"
"""Why an experiment or a campaign ended that `resume` goes on with."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag=str.lower):
    """at_unix_ns: when it was written"""

    at_unix_ns: int = 0


class Asked(Line, frozen=True):
    """The first line: what the campaign is, on which host it measures, and the command that repeats it."""

    schema: int
    dbversus: str
    host: str
    command: str
    agenda: AnyAgenda
    time_budget_s: float | None = None


class Order(Struct, frozen=True, omit_defaults=True):
    """An experiment as decided; `spec` holds every choice, as experiment.toml does.

    `folder`: the results folder whose suite and configs it has, from the campaign's; null: they are found by name or path.
    """

    name: str
    why: str
    expected_s: float
    spec: dict[str, Any]
    folder: str | None = None

    def __post_init__(self) -> None:
        if self.name != HERE and not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name of an experiment")


class Decided(Line, frozen=True):
    """Experiments that come next; `then`, `then_s`: as in `agenda.Step`."""

    experiments: list[Order]
    then: str = ""
    then_s: float = 0.0


class Measured(Line, frozen=True):
    """An experiment is finished."""

    name: str
    outcome: Outcome


class Ended(Line, frozen=True):
    """The campaign is, for now or for good."""

    reason: str


AnyLine = Asked | Decided | Measured | Ended
_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[AnyLine] = msgspec.json.Decoder(AnyLine)


@dataclass
class Course:
    """How far a campaign has got. `notes`: what is wrong with its journal, `good_bytes`: of its whole lines."""

    directory: Path
    asked: Asked
    orders: dict[str, Order] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    then: str = ""
    then_s: float = 0.0
    ended: str | None = None
    notes: list[str] = field(default_factory=list)
    good_bytes: int = 0

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and not for want of time."""
        return self.ended not in (None, TIME_BUDGET)

    @property
    def open(self) -> list[Order]:
        """Decided, and not finished."""
        return [order for order in self.orders.values() if order.name not in self.outcomes]

    def fold(self, line: AnyLine) -> None:
        match line:
            case Decided():
                self.orders |= {order.name: order for order in line.experiments}
                self.then, self.then_s, self.ended = line.then, line.then_s, None
            case Measured():
                self.outcomes[line.name], self.ended = line.outcome, None
            case Ended():
                self.ended = line.reason


class CampaignJournal(LineFile):
    """Appends lines; `course` is what they come to, with those that were there before."""

    def __init__(self, directory: Path, asked: Asked | None = None):
        """`asked`: of a new campaign. Raises UsageError as `read_campaign`, RunError when another process writes it."""
        super().__init__(directory / CAMPAIGN)
        try:
            if asked:
                self.course = Course(directory, asked)
                self.append(asked)
            else:
                self.course = read_campaign(directory)
                torn = self.set_aside(self.course.good_bytes)
                self.course.notes += [torn] if torn else []
        except BaseException:
            self.close()
            raise

    def append(self, line: AnyLine) -> None:
        """On the disk when it returns, with the time, and folders from the home."""
        stamped = msgspec.structs.replace(line, at_unix_ns=time.time_ns())
        self.append_line(with_short_paths(_encode(stamped).decode()).encode() + b"\n")
        self.course.fold(line)


def read_campaign(directory: Path) -> Course:
    """Raises UsageError where the folder has no campaign, or the first line of its journal cannot be read."""
    path = directory / CAMPAIGN
    if not path.is_file():
        raise UsageError(f"{directory} has no {CAMPAIGN}; expected the folder of a campaign.")
    lines = _whole_lines(path)
    first = next(lines, b"")
    _check_schema(path, first)
    asked = _read(first)
    if not isinstance(asked, Asked):
        raise UsageError(
            f"{path}, line 1: damaged, and nothing else says what was asked; start the campaign again elsewhere."
        )
    course = Course(directory, asked, good_bytes=len(first))
    for number, text in enumerate(lines, 2):
        course.good_bytes += len(text)
        if (line := _read(text)) is None:
            course.notes.append(f"{path}, line {number}: damaged; what it said is found again from the experiments.")
        else:
            course.fold(line)
    return course


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Without a last one that was cut off."""
    with path.open("rb") as file:
        yield from (line for line in file if line.endswith(b"\n"))


def _read(line: bytes) -> AnyLine | None:
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError:
        return None


def _check_schema(path: Path, first: bytes) -> None:
    if not first:
        raise UsageError(f"{path} has no whole line: nothing was asked yet. Remove {path.parent}, and start again.")
    try:
        schema = json.loads(first).get("schema")
    except (ValueError, AttributeError):
        return
    if isinstance(schema, int) and schema > CAMPAIGN_SCHEMA:
        raise UsageError(f"{path} has schema {schema}; this dbversus reads up to {CAMPAIGN_SCHEMA}: use a newer one.")
