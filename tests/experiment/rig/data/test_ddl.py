"""Lines of [ddl] that do not fit: told with file and line."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbversus.dbms.sql.table import Column, Index, Table
from dbversus.errors import UsageError
from dbversus.experiment.rig.data.ddl import check_ddl, culprit
from dbversus.experiment.rig.engine import EngineRefused
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.load import load_config
from dbversus.servers.config.run_time import acts_on_data
from dbversus.servers.config.sizing import Sizing

SIZING = Sizing(memory_bytes=2**30)
ORDERS = Table("orders", (Column("id", "int8"),), ("id",), (Index("by_id", ("id",)),))
TEXT = """# Fewer indexes.
[ddl]
index.by_id = none
table = 'WITH (fillfactor = {cpus * 50}) /* {table} */'
[ddl since 30]
index = none
"""


def config(folder: Path, text: str, *items: str, dbms: str = "postgres") -> ServerConfig:
    (folder / dbms).mkdir(exist_ok=True)
    (folder / dbms / "mine.conf").write_text(text)
    return load_config(dbms, "17.2", ["mine", *items], SIZING, folder)


def test_a_section_of_a_config_says_how_tables_are_made(tmp_path: Path) -> None:
    found = config(tmp_path, TEXT, "ddl.primary_key=none", "ddl.index.by_id=WITH (fillfactor=60)")
    assert found.ddl == {
        "index.by_id": "WITH (fillfactor=60)",
        "table": "WITH (fillfactor = 50) /* {table} */",
        "primary_key": "none",
    }
    assert found.places["ddl.table"].endswith("mine.conf:4")
    assert "ddl" in acts_on_data("postgres", found) and "ddl" not in acts_on_data("postgres", ServerConfig("", {}))
    check_ddl(found, [ORDERS])


def test_mistakes_name_their_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine.conf:2: 'engine': only the MySQL family has storage engines"):
        config(tmp_path, "[ddl]\nengine = MyISAM\n")
    assert config(tmp_path, "[ddl]\nengine = MyISAM\n", dbms="mysql").ddl == {"engine": "MyISAM"}
    with pytest.raises(UsageError, match=r"mine.conf:2: 'index.k': the suite has no index 'k'; it has by_id"):
        check_ddl(config(tmp_path, "[ddl]\nindex.k = none\n"), [ORDERS])


def test_a_statement_that_is_refused_names_the_lines_that_made_it(tmp_path: Path) -> None:
    server = SimpleNamespace(config=config(tmp_path, "[ddl]\nindex = 'WITH (no = 1)'\n"))
    target: Any = SimpleNamespace(server=server, label="postgres:17@mine")
    error = EngineRefused("server", "unrecognized parameter", "t0")
    said = culprit(target, error, "CREATE INDEX by_id ON orders (id) WITH (no = 1)")
    assert said.partition("mine.conf:2: ")[2].startswith("postgres:17@mine refuses what 'index = WITH (no = 1)' makes")
    assert culprit(target, error, "CREATE TABLE orders (id BIGINT)") == ""
    server.config = ServerConfig("", {}, ddl={"primary_key": "none", "index": "none"})
    said = culprit(target, error, "CREATE TABLE orders (id BIGINT AUTO_INCREMENT)")
    assert said.startswith("[ddl]: postgres:17@mine refuses what 'primary_key = none' makes of a statement: ")
