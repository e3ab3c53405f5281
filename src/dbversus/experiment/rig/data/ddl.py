"""What a target's config says of tables and indexes (`[ddl]`): whether the suite has them, and whether the server took it."""

from collections.abc import Sequence

from dbversus.dbms.sql.ddl import NONE, PRIMARY_KEY, Ddl, unknown
from dbversus.dbms.sql.table import Table
from dbversus.errors import UsageError
from dbversus.experiment.rig.data.refused import LoadRefused
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.servers.base import ServerConfig


def check_ddl(config: ServerConfig, tables: Sequence[Table]) -> None:
    """Raises UsageError with file and line for a line of [ddl] about a table or index that the suite does not have."""
    own = [table for table in tables if not table.made_by_scripts]
    for name in config.ddl:
        if why := unknown(name, own):
            raise UsageError(f"{config.places.get(f'ddl.{name}', '[ddl]')}: '{name}': {why}.")


def run_when_loaded(rig: Rig, target: Target) -> None:
    """Runs what is to be run when everything has been loaded."""
    for sql in Ddl(target.server.config.ddl).when_loaded:
        rig.display.doing(f"{target.label}: {sql}")
        try:
            rig.engine.call("query", target=target.name, sql=sql)
        except EngineRefused as error:
            if error.kind != "server":  # it did not get so far
                raise
            raise LoadRefused(culprit(target, error, sql)) from error


def culprit(target: Target, error: EngineRefused, statement: str) -> str:
    """The lines of [ddl] that made a statement which the server has refused, in a sentence; empty when none did."""
    config = target.server.config
    found = {name: value for name, value in config.ddl.items() if _made(name, value, statement)}
    if not found:
        return ""
    where = config.places.get(f"ddl.{next(iter(found))}", "[ddl]")
    lines = " and ".join(f"'{name} = {value}'" for name, value in found.items())
    return f"{where}: {target.label} refuses what {lines} makes of a statement: {error} (statement: {statement})"


def _made(name: str, value: str, statement: str) -> bool:
    """Whether a line has a part in a statement: its text is in it, or a primary key is not."""
    if value.lower() == NONE:
        return name.startswith(PRIMARY_KEY) and statement.startswith("CREATE TABLE")
    return value.split("{")[0] in statement
