from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.errors import UsageError
from dbversus.servers import create_server
from dbversus.servers.base import Placement, ServerConfig


@pytest.mark.parametrize("dbms", ["postgres", "mysql", "mariadb", "myrocks", "sqlite", "null"])
def test_every_dbms_has_its_server(dbms: str, tmp_path: Path) -> None:
    server = create_server(Build(dbms, "1", "bundled", Path("bundled"), ""), ServerConfig("base", {}), tmp_path)
    assert server.dbms == dbms
    assert server.data_dir == tmp_path / "data"
    assert not list(tmp_path.iterdir())


def test_an_unknown_dbms_names_those_known(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="unknown DBMS 'oracle'; known are postgres, mysql, mariadb, myrocks, sqlite, null"
    ):
        create_server(Build("oracle", "1", "path", tmp_path, ""), ServerConfig("base", {}), tmp_path)


def test_null_takes_the_size_of_its_replies_and_nothing_else(tmp_path: Path) -> None:
    build = Build("null", "floor", "engine", Path("bundled"), "")
    server = create_server(build, ServerConfig("x", {"reply_bytes": "500"}), tmp_path)
    server.check()
    assert server.engine_target("t0", Placement())["address"] == {"reply_bytes": 500}
    with pytest.raises(UsageError, match="reply_bytes"):
        create_server(build, ServerConfig("x", {"work_mem": "5"}), tmp_path).check()
