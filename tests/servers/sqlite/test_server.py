import ctypes.util
import sqlite3
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.errors import RunError, UsageError
from dbversus.explain.executed import counts_of, total_ms
from dbversus.servers.base import Execution, Placement
from dbversus.servers.config.load import load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.objects import ObjectFigure
from dbversus.servers.sqlite.server import SqliteServer

from ...tables import sbtest

BUNDLED = Build("sqlite", "bundled", "bundled", Path("bundled"), "")


def host_library() -> Build:
    name = ctypes.util.find_library("sqlite3")
    if name is None:
        pytest.skip("this host has no libsqlite3")
    library = ctypes.CDLL(name)
    library.sqlite3_libversion.restype = ctypes.c_char_p
    return Build("sqlite", library.sqlite3_libversion().decode(), "host", Path(name), "")


@pytest.fixture(params=["bundled", "host"])
def build(request: pytest.FixtureRequest) -> Build:
    return BUNDLED if request.param == "bundled" else host_library()


def make(build: Build, work_dir: Path, *items: str) -> SqliteServer:
    config = load_config("sqlite", build.version, items, Sizing(2**30, data_bytes=2**20))
    server = SqliteServer(build, config, work_dir)
    server.initialise()
    return server


def load(server: SqliteServer) -> None:
    create, after = server.table_sql(sbtest())
    with sqlite3.connect(server.database) as connection:
        for statement in create:
            connection.execute(statement)
        rows = ((number, number % 10, "c" * 119, "p" * 59) for number in range(1, 1001))
        connection.executemany("INSERT INTO sbtest1 VALUES (?, ?, ?, ?)", rows)
        for statement in after:
            connection.execute(statement)
    connection.close()


def test_a_life(build: Build, work_dir: Path) -> None:
    server = make(build, work_dir, "wal_sync_normal", "cache_64mb", "init.page_size=8192")
    server.check()
    server.start(Placement())
    load(server)
    keeper = sqlite3.connect(server.database)  # as a client would: the last to close would empty the log
    keeper.execute("UPDATE sbtest1 SET k = 0")
    keeper.commit()
    assert server.debt()["wal_bytes"] > 0
    spent = server.settle(["sbtest1"])
    assert not [name for name in spent if name.startswith("remains.")]
    assert server.debt() == {"wal_bytes": 0}
    keeper.close()
    settings = server.settings()
    assert (settings["journal_mode"], settings["synchronous"], settings["cache_size"]) == ("wal", "1", "-65536")
    assert settings["page_size"] == "8192"
    if build is not BUNDLED:
        assert settings["version"] == build.version
    assert "USING INTEGER PRIMARY KEY" in server.plan("SELECT c FROM sbtest1 WHERE id = 5")
    sql = "SELECT c FROM sbtest1 WHERE id = 5"
    text, prepared, gone = server.executed_plans(
        [Execution(sql, 5), Execution(sql, 5, numbered=sql), Execution("SELECT c FROM gone", 5)],
        ["PRAGMA cache_size = 9"],
    )
    assert text.planning_ms and prepared.planning_ms is None and "no such table" in gone.refused
    server.warm(["sbtest1"])
    assert server.sizes()["database"] > 100_000
    assert server.space()["data_dir_bytes"] >= server.space()["database_bytes"] == server.sizes()["database"]
    sizes, held = server.sizes(), server.objects("end")
    assert held.values[ObjectFigure("server", "database", "size_bytes")] == sizes["database"]
    if "index.k_1" in sizes:
        assert held.values[ObjectFigure("index", "sbtest1.k_1", "size_bytes")] == sizes["index.k_1"] > 0
    else:  # the library has no dbstat
        assert held.lacking
    assert server.is_running()
    server.stop()
    assert not server.is_running()


@pytest.mark.parametrize(
    "name", ["default", "wal", "wal_sync_normal", "rollback_sync_full", "sync_off", "mmap", "cache_64mb"]
)
def test_every_config_takes_effect(build: Build, work_dir: Path, name: str) -> None:
    server = make(build, work_dir, name)
    server.check()
    server.start(Placement())


def test_the_engine_is_told_where_and_how(work_dir: Path) -> None:
    target = make(BUNDLED, work_dir, "wal").engine_target("t1", Placement())
    assert target["address"] == {"path": str(work_dir / "data/db.sqlite"), "library": "bundled"}
    assert "PRAGMA journal_mode = wal" in target["session_sql"]
    assert "account" not in target
    assert target["disk"] == {"path": str(Path(target["address"]["path"]).parent)}


def test_the_engines_own_library_answers_where_it_is_given(work_dir: Path) -> None:
    server = make(BUNDLED, work_dir)
    server.query = lambda sql: [["4.0.0"]]
    assert server.settings()["version"] == "4.0.0"


