"""From target texts to targets whose data is loaded, settled and kept as snapshots."""

import json
import shutil
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from dbversus.dbms.known import find_dbms
from dbversus.dbms.sql.session import utf8_sql
from dbversus.errors import RunError
from dbversus.experiment.rig.data.ddl import culprit, run_when_loaded
from dbversus.experiment.rig.data.drawn import put_back, read_drawn
from dbversus.experiment.rig.data.refused import LoadRefused, refuse
from dbversus.experiment.rig.data.script import run_scripts
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.experiment.rig.memory import lift_limit
from dbversus.experiment.rig.recovery import through_engine_loss
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.host.user import server_user
from dbversus.results.records import Load, LoadFigures
from dbversus.servers.config.run_time import acts_on_data
from dbversus.servers.data import snapshot
from dbversus.suites.load import is_bundled
from dbversus.suites.model import EMPTY, LOADED
from dbversus.suites.send.define import loads

# 2: keyed by all of a config that is not known to act at run time alone; the load's own story is kept beside the data
LAYOUT_VERSION = 2
_STORY = "load.json"


@dataclass(frozen=True)
class LoadStory:
    """How a snapshot came to be: figures per table, when (ISO 8601), of which target, and with what server.

    `config`: all settings and variables, also those that act at run time alone: a load is as fast as they make it. `passed_over`:
    what of the scripts was not run as it stands.
    """

    loaded_at: str
    label: str
    config: dict[str, dict[str, str]]
    tables: list[dict[str, Any]]
    passed_over: list[str] = field(default_factory=list)

    def is_of(self, target: Target) -> bool:
        return self.label == target.label and self.config == _whole_config(target)


def _whole_config(target: Target) -> dict[str, dict[str, str]]:
    config = target.server.config
    return {"settings": dict(config.settings), "environment": dict(config.environment)}


def table_definitions(rig: Rig, target: Target) -> list[dict[str, Any]]:
    """The engine's description of each table: its SQL in the target's dialect, its content the same for all."""
    return loads(rig.suite, rig.spec.table_size, rig.spec.tables, target.server.table_sql)


def load_all(rig: Rig) -> None:
    """Loads every target that has no snapshot yet, one after another, and keeps a snapshot of each, settled and stopped."""
    for target in rig.alive:
        key = snapshot_key(rig, target)
        rig.held.enter_context(snapshot.using(key))
        found = snapshot.find(key)
        if found:
            rig.display.doing(f"{target.label}: data is there from an earlier load")
            put_back(rig, found)
            if f"{target.name}{rig.size_suffix}" not in rig.progress.loaded:
                _journal_found(rig, target, found)
        else:
            try:
                found = _load(rig, target, key)
            except LoadRefused as error:
                refuse(rig, [target], str(error))
                continue
            except RunError as error:
                rig.failure(target, "load", str(error), final=True)
                continue
        target.snapshots[LOADED] = found


def make_empty(rig: Rig) -> None:
    """Makes a snapshot of every target whose tables have no rows, where the load is a test, which begins with it."""
    if not any(phase.data == EMPTY for phase in rig.suite.phases):
        return
    for target in rig.alive:
        definitions = [{**one, "rows": 0, "after": []} for one in table_definitions(rig, target)]
        key = snapshot_key(rig, target) | {
            "tables": [_as_created(one) for one in definitions],
            "data": EMPTY,
            "seed": 0,
        }
        rig.held.enter_context(snapshot.using(key))
        try:
            target.snapshots[EMPTY] = snapshot.find(key) or _keep_empty(rig, target, definitions, key)
        except RunError as error:
            rig.failure(target, "load", str(error), final=True)


def _as_created(definition: dict[str, Any]) -> dict[str, Any]:
    """Tables of all sizes are the same as long as they are empty."""
    return {name: definition[name] for name in ("name", "rows", "create")}


def _keep_empty(rig: Rig, target: Target, definitions: list[dict[str, Any]], key: dict[str, Any]) -> Path:
    def create() -> None:
        _initialise(rig, target)
        for number, definition in enumerate(definitions, 1):
            _load_table(rig, target, number, definition)
        _settle(rig, target)

    through_engine_loss(rig, create)
    rig.remove(target)
    return snapshot.keep(target.server.data_dir, key)


def snapshot_key(rig: Rig, target: Target) -> dict[str, Any]:
    """All that determines a snapshot's content; settings are in it unless they are known to act at run time alone."""
    scripts = [sha256 for script in rig.suite.scripts_for(target.build.dbms) for sha256 in script.sha256s]
    return {
        "layout": LAYOUT_VERSION,
        "dbms": target.build.dbms,
        "build": target.build.checksum,
        "config": acts_on_data(target.build.dbms, target.server.config, rig.spec.config_place),
        "tables": table_definitions(rig, target),
        "seed": rig.spec.seed,
        **({"scripts": scripts, "names": utf8_sql(target.build.dbms)} if scripts else {}),
        **({"drawn": drawn} if (drawn := sorted(one.file for one in rig.suite.drawn_when_loaded)) else {}),
        **_owner(target),
    }


