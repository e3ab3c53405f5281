"""An experiment as asked: the user's choices over those of a profile, read from flags or from experiment.toml."""

import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import tomli_w
from pydantic import (
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.errors import UsageError, reason
from dbversus.experiment.asked.demands import Demands, parse_conditions, parse_share
from dbversus.experiment.asked.fields import IN_LAB, LAB, RENAMED, Fields
from dbversus.experiment.asked.groups import ROWS_PER_GROUP, make_groups
from dbversus.experiment.asked.matrix import expand, read_matrix, without
from dbversus.experiment.asked.shares import check_inject, read_bursts
from dbversus.experiment.asked.sizes import split_sizes
from dbversus.files import write_whole
from dbversus.private import whole, with_short_paths
from dbversus.results.schema import CONFIGS, SUITE
from dbversus.servers.config.load import Complete, ConfigPlace
from dbversus.stats.judgeable import JUDGEABLE, named
from dbversus.suites.assembly.builds_on import check_selected
from dbversus.suites.assembly.judged_load import with_judged_load
from dbversus.suites.file.source import Place, Source
from dbversus.suites.load import load_stored_suite, load_suite
from dbversus.suites.model import Suite, has_work
from dbversus.units import parse_count, parse_duration, parse_memory

SCALED = "scaled"
"""The table of an experiment file with what is otherwise in its short form (`dbversus run FILE --scaled`)."""


class ExperimentSpec(Fields):
    """Every choice of an experiment (asked/fields.py), checked, all defaults spelled out once it is complete."""

    _folder: Path | None = PrivateAttr(None)
    _sizes: tuple[int, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _with_sizes(cls, choices: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(choices, dict):
            return handler(choices)
        choices, sizes = split_sizes(choices)
        spec = handler(choices)
        spec._sizes = sizes
        spec._check_sizes()
        return spec

    @model_serializer(mode="wrap")
    def _as_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        dumped: dict[str, Any] = handler(self)
        return dumped | {"table_size": list(self._sizes)} if len(self._sizes) > 1 else dumped

    def _check_sizes(self) -> None:
        if len(self._sizes) > 1 and "never" in (self.restart, self.restore):
            raise ValueError("with several table sizes, servers are restarted and data is restored in every block")

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """All that are measured, rising. `table_size` is the first, or the one that is measured now (`sized`)."""
        return self._sizes or (self.table_size,)

    def sized(self, table_size: int) -> Self:
        """The same experiment while its tables have that size."""
        return self.model_copy(update={"table_size": table_size})

    @model_validator(mode="before")
    @classmethod
    def _with_bursts(cls, choices: Any) -> Any:
        has_some = isinstance(choices, dict) and "inject" in choices
        return choices | {"inject": read_bursts(choices["inject"])} if has_some else choices

    @field_validator("suite", "config_dir")
    @classmethod
    def _from_home(cls, path: str | None) -> str | None:
        return path and whole(path)

    @field_validator("table_size", "tables", mode="before")
    @classmethod
    def _count(cls, value: Any, info: Any) -> Any:
        return parse_count(value, info.field_name) if isinstance(value, str) else value

    @field_validator("time_budget_s", "wait_quiet_s", mode="before")
    @classmethod
    def _duration(cls, value: Any, info: Any) -> Any:
        return parse_duration(value, info.field_name) if isinstance(value, str) else value

    @field_validator("memory", mode="before")
    @classmethod
    def _memory(cls, value: Any, info: Any) -> Any:
        return parse_memory(value, info.field_name) if isinstance(value, str) else value

    @field_validator("clients", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, int) else value

    @field_validator("clients")
    @classmethod
    def _sane(cls, clients: list[int]) -> list[int]:
        if any(not 1 <= count <= 4096 for count in clients) or len(set(clients)) < len(clients):
            raise ValueError("different numbers from 1 to 4096 are accepted, such as 1 or [1, 2, 4]")
        return clients

    @field_validator("looks")
    @classmethod
    def _rising(cls, looks: list[int]) -> list[int]:
        if looks[0] < 1 or any(later <= earlier for earlier, later in pairwise(looks)):
            raise ValueError("rising numbers of blocks are accepted, such as [4, 6, 8, 12]")
        return looks

    @field_validator("margins")
    @classmethod
    def _known(cls, margins: dict[str, float]) -> dict[str, float]:
        for metric, share in margins.items():
            if metric not in (*JUDGEABLE, *JUDGEABLE.values()):
                raise ValueError(
                    f"there is a margin for the unknown metric '{metric}'; accepted: {', '.join(JUDGEABLE)}"
                )
            if not 0 < share < 1:
                raise ValueError(
                    f"the margin of {metric} is {share}; it has to be a share between 0 and 1, such as 0.03"
                )
        full = {JUDGEABLE.get(metric, metric): share for metric, share in margins.items()}
        if len(full) < len(margins):
            raise ValueError("a metric has two margins, by its short and by its full name; give one of them")
        return full

    @field_validator("judge")
    @classmethod
    def _judgeable(cls, names: list[str]) -> list[str]:
        return named(names)

    @field_validator("judge", "fail_on", mode="before")
    @classmethod
    def _some(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("fail_on")
    @classmethod
    def _conditions(cls, texts: list[str]) -> list[str]:
        try:
            return list(parse_conditions(texts, "the condition"))
        except UsageError as error:
            raise ValueError(str(error).rstrip(".")) from error

    @field_validator("require_verdicts")
    @classmethod
    def _share(cls, text: str | None) -> str | None:
        try:
            parse_share(text or "100%", "the share")
        except UsageError as error:
            raise ValueError(str(error).rstrip(".")) from error
        return text

    @model_validator(mode="after")
    def _injectable(self) -> Self:
        check_inject(self.inject or {}, len(self.targets))
        return self

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.at_once and self.order == "sequential":
            raise ValueError("at_once is for interleaved order; in sequential order every server is up alone")
        if self.at_once and self.rows > ROWS_PER_GROUP // 2:
            raise ValueError(f"with at_once, up to {ROWS_PER_GROUP // 2} rows are accepted")
        return self

    @model_validator(mode="after")
    def _kept(self) -> Self:
        if self.restart == "never" and self.cache != "warm":
            raise ValueError(f"cache '{self.cache}' needs servers that are restarted: restart = 'block'")
        if self.lead_in_s and self.cache != "warm":
            raise ValueError(
                f"a lead-in would warm what cache = '{self.cache}' empties: lead_in_s goes with cache = 'warm'"
            )
        if self.restart == "never" and self.restore == "block":
            raise ValueError(
                "data cannot be restored under servers that stay up; restart = 'never' goes with restore = 'never'"
            )
        if self.restore == "never" and self.servers_up < len(self.targets):
            raise ValueError(
                "data is kept from block to block only where all targets are up at once: without at_once, interleaved"
            )
        return self

    @property
    def demands(self) -> Demands:
        share = None if self.require_verdicts is None else parse_share(self.require_verdicts, "require_verdicts")
        return Demands(tuple(self.fail_on), share)

    @property
    def servers_up(self) -> int:
        """Most servers that are up at the same time."""
        return max(len(group.members) for group in make_groups(self.targets, self.order, self.at_once))

    @property
    def folder(self) -> Path | None:
        """The results folder that suite and configs are taken from; None: they are looked for by name or path."""
        return self._folder

    def taken_from(self, folder: Path) -> Self:
        """The same experiment with the suite and the configs that a results folder holds."""
        copy = self.model_copy()
        copy._folder = folder
        return copy

    def seconds_of(self, test: str) -> float:
        """The time of a test in one block, all targets together: that of the first glob that fits, or what all tests have."""
        return next((given for glob, given in self.test_seconds.items() if fnmatchcase(test, glob)), self.seconds)

    def with_choices(self, choices: Mapping[str, Any]) -> "ExperimentSpec":
        """The same experiment with these choices instead, checked as in `make_spec`."""
        changed = make_spec(self.model_dump() | dict(choices))
        changed._folder = self._folder
        return changed

    @property
    def config_place(self) -> ConfigPlace:
        """Where the configs of targets are looked for (servers/config/load.py)."""
        if self._folder:
            return Complete(self._folder / CONFIGS)
        return Path(self.config_dir) if self.config_dir else None

    def usual_rows(self) -> int:
        """As many rows of sysbench's table as the data that is there at one time comes to, at most."""
        return self.read_suite().usual_rows(self.table_sizes[-1], self.tables)

    def _read_suite(self) -> Suite:
        if self._folder:
            return load_stored_suite(self._folder / SUITE, self.variants)
        return load_suite(self.suite, self.variants)

    def read_suite(self) -> Suite:
        """The suite with the tests that were asked for, of which every target does something in each."""
        suite = self._read_suite()
        selected = suite.select(self.tests).without_idle(self._dbms())
        self._check_pass(suite, selected)
        if self.judge_load:
            selected = with_judged_load(selected, self.table_size, self.tables)
        if not selected.tests:
            raise UsageError(f"No test can be run: {self._why_none()}.")
        self._check_ends(selected)
        return selected

    def _why_none(self) -> str:
        if said := self.left_out():
            return "; ".join(said)
        return f"{self.tests} names the load alone, which is a test with judge_load (--judge-load)"

    def left_out(self) -> list[str]:
        """What does nothing on a target, for want of a statement there: tests, which are left out, and roles."""
        dbms = self._dbms()
        said = []
        for test in self._read_suite().select(self.tests).tests.values():
            if idle := test.idle_on(dbms):
                said.append(f"test {test.name} is left out: it has no statement for {_titles(idle)}")
                continue
            of_roles = {role.name: [one for one in dbms if not has_work(role.statements, one)] for role in test.roles}
            said += [
                f"role {name} of test {test.name} does nothing on {_titles(idle)}: it has no statement there"
                for name, idle in of_roles.items()
                if idle
            ]
        return said

    def _dbms(self) -> list[str]:
        return list(dict.fromkeys(parse_target(text).dbms for text in self.targets))

    def _check_pass(self, suite: Suite, selected: Suite) -> None:
        check_selected(suite, selected)
        self._check_tables_of_clients(selected)
        if selected.is_pass and len(self.clients) > 1:
            asked = ", ".join(map(str, self.clients))
            raise UsageError(
                f"tests of suite {suite.name} build on each other, so that one pass has one number of clients, and {asked} are "
                "asked for; an experiment for each of them is accepted."
            )

    def _check_tables_of_clients(self, suite: Suite) -> None:
        """Each client keeps to one table, so that all tables get the same work only where each has as many clients."""
        uneven = next((count for count in self.clients if count % self.tables), None)
        keeps = any(one.table == "client" for test in suite.tests.values() for one in test.statements)
        if suite.is_pass and keeps and uneven is not None:
            raise UsageError(
                f"each client of suite {suite.name} keeps to one table, so that {self.tables} tables take {self.tables} clients "
                f"or a multiple of that, and clients is {uneven}; with tables = 1 all clients share one."
            )

    def _check_ends(self, suite: Suite) -> None:
        ends = [test.name for test in suite.tests.values() if test.work]
        if ends and self.restore == "never":
            raise UsageError(
                f"test {ends[0]} is work with an end, which is done once on the same data; it needs restore = 'block'."
            )


def make_spec(choices: dict[str, Any], where: str = "") -> ExperimentSpec:
    """Checks choices; raises UsageError with one sentence naming the first mistake (prefixed by `where`)."""
    try:
        return ExperimentSpec.model_validate(choices)
    except ValidationError as error:
        raise UsageError(where + _sentence(error.errors()[0])) from error


def check_alone(spec: ExperimentSpec) -> None:
    """Raises UsageError for one target that is not said to be alone, and for several that are."""
    if len(spec.targets) == 1 and not spec.alone and not any(test.against for test in spec.read_suite().tests.values()):
        raise UsageError(
            f"{spec.targets[0]} is the only target, so there is nothing to compare it with; name a second one, measure it "
            "by itself with --alone (`alone = true` in an experiment file), or have tests `against` each other in the suite."
        )
    if len(spec.targets) > 1 and spec.alone:
        raise UsageError(f"alone is for one target; there are {len(spec.targets)}: {', '.join(spec.targets)}.")


_LENGTHS = {
    "string_too_short": "a text that is not empty",
    "string_too_long": "a text of at most {max_length} characters",
}


def _sentence(mistake: Any) -> str:
    name = ".".join(str(part) for part in mistake["loc"]) or "the experiment"
    if mistake["type"] == "extra_forbidden":
        usual = [setting for setting in ExperimentSpec.model_fields if setting not in IN_LAB]
        return f"unknown setting '{name}'; accepted: {', '.join(usual)}; under [{LAB}]: {', '.join(IN_LAB)}."
    if mistake["type"] == "missing":
        return f"'{name}' is missing."
    if mistake["type"] == "literal_error":
        return f"'{name}' is {mistake['input']!r}; accepted: {mistake['ctx']['expected']}."
    if mistake["type"] in _LENGTHS:
        given = str(mistake["input"])
        shown = repr(given) if len(given) <= 60 else f"{given[:59]!r} … ({len(given)} characters)"
        return f"'{name}' is {shown}; accepted: {_LENGTHS[mistake['type']].format(**mistake['ctx'])}."
    words = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "it has to be")
    names_itself = not mistake["loc"] or (mistake["type"] == "value_error" and isinstance(mistake["input"], dict))
    return f"{words}." if names_itself else f"'{name}' is {mistake['input']!r}: {words}."


def read_spec(
    path: Path,
    profile_defaults: Any,
    builds: Sequence[str] = (),
    exclude: Sequence[str] = (),
    *,
    scaled: bool = False,
) -> ExperimentSpec:
    """Reads experiment.toml; `profile_defaults` gives, for the file's choices, those of its profile, which they override.

    `builds`, `exclude` and `scaled` are as in `read_choices`.
    """
    choices = read_choices(path, builds, exclude, scaled=scaled)
    return make_spec(profile_defaults(choices) | choices, f"{path}: ")


def read_choices(
    path: Path,
    builds: Sequence[str] = (),
    exclude: Sequence[str] = (),
    config_dir: Path | None = None,
    *,
    scaled: bool = False,
    stored: bool = False,
) -> dict[str, Any]:
    """The choices that an experiment file makes, a matrix replaced by the targets that it comes to.

    `builds` replace those that the matrix names, targets that match a pattern of `exclude` are left out. `scaled`: the
    choices of the file's table [scaled] take the place of others of the same names. `stored`: the file is a results folder's,
    in which an older dbversus wrote those of [lab] beside the others.
    """
    source = _read_source(path)
    choices = _with_lab(source.document, Place(source), stored=stored)
    choices.pop(SCALED, None)
    if scaled:
        choices |= _scaled(source)
    if "matrix" not in choices:
        if builds:
            raise UsageError(f"{path} has no [[matrix]]; builds are for files that have one.")
        targets = choices.get("targets")
        if (
            exclude and isinstance(targets, list) and all(isinstance(one, str) for one in targets)
        ):  # others are mistakes
            choices["targets"] = without(targets, exclude)
        return choices
    if "targets" in choices:
        raise Place(source).at("targets").mistake("there are `targets` and a matrix; keep one of them.")
    del choices["matrix"]
    folder = config_dir or whole(choices.get("config_dir") or "")
    parts = read_matrix(source)
    targets = expand(parts, builds, exclude, Path(folder) if folder else None)
    optional = [item for part in parts for item in part.table.optional]
    return {"optional": optional} | choices | {"targets": targets}


def _scaled(source: Source) -> dict[str, Any]:
    changed = source.document.get(SCALED)
    if changed is None:
        raise UsageError(f"{source.path} has no table [{SCALED}]; --scaled is for experiment files that have one.")
    if not isinstance(changed, dict):
        raise Place(source).at(SCALED).mistake(f"'{SCALED}' is {changed!r}; a table with settings is accepted.")
    return _with_lab(changed, Place(source).at(SCALED))


def _with_lab(table: Mapping[str, Any], place: Place, *, stored: bool = False) -> dict[str, Any]:
    """The settings of a table, those under its [lab] among them."""
    choices = dict(table)
    lab = choices.pop(LAB, {})
    for name in () if stored else choices:
        if name in RENAMED:
            raise place.at(name).mistake(f"'{name}' is called '{RENAMED[name]}' now.")
        if name in IN_LAB:
            header = ".".join(map(str, place.at(LAB).keys))
            raise place.at(name).mistake(f"'{name}' is a setting for the lab; write it under [{header}].")
    if not isinstance(lab, dict):
        raise place.at(LAB).mistake(f"'{LAB}' is {lab!r}; a table is accepted, with {', '.join(IN_LAB)}.")
    for name in lab:
        if name not in IN_LAB:
            raise place.at(LAB, name).mistake(f"[{LAB}] has no '{name}'; accepted: {', '.join(IN_LAB)}.")
    return choices | lab


def _read_source(path: Path) -> Source:
    try:
        text = path.read_text(encoding="utf-8")
        return Source(str(path), text, tomllib.loads(text))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist; name an experiment file (docs/experiments.md).") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {reason(error)}.") from error


def write_spec(spec: ExperimentSpec, path: Path) -> None:
    """Writes every choice, so that the file alone repeats the experiment; paths from the home."""
    choices = spec.model_dump(exclude_none=True)
    choices[LAB] = {name: choices.pop(name) for name in IN_LAB}
    write_whole(path, with_short_paths(tomli_w.dumps(choices)))


def _titles(dbms: Sequence[str]) -> str:
    return " and ".join(find_dbms(name).title for name in dbms)
