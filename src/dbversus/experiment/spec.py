"""An experiment as asked: the user's choices over those of a profile, read from flags or from experiment.toml."""

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dbversus.errors import UsageError
from dbversus.experiment.units import parse_count, parse_duration

PRIMARY_MARGINS = ("server_cpu_us_per_op", "throughput_ops_per_s", "io_bytes_per_op")


class ExperimentSpec(BaseModel):
    """Every choice of an experiment, all defaults spelled out once it is complete.

    Times: `*_ms` ms, `*_s` seconds. `looks` are numbers of blocks after which tests are judged; the last is the most
    blocks that are run. With several `clients`, every test runs with each. `margins` are shares by metric (0.03 = 3 %).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    targets: list[str] = Field(min_length=1)
    suite: str = "sysbench"
    tests: str | None = None
    profile: str = "standard"
    mode: Literal["prepared", "unprepared"] = "prepared"
    table_size: int = Field(1_000_000, ge=1)
    tables: int = Field(1, ge=1)
    clients: list[int] = Field(default=[1], min_length=1)
    order: Literal["interleaved", "sequential"] = "interleaved"
    seed: int = Field(1, ge=0, lt=2**63)
    slot_ms: float = Field(50, ge=1, le=3_600_000)
    write_slot_ms: float = Field(100, ge=1, le=3_600_000)
    settle_ms: float = Field(5, ge=0, le=600_000)
    rows: int = Field(60, ge=1)
    seconds: float = Field(5, gt=0)
    looks: list[int] = Field(default=[4, 6, 8, 12], min_length=1)
    time_budget_s: float | None = Field(None, gt=0)
    placement: Literal["auto", "together", "apart", "none"] = "auto"
    freeze: bool = True
    config_dir: str | None = None
    check_events: int = Field(20, ge=0)
    margins: dict[str, float] = Field(default_factory=dict)

    @field_validator("table_size", "tables", mode="before")
    @classmethod
    def _count(cls, value: Any, info: Any) -> Any:
        return parse_count(value, info.field_name) if isinstance(value, str) else value

    @field_validator("time_budget_s", mode="before")
    @classmethod
    def _duration(cls, value: Any) -> Any:
        return parse_duration(value, "time_budget_s") if isinstance(value, str) else value

    @field_validator("clients", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, int) else value

    @field_validator("clients")
    @classmethod
    def _sane(cls, clients: list[int]) -> list[int]:
        if any(not 1 <= count <= 4096 for count in clients) or len(set(clients)) < len(clients):
            raise ValueError("different numbers from 1 to 4096 are wanted, such as 1 or [1, 2, 4]")
        return clients

    @field_validator("looks")
    @classmethod
    def _rising(cls, looks: list[int]) -> list[int]:
        if looks[0] < 1 or any(later <= earlier for earlier, later in pairwise(looks)):
            raise ValueError("rising numbers of blocks are wanted, such as [4, 6, 8, 12]")
        return looks

    @field_validator("margins")
    @classmethod
    def _known(cls, margins: dict[str, float]) -> dict[str, float]:
        for metric, share in margins.items():
            if metric not in PRIMARY_MARGINS:
                raise ValueError(f"unknown metric '{metric}'; accepted: {', '.join(PRIMARY_MARGINS)}")
            if not 0 < share < 1:
                raise ValueError(f"the margin of {metric} is {share}; a share between 0 and 1 is wanted, such as 0.03")
        return margins


def make_spec(choices: dict[str, Any], where: str = "") -> ExperimentSpec:
    """Checks choices; raises UsageError with one sentence naming the first mistake (prefixed by `where`)."""
    try:
        return ExperimentSpec.model_validate(choices)
    except ValidationError as error:
        raise UsageError(where + _sentence(error.errors()[0])) from error


def _sentence(mistake: Any) -> str:
    name = ".".join(str(part) for part in mistake["loc"]) or "the experiment"
    if mistake["type"] == "extra_forbidden":
        return f"unknown setting '{name}'; accepted: {', '.join(ExperimentSpec.model_fields)}."
    if mistake["type"] == "missing":
        return f"'{name}' is missing."
    return f"'{name}' is {mistake['input']!r}: {mistake['msg'].removeprefix('Value error, ')}."


def read_spec(path: Path, profile_defaults: Any) -> ExperimentSpec:
    """Reads experiment.toml; `profile_defaults(name)` gives the choices of a profile, which the file's own override."""
    try:
        choices = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; an experiment file is wanted (docs/experiments.md).") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}.") from error
    return make_spec(profile_defaults(choices.get("profile", "standard")) | choices, f"{path}: ")


def write_spec(spec: ExperimentSpec, path: Path) -> None:
    """Writes every choice, so that the file alone repeats the experiment."""
    path.write_text(tomli_w.dumps(spec.model_dump(exclude_none=True)))
