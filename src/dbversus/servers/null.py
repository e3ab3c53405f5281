"""The echo server inside the engine: the floor of one request. There is nothing to create, start or settle."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbversus.builds.model import Build
from dbversus.dbms.sql.table import Table
from dbversus.errors import UsageError
from dbversus.servers.base import DATABASE, Executed, Execution, Placement, Query, ServerConfig
from dbversus.servers.data.contents import TableState
from dbversus.servers.embedded import WithoutProcess
from dbversus.servers.objects import Moment, ObjectFigures


class NullServer(WithoutProcess):
    """Accepts one setting, `reply_bytes`: the size of an answer (200 by default)."""

    dbms = "null"
    deferred_work_s = 0.0

    def __init__(self, build: Build, config: ServerConfig, work_dir: Path):
        self.build = build
        self.config = config
        self.data_dir = work_dir.absolute() / "data"
        self.database_name = DATABASE
        self.notes: list[str] = []
        self._running = False

    def check(self) -> None:
        for name, value in self.config.settings.items():
            if name != "reply_bytes" or not value.isdigit() or int(value) == 0:
                raise UsageError(
                    f"null does not take {name}={value}; reply_bytes and a whole number from 1 are accepted."
                )

    def initialise(self) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)

    def start(self, placement: Placement) -> None:
        self._running = True

    def settle(self, tables: Sequence[str]) -> dict[str, float]:
        return {}

    def vacuum(self, tables: Sequence[str]) -> dict[str, float]:
        return {}

    def warm(self, tables: Sequence[str]) -> None: ...

    def debt(self) -> dict[str, int]:
        return {}

    def settings(self) -> dict[str, str]:
        return dict(self.config.settings)

    def executed_plans(self, statements: Sequence[Execution], session_sql: Sequence[str]) -> list[Executed]:
        return [Executed() for _ in statements]

    def plan(self, sql: str, session_sql: Sequence[str] = ()) -> str:
        return ""

    def counters(self) -> dict[str, float]:
        return {}

    def objects(self, moment: Moment) -> ObjectFigures:
        return ObjectFigures()

    def space(self) -> dict[str, int]:
        return {"database_bytes": 0, "data_dir_bytes": 0}

    def sizes(self) -> dict[str, int]:
        return {}

    def state(self, tables: Sequence[Table], *, counted: bool) -> dict[str, TableState]:
        return {}

    def own_tables(self) -> list[Table]:
        return []

    def config_text(self) -> str:
        return "".join(f"{name} = {value}\n" for name, value in self.config.settings.items())

    def administer_with(self, query: Query) -> None: ...

    def engine_target(self, name: str, placement: Placement) -> dict[str, Any]:
        address = {setting: int(value) for setting, value in self.config.settings.items()}
        return {"name": name, "wire": "null", "address": address}

    def table_sql(self, table: Table) -> tuple[list[str], list[str]]:
        return [], []