def test_a_library_whose_connections_share_one_page_cache_is_told(work_dir: Path) -> None:
    server = make(BUNDLED, work_dir)
    server.query = lambda sql: [["ENABLE_MEMORY_MANAGEMENT" if sql == "PRAGMA compile_options" else "1"]]
    server.settings()
    assert "share one page cache" in server.notes[-1]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("jurnal_mode=wal", r"no PRAGMA 'jurnal_mode' \(did you mean 'journal_mode'\?\)"),
        ("cache_size=1; DROP TABLE x", "not a PRAGMA"),
        ("init.journal=1", "accepted: page_size, encoding, auto_vacuum"),
        ("page_size=3000", "does not take PRAGMA page_size = 3000: it stays at 4096"),
        ("init.encoding=latin1", "does not take PRAGMA encoding = latin1"),
    ],
)
def test_pragmas_that_sqlite_would_pass_over_in_silence_are_refused(work_dir: Path, item: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make(BUNDLED, work_dir, item)


def test_a_value_that_is_not_taken_is_told(build: Build, work_dir: Path) -> None:
    words = "does not take PRAGMA journal_mode = wall: it stays at delete"
    with pytest.raises(UsageError, match=words):
        make(build, work_dir, "journal_mode=wall")
    assert list(work_dir.iterdir()) == []
    made = make(build, work_dir)
    config = load_config("sqlite", build.version, ["journal_mode=wall"], Sizing(2**30))
    with pytest.raises(RunError, match=words):
        SqliteServer(build, config, made.work_dir).start(Placement())


def test_refusals_carry_the_librarys_own_words(build: Build, work_dir: Path) -> None:
    server = make(build, work_dir)
    with pytest.raises(RunError, match="no such table: gone"):
        server.plan("SELECT * FROM gone")
    server.plan("CREATE TABLE own AS SELECT 1 AS a")
    with pytest.raises(RunError, match="no such index: c_1"):
        server.plan("DROP INDEX c_1")
    assert "SCAN" in server.plan("SELECT * FROM (SELECT 1 AS a UNION ALL SELECT 2) ORDER BY a")
    server.database.unlink()
    with pytest.raises(RunError, match="there is no database"):
        server.start(Placement())


def test_what_acts_at_creation_alone_is_set_then(build: Build, work_dir: Path) -> None:
    server = make(build, work_dir, "page_size=8192", "encoding=UTF16le", "auto_vacuum=full")
    server.start(Placement())
    settings = server.settings()
    assert (settings["page_size"], settings["encoding"], settings["auto_vacuum"]) == ("8192", "UTF-16le", "1")


def test_a_library_that_cannot_be_loaded_is_named(work_dir: Path) -> None:
    (work_dir / "libsqlite3.so").write_text("no library")
    with pytest.raises(RunError, match=r'^SQLite library ".*/libsqlite3\.so" cannot be loaded: .*: file too short\.$'):
        make(Build("sqlite", "3.0", "path", work_dir / "libsqlite3.so", ""), work_dir)


@pytest.mark.parametrize(
    "sql",
    [
        "VACUUM INTO '{out}'",
        "ATTACH '{out}' AS other",
        "SELECT load_extension('libm.so.6')",
        "PRAGMA temp_store_directory = '{out}'",
    ],
)
def test_sql_stays_within_its_database(build: Build, work_dir: Path, sql: str) -> None:
    server = make(build, work_dir)
    out = work_dir / "out.db"
    with pytest.raises(RunError, match=r"not authorized|authorization denied"):
        server._query(sql.format(out=out))
    assert not out.exists()
    server._query("VACUUM")


def test_plans_that_ran_have_counts_and_change_nothing(build: Build, work_dir: Path) -> None:
    server = make(build, work_dir)
    server.start(Placement())
    load(server)
    point, scan, deleted, gone, after = server.executed_plans(
        [
            Execution("SELECT c FROM sbtest1 WHERE id = 5 -- one", 5),
            Execution("SELECT c FROM sbtest1 ORDER BY c", 5),
            Execution("DELETE FROM sbtest1", 5),
            Execution("SELECT gone FROM sbtest1", 5),
            Execution("SELECT 1", 5),
        ],
        ["PRAGMA cache_size = 100"],
    )
    assert point.plan.startswith("SEARCH") and total_ms(point.plan) is not None
    assert "fullscan_steps" not in counts_of(point.plan)
    assert counts_of(scan.plan)["fullscan_steps"] == 999 and counts_of(scan.plan)["sorts"] == 1
    assert counts_of(deleted.plan)["vm_steps"] > 0
    assert "no such column" in gone.refused and after.refused == "a statement before it failed"
    assert server._query("SELECT count(*) FROM sbtest1") == [["1000"]]
    assert server.executed_plans([], []) == []
