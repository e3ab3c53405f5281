"""The journal's first record: what is measured. And whether what `resume` would go on with is still that."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

import dbversus
from dbversus.builds.target import spelling
from dbversus.dbms.sql.session import Value
from dbversus.errors import UsageError
from dbversus.experiment.folder import Copy, changed_outside
from dbversus.experiment.plan.cases import cases_of
from dbversus.experiment.plan.definitions import definitions
from dbversus.experiment.rig.rig import Target
from dbversus.experiment.rig.stage import Stage
from dbversus.host.facts import machine_id
from dbversus.private import whole, with_short_paths, without_secret_settings
from dbversus.results.records import Experiment, Rendered, TargetFacts
from dbversus.results.schema import HOST, SCHEMA_VERSION
from dbversus.servers.base import ServerConfig
from dbversus.suites.model import AGED, LOAD, Test
from dbversus.suites.send.define import loads, operations_of, undo_sql


def make_header(stage: Stage, command: str, copies: Sequence[Copy] = ()) -> Experiment:
    """The `experiment` record; `command` is what repeats the experiment, `copies` are the files that its folder holds."""
    spec = stage.spec
    return Experiment(
        schema=SCHEMA_VERSION,
        dbversus=dbversus.__version__,
        command=command,
        targets=_targets(stage),
        tests=_case_names(stage),
        kinds={
            case.name: stage.suite.group_titles[test.group]
            for test in stage.suite.tests.values()
            for case in cases_of(test, spec)
        },
        aged=[
            case.name
            for phase in stage.suite.phases
            if phase.data == AGED
            for test in phase.tests
            for case in cases_of(test, spec)
        ],
        settings=_settings(stage),
        suite=spec.suite,
        suite_checksum=suite_checksum(stage),
        profile=spec.profile,
        clients=spec.clients,
        table_size=spec.table_size,
        table_sizes=list(spec.table_sizes) if len(spec.table_sizes) > 1 else [],
        tables=spec.tables,
        data=_data(stage),
        seed=spec.seed,
        mode=spec.mode,
        order=spec.order,
        cache=spec.cache,
        memory=spec.memory,
        restart=spec.restart,
        restore=spec.restore,
        looks=spec.looks,
        judge=spec.judge,
        margins=spec.margins,
        spec=spec.model_dump(mode="json"),
        files=[copy.record() for copy in copies],
    )


_ANOTHER = 10_007
"""Rows more than a table size, of which tables and parameters show whether they follow it."""


def _data(stage: Stage) -> list[str]:
    """What the tables hold, and the table size where anything follows it; empty where that says all."""
    spec, suite = stage.spec, stage.suite
    rows = [rules.row_count(suite.scope(spec.table_size, spec.tables)) for rules in suite.tables]
    if len(spec.table_sizes) > 1 or (len(rows) == 1 and rows[0] in (0, spec.table_size) and not suite.scripts):
        return []
    dbms = list(dict.fromkeys(target.build.dbms for target in stage.targets))
    words, other = (suite.table_words(spec.table_size + more, spec.tables, dbms) for more in (0, _ANOTHER))
    follows = words != other or any(
        definitions(test, dbms, spec.table_size, spec.tables)
        != definitions(test, dbms, spec.table_size + _ANOTHER, spec.tables)
        for test in suite.tests.values()
    )
    return [*words, *([f"table size {spec.table_size:,}"] if follows else [])]


def _targets(stage: Stage) -> list[TargetFacts]:
    return [
        TargetFacts(
            name=target.name,
            label=target.label,
            dbms=target.build.dbms,
            version=target.build.version,
            checksum=target.build.checksum,
            config=target.server.config.name,
            rendered=_rendered(target.server.config),
            spelled=spelling(target.spec) if target.spec.name else None,
        )
        for target in stage.targets
    ]


def _rendered(config: ServerConfig) -> Rendered:
    """As it may be told: without secrets, and with folders from the home."""
    parts = asdict(replace(config, settings=without_secret_settings(config.settings), places={}))
    del parts["places"]
    return msgspec.convert(
        json.loads(with_short_paths(json.dumps(parts | {"chosen": sorted(config.chosen)}))), Rendered
    )


def _settings(stage: Stage) -> dict[str, dict[str, dict[str, Value]]]:
    """Case → DBMS of a target → name → value."""
    dbms = dict.fromkeys(target.build.dbms for target in stage.targets)
    return {
        case.name: found
        for test in stage.suite.tests.values()
        if (found := {name: dict(given) for name in dbms if (given := test.settings_for(name))})
        for case in cases_of(test, stage.spec)
    }


def _case_names(stage: Stage) -> list[str]:
    names = (case.name for test in stage.suite.reported_tests for case in cases_of(test, stage.spec))
    return list(dict.fromkeys((LOAD, *names)))


def suite_checksum(stage: Stage) -> str:
    """Tells whether anything that is done differs: tables, statements, their values, the order of tests. Words do not count."""
    spec, suite = stage.spec, stage.suite
    done: dict[str, Any] = {
        "tables": [spec.tables, *loads(suite, spec.table_size, 1, lambda table: ([], []))],
        "aging": _aging(stage),
        "phases": [
            [phase.settle, phase.data, [_what_is_done(test, stage) for test in phase.tests]] for phase in suite.phases
        ],
    }
    if suite.scripts:
        done["scripts"] = {
            dbms: [sha for one in scripts for sha in one.sha256s] for dbms, scripts in suite.scripts.items()
        }
    if len(spec.table_sizes) > 1:
        done["table_sizes"] = list(spec.table_sizes)
    return hashlib.sha256(json.dumps(done).encode()).hexdigest()


def _aging(stage: Stage) -> list[Any] | None:
    aging, spec = stage.suite.aging, stage.spec
    if aging is None or not stage.suite.ages:
        return None
    return [_what_is_done(aging.test, stage), aging.operations_of_round(spec.table_size, spec.tables), aging.rounds]


def _what_is_done(test: Test, stage: Stage) -> list[Any]:
    dbms = (target.build.dbms for target in stage.targets)
    spec = stage.spec
    made = definitions(test, dbms, spec.table_size, spec.tables, max(spec.clients))
    done = [made, test.changes_data, test.by_count, test.slow, test.warm_up]
    return [*done, *_work(test, stage)]


def _work(test: Test, stage: Stage) -> list[Any]:
    """Of tests with an end; slices change nothing of what is done."""
    if test.work is None:
        return []
    undo = [undo_sql(test.work, target.build.dbms) for target in stage.targets]
    return [test.work.kind, operations_of(test.work, test, stage.spec.table_size, stage.spec.tables), undo]


_PARTS = ("settings", "environment", "init_options", "ddl")
_ENDING = "put back what was measured, or start a new experiment."


def check_outside(directory: Path, header: Experiment) -> None:
    """Raises UsageError when files that the results folder holds have changed where they were copied from."""
    if changed := changed_outside(header):
        raise UsageError(
            f"{', '.join(changed)} changed after {directory} had been begun, which holds the text of then; "
            "go on with that by --as-stored, or start a new experiment."
        )


def check_host(directory: Path) -> None:
    """Raises UsageError when the results folder was begun on another host: nothing of it is looked at then."""
    host, here = _machine_of(directory), machine_id()
    if host and here and host != here:
        raise UsageError(f"{directory} was measured on another host; resume it there, or start a new experiment here.")


def check_unchanged(directory: Path, header: Experiment, stage: Stage, *, as_stored: bool = False) -> None:
    """Raises UsageError when rows measured from now on would be of other builds or of another suite than those so far.

    What results of older versions of dbversus do not tell is passed over. `as_stored`: targets get the settings of then.
    """
    for then, now in zip(header.targets, _targets(stage), strict=False):
        label, version = now.label, now.version
        if (then.version or version) != version:
            raise UsageError(f"{label} was version {then.version} so far and is {version} now; {_ENDING}")
        if (then.checksum or now.checksum) != now.checksum:
            raise UsageError(f"{label} is another build of version {version} than the one measured so far; {_ENDING}")
    checksum = suite_checksum(stage)
    if (header.suite_checksum or checksum) != checksum:
        raise UsageError(f"The tests of suite {stage.spec.suite} are not what they were so far; {_ENDING}")
    for then, target in zip(header.targets, stage.targets, strict=False):
        if then.rendered:
            _keep_settings(target, then.rendered, as_stored=as_stored)


def _keep_settings(target: Target, then: Rendered, *, as_stored: bool) -> None:
    """The text of configs is as it was, but sizes in it follow the host's memory and CPUs, and libraries have their place."""
    config = target.server.config
    here = _rendered(config)
    if as_stored:
        stored = {part: _as_stored(getattr(then, part), getattr(here, part), getattr(config, part)) for part in _PARTS}
        target.server.config = ServerConfig(name=then.name, chosen=frozenset(then.chosen), **stored)
        return
    for part in _PARTS:
        was, now = getattr(then, part), getattr(here, part)
        for name in [*was, *now]:
            if was.get(name) != now.get(name):
                raise UsageError(
                    f"{target.label}: {name} was {was.get(name, 'not set')} so far and is {now.get(name, 'not set')} now, "
                    "for the same text: the host's memory or CPUs, or the place of a library, are others; go on with the "
                    "value of then by --as-stored, or start a new experiment."
                )


def _as_stored(then: Mapping[str, str], here: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Settings of then by name; `here` are those of `now` as they may be told."""
    return {name: now[name] if here.get(name) == was else whole(was) for name, was in then.items()}


def _machine_of(directory: Path) -> str | None:
    path = directory / HOST
    machine: str | None = json.loads(path.read_text(encoding="utf-8")).get("machine_id") if path.is_file() else None
    return machine