def _owner(target: Target) -> dict[str, int]:
    """Data of one user can be read by no server of another. Without an owner, databases of SQLite are root's."""
    user = server_user()
    is_own = user.switch and (not user.is_shared or find_dbms(target.build.dbms).embedded)
    return {"owner": user.uid} if is_own else {}


def _load(rig: Rig, target: Target, key: dict[str, Any]) -> Path:
    """The snapshot of a new database with all tables; journals what their load took."""
    figures, passed_over, drawn = through_engine_loss(rig, lambda: _create(rig, target))
    rig.remove(target)
    story = LoadStory(_now(), target.label, _whole_config(target), figures, passed_over)
    _tell(rig, target, story)
    found = snapshot.keep(target.server.data_dir, key, extra={_STORY: json.dumps(asdict(story)), **drawn})
    put_back(rig, found)
    for of_table in figures:
        rig.note(_load_record(rig, target, story, of_table, earlier=False))
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _tell(rig: Rig, target: Target, story: LoadStory) -> None:
    for words in story.passed_over:
        rig.display.say(f"{target.label}: {words}")
        rig.remark(words, target)


def _create(rig: Rig, target: Target) -> tuple[list[dict[str, Any]], list[str], dict[str, str]]:
    """Creates, loads and settles a database, in place of what an attempt that lost the engine has left.

    Figures per table, what of the scripts was not run as it stands, and the values that tests draw from what scripts fill.
    """
    _initialise(rig, target)
    of_scripts = {table.name for table in rig.tables if table.made_by_scripts}
    definitions = list(enumerate(table_definitions(rig, target), 1))
    own = [(number, one) for number, one in definitions if one["name"] not in of_scripts]
    theirs = [(number, one) for number, one in definitions if one["name"] in of_scripts]
    figures = [_load_table(rig, target, number, definition) for number, definition in own]
    passed_over = run_scripts(rig, target)
    figures += [_load_table(rig, target, number, definition) for number, definition in theirs]
    run_when_loaded(rig, target)
    drawn = read_drawn(rig, target)
    _settle(rig, target)
    return figures, passed_over, drawn


def _initialise(rig: Rig, target: Target) -> None:
    """A new database without tables, and its server up."""
    rig.remove(target)
    shutil.rmtree(target.server.data_dir, ignore_errors=True)
    rig.display.doing(f"{target.label}: creating the database")
    target.server.initialise()
    lift_limit(target)
    rig.start(target)


def _settle(rig: Rig, target: Target) -> None:
    rig.display.doing(f"{target.label}: settling")
    target.tables = None
    target.server.settle(rig.names_of_tables(target))


def _load_table(rig: Rig, target: Target, number: int, definition: dict[str, Any]) -> dict[str, Any]:
    """Rows of each table are drawn from a seed of their own."""
    loading = f"loading {definition['rows']} rows into" if definition["rows"] else "creating"
    rig.display.doing(f"{target.label}: {loading} {definition['name']}")
    try:
        reply = rig.engine.call("load", target=target.name, seed=rig.spec.seed + number, table=definition)
    except EngineRefused as error:
        if error.statement and (words := culprit(target, error, error.statement)):
            raise LoadRefused(words) from error
        if error.kind == "server" and (where := _place(rig, definition["name"])):
            raise RunError(f"{where}: the rows of table '{definition['name']}' are refused: {error}") from error
        raise
    return {"table": definition["name"], **_figures(reply)}


def _place(rig: Rig, table: str) -> str:
    """Where a suite of the user's has it, as file and line; a suite that comes with dbversus is not what is wrong."""
    scope = rig.suite.scope(rig.spec.table_size, rig.spec.tables)
    places = (rules.place for rules in rig.suite.tables if table in {one.name for one in rules.tables(scope)})
    return next((str(place) for place in places if not is_bundled(place.source.path)), "")


def _figures(reply: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in reply.items() if name not in ("id", "done")}


def _journal_found(rig: Rig, target: Target, found: Path) -> None:
    """Figures of the target's own earlier load, or whose data it shares: one load is not the figure of two targets."""
    story = LoadStory(**json.loads(snapshot.read_extra(found, _STORY)))
    _tell(rig, target, story)
    for figures in story.tables:
        rig.note(_load_record(rig, target, story, figures, earlier=True))


def _load_record(rig: Rig, target: Target, story: LoadStory, of_table: dict[str, Any], *, earlier: bool) -> Load:
    figures, shares = (msgspec.convert(of_table, LoadFigures), None) if story.is_of(target) else (None, story.label)
    return Load(target.name, f"{of_table['table']}{rig.size_suffix}", earlier, story.loaded_at, shares, figures)


def restore(target: Target, data: str = LOADED) -> None:
    """Puts a snapshot's data in place of whatever the target's data directory holds."""
    if data not in target.snapshots:
        raise RunError(f"{target.label} has no snapshot of {data} data to restore.")
    snapshot.restore(target.snapshots[data], target.server.data_dir)
