import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.builds.model import Build
from dbversus.builds.store import list_installed
from dbversus.dbms.known import names_of
from dbversus.dbms.model import Family
from dbversus.dbms.versions import numbers
from dbversus.errors import RunError, UsageError
from dbversus.explain.executed import total_ms
from dbversus.host import processes
from dbversus.servers.base import Execution, Placement, ServerConfig
from dbversus.servers.config.load import available_configs, load_config
from dbversus.servers.config.refused import SettingsRefusedError
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.data.snapshot import copy_tree
from dbversus.servers.mysql import query as mysql_query
from dbversus.servers.mysql.server import MysqlServer
from dbversus.servers.objects import ObjectFigure, sources

from ...left_out import build_at_hand, not_meant_for
from ...tables import called, sbtest

pytestmark = pytest.mark.e2e

SIZING = Sizing(memory_bytes=512 * 2**20, targets=2, cpus=2)
DEFAULT = "mariadb:10.11"
NEEDS_FETCHING = {"jemalloc", "tcmalloc", "mimalloc"}
ROWS = 3000
CONNECTION_ENDS_WITHIN_S = 0.3
"""For a moment 5.6 counts a connection that is ending twice."""
PRIMARY_READ = ObjectFigure("index", "sbtest1.PRIMARY", "read_rows")


def _targets() -> list[str]:
    """DBVERSUS_TEST_MYSQL names them; otherwise the newest of each series that is installed, or a small one."""
    if named := os.environ.get("DBVERSUS_TEST_MYSQL"):
        return named.split()
    installed = [build for dbms in names_of(Family.MYSQL) for build in list_installed(dbms)]
    newest = {(build.dbms, numbers(build.version)[:2]): build for build in installed}
    return [f"{build.dbms}:{build.provider}/{build.version}" for build in newest.values()] or [DEFAULT]


@pytest.fixture(scope="session", params=_targets())
def each_build(request: pytest.FixtureRequest) -> Build:
    return build_at_hand(request.param)


@pytest.fixture(scope="session")
def build() -> Build:
    return build_at_hand(os.environ.get("DBVERSUS_TEST_MYSQL", DEFAULT).split()[0])


def make(build: Build, work_dir: Path, *items: str) -> MysqlServer:
    """Logs are small and nothing waits for the disk: creating and copying data is most of what these tests do."""
    return MysqlServer(build, load_config(build.dbms, build.version, [*_small_logs(build), *items], SIZING), work_dir)


def _small_logs(build: Build) -> list[str]:
    names = {item.name for item in available_configs(build.dbms)["base"].items if item.applies(build.version)}
    sizes = {"innodb_log_file_size": "16M", "innodb_redo_log_capacity": "32M", "innodb_log_buffer_size": "8M"}
    return [f"{name}={size}" for name, size in sizes.items() if name in names]


def load(server: MysqlServer) -> None:
    create, after = server.table_sql(sbtest())
    values = [(number, number % 100, "c" * 119, "p" * 59) for number in range(1, ROWS + 1)]
    with server.connect() as connection:
        for statement in create:
            mysql_query.rows(connection, statement)
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO sbtest1 (id, k, c, pad) VALUES (%s, %s, %s, %s)", values)
        for statement in after:
            mysql_query.rows(connection, statement)


@pytest.fixture(scope="session")
def loaded_data(build: Build, loading_dir: Path) -> Iterator[Path]:
    """The data directory of a stopped server with sbtest1 in it, not settled."""
    server = make(build, loading_dir / "mysql")
    server.work_dir.mkdir()
    try:
        server.initialise()
        server.start(Placement())
        load(server)
        server.stop()
        yield server.data_dir
    finally:
        server.kill()


@pytest.fixture
def server(build: Build, loaded_data: Path, work_dir: Path) -> Iterator[MysqlServer]:
    """A stopped server on a copy of the loaded data."""
    copy_tree(loaded_data, work_dir / "data")
    made = make(build, work_dir)
    yield made
    made.kill()


def test_a_life(each_build: Build, work_dir: Path) -> None:
    """One start for many questions: a start is what takes time here."""
    server = make(each_build, work_dir)
    server.initialise()
    assert not server.is_running()
    server.start(Placement())
    try:
        load(server)
        _check_debt(server)
        _check_facts(server)
        _check_plans(server)
        _check_state(server)
    finally:
        server.stop()
    assert not server.is_running()
    assert not processes.working_in(server.data_dir, str(server._program().resolve()))
    assert "shutdown complete" in server.log_tail().lower()
    server.stop()


def _check_debt(server: MysqlServer) -> None:
    with server.connect() as connection:
        mysql_query.rows(connection, "UPDATE sbtest1 SET k = k + 1 WHERE id <= 500")
        mysql_query.rows(connection, "INSERT INTO sbtest1 (k) VALUES (1)")
        assert mysql_query.scalar(connection, "SELECT max(id) FROM sbtest1") == ROWS + 1
    owed = server.debt()
    kinds = {"memtable_bytes", "l0_files"} if server.dbms == "myrocks" else {"dirty_pages", "history_list"}
    assert kinds <= set(owed)
    assert any(owed.values()), owed
    _check_unwritten(server)
    spent = server.settle(["sbtest1"])
    assert not [name for name in spent if name.startswith("remains.")], spent
    assert not any(server.debt().values())
    _check_levels(server)
    server.warm(["sbtest1"])
    assert not any(server.debt().values())


def _check_unwritten(server: MysqlServer) -> None:
    """Each changed page is written twice, by way of the doublewrite buffer."""
    if server.dbms == "myrocks" or numbers(server.build.version) < (5, 6):
        return
    unwritten = server.objects("end").values[ObjectFigure("server", "InnoDB", "unwritten_bytes")]
    assert unwritten > 0 and unwritten % (2 * 16384) == 0, unwritten


def _check_levels(server: MysqlServer) -> None:
    """Where there is an LSM tree and all debt is paid, its first level is empty, and others have what there is."""
    found = server.objects("phase")
    files = {one.object: count for one, count in found.values.items() if one.figure == "files"}
    sizes = [size for one, size in found.values.items() if one.figure == "size_bytes"]
    assert not found.lacking and "default.L0" not in files
    assert bool(files) == bool(sum(sizes)) == (server.dbms == "myrocks")


def _check_objects(server: MysqlServer, rows_before: float) -> None:
    """Every source is taken by this version; what is left out is off, or would take too long."""
    rise, held, cached = server.objects("rise"), server.objects("end"), server.objects("first")
    known = {source.lacking for of_moment in sources("mysql").values() for source in of_moment}
    assert {*rise.lacking.values(), *held.lacking.values(), *cached.lacking.values()} <= known
    if "rows of indexes (performance_schema)" not in rise.lacking:
        assert rise.values[PRIMARY_READ] == rows_before + 1
    if numbers(server.build.version) >= (5, 6):
        assert held.values[ObjectFigure("index", "sbtest1.k_1", "size_bytes")] > 0


def _check_facts(server: MysqlServer) -> None:
    settings = server.settings()
    assert settings["sync_binlog"] == "0"
    assert settings["log_bin"] == "ON"
    assert settings["skip_networking"] == "ON"
    assert settings["character_set_server"] == "latin1"
    assert Path(settings["tmpdir"]) == server.work_dir / "tmp"
    time.sleep(CONNECTION_ENDS_WITHIN_S)
    before = server.counters()
    rows_before = server.objects("rise").values.get(PRIMARY_READ, 0.0)
    with server.connect() as connection:
        mysql_query.rows(connection, "SELECT count(*) FROM sbtest1 WHERE k BETWEEN 1 AND 5")
        mysql_query.rows(connection, "SELECT c FROM sbtest1 WHERE id = 5")
    after = server.counters()
    _check_objects(server, rows_before)
    assert after["status.com_select"] > before["status.com_select"]
    assert not {name for name in before.keys() & after.keys() if after[name] < before[name]}
    assert after.keys() >= before.keys()
    sizes = server.sizes()
    assert sizes["data_dir"] > sizes["database"] > sizes["table.sbtest1"] > 0
    assert sizes["log"] > 0
    assert sizes["binlog"] > 0
    space = server.space()
    assert space["data_dir_bytes"] > space["database_bytes"] >= sizes["table.sbtest1"]
    assert sizes.get("index.k_1", sizes.get("index.sbtest1", 0)) > 0
    assert len(server.status_text()) > 500


def _check_state(server: MysqlServer) -> None:
    """Rows as left by `_check_debt`: one was added and has the next id."""
    state = server.state([sbtest()], counted=True)["sbtest1"]
    assert (state.rows, state.rows_counted, state.lowest_id, state.highest_id) == (ROWS + 1, True, 1, ROWS + 1)
    assert [column.split()[0] for column in state.columns] == ["id", "k", "c", "pad"]
    assert "c char(120) NOT NULL" in state.columns
    assert state.indexes == ("PRIMARY (id) UNIQUE", "k_1 (k)")
    has_statistics = server.dbms == "myrocks" or numbers(server.build.version) >= (5, 6)
    assert (state.statistics_rows is not None) == has_statistics
    assert 0.5 * ROWS < (state.statistics_rows or ROWS) < 2 * ROWS
    with server.connect() as connection:
        mysql_query.rows(connection, "DELETE FROM sbtest1 WHERE id > 10")
    assert server.state([sbtest()], counted=True)["sbtest1"].rows == 10
    estimated = server.state([sbtest()], counted=False)["sbtest1"]
    assert not estimated.rows_counted and estimated.rows == estimated.statistics_rows
    with pytest.raises(RunError, match="gone"):
        server.state([called("gone")], counted=True)


def _check_plans(server: MysqlServer) -> None:
    assert "key=PRIMARY" in server.plan("SELECT c FROM sbtest1 WHERE id = 5")
    assert "key=k_1" in server.plan("SELECT k FROM sbtest1 WHERE k BETWEEN 5 AND 6")
    assert server.plan("UPDATE sbtest1 SET k = k + 1 WHERE id = 5")
    with pytest.raises(RunError, match="gone"):
        server.plan("SELECT * FROM gone")
    with pytest.raises(RunError, match="syntax"):
        server.plan("CREATE TABLE own AS SELECT * FROM sbtest1")
    assert "does not explain" in server.plan("CREATE INDEX c_1 ON sbtest1 (c)")
    assert "key=PRIMARY" in server.plan("SELECT c FROM sbtest1 WHERE id = 5")
    _check_executed_plans(server)


def _check_executed_plans(server: MysqlServer) -> None:
    """As far as the version executes statements to tell their plans; nothing of it stays."""
    found, gone, updated = server.executed_plans(
        [
            Execution("SELECT c FROM sbtest1 WHERE id = 5", 5),
            Execution("SELECT * FROM gone", 5),
            Execution("UPDATE sbtest1 SET k = k + 1000000 WHERE id = 5", 5),
        ],
        ["SET SESSION sort_buffer_size = 262144"],
    )
    executes = server.flavour.mariadb_since(10, 1) or server.flavour.mysql_since(8, 0, 18)
    assert bool(found.plan) is executes and ("key=PRIMARY" in found.plan) is executes
    assert (total_ms(found.plan) is not None) is executes and ("gone" in gone.refused) is executes
    assert found.planning_ms is not None and found.planning_ms > 0, "told by all versions, of queries"
    assert bool(updated.plan) is server.flavour.mariadb_since(10, 1)
    with server.connect() as connection:
        assert mysql_query.rows(connection, "SELECT count(*) FROM sbtest1 WHERE k > 1000000") == [(0,)]


def test_all_configs_for_this_version_are_accepted(each_build: Build, work_dir: Path) -> None:
    for name, file in available_configs(each_build.dbms).items():
        if file.applies(each_build.version) and name not in NEEDS_FETCHING:
            make(each_build, work_dir, name).check()
    assert list(work_dir.iterdir()) == []


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            "innodb_flush_neighbours=1",
            r"unknown variable 'innodb_flush_neighbours=1' \(did you mean 'innodb_flush_neighbors'\?\)",
        ),
        ("innodb_io_capacity=5", "it makes innodb_io_capacity = 5 into 100; choose another value or leave it out"),
        ("max_connections=0", "it makes max_connections = 0 into"),
        ("innodb_flush_log_at_trx_commit=lots", "innodb.flush.log.at.trx.commit"),
        ("sync_binlog=-7", "Incorrect unsigned value: '-7' for sync_binlog"),
        ('init_connect=a"b', "double quote"),
        ("init.compression=on", "init option 'compression' is unknown for mariadb; accepted: innodb_page_size"),
    ],
)
def test_a_setting_that_the_server_refuses_is_told_before_anything_is_made(
    build: Build, work_dir: Path, item: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        make(build, work_dir, item).check()
    assert list(work_dir.iterdir()) == []


def test_data_is_created_as_the_config_says(build: Build, work_dir: Path) -> None:
    """The database has the character set of the config, its tables row format and page size."""
    items = ("innodb_page_size=8192", "lower_case_table_names=1", "innodb_default_row_format=REDUNDANT")
    server = make(build, work_dir, *items, "character_set_server=utf8mb4")
    server.initialise()
    server.start(Placement())
    try:
        with server.connect() as connection:
            mysql_query.rows(connection, server.table_sql(sbtest())[0][0])
            (table,) = mysql_query.rows(
                connection,
                "SELECT row_format, table_collation FROM information_schema.tables WHERE table_name = 'sbtest1'",
            )
            assert table[0] == "Redundant" and table[1].startswith("utf8mb4_")
            known = mysql_query.variables(connection)
            assert (known["innodb_page_size"], known["lower_case_table_names"]) == ("8192", "1")
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            "init.innodb_pagesize=8192",
            "init option 'innodb_pagesize' is unknown for .*; accepted: innodb_page_size, .*_names",
        ),
        ("lower_case_table_names=2", "init option lower_case_table_names is '2'; accepted: 0 or 1"),
    ],
)
def test_options_of_creation_with_a_mistake_are_refused(build: Build, work_dir: Path, item: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make(build, work_dir, item).check()


def test_a_warning_of_the_server_is_a_note(build: Build, work_dir: Path) -> None:
    server = make(build, work_dir, "key_buffer=16M")
    server.check()
    assert any("unique option prefix" in note and "key_buffer_size" in note for note in server.notes)


def test_all_that_a_server_refuses_is_told_at_once(each_build: Build, work_dir: Path) -> None:
    items = ["foo_bar=1", "sort_buffer_size=2M", "max_connections=0", "key_buffer_size=16M", "sql_mode=NO_SUCH_MODE"]
    with pytest.raises(SettingsRefusedError) as caught:
        make(each_build, work_dir, *items).check()
    assert [one.name for one in caught.value.refused] == ["foo_bar", "max_connections", "sql_mode"]
    assert "does not accept 3 of its settings:\n  'foo_bar=1': " in str(caught.value)
    assert list(work_dir.iterdir()) == []


def test_a_value_that_is_changed_in_silence_is_refused_by_every_version(each_build: Build, work_dir: Path) -> None:
    with pytest.raises(UsageError, match=r"does not accept its settings: .*max_connections"):
        make(each_build, work_dir, "max-connections=0").check()
    spelled = [
        "max_connections=20",
        "skip-name-resolve=",
        "sort_buffer_size=2M",
        "innodb_file_per_table=TRUE",
        'sql_mode=""',
    ]
    server = make(each_build, work_dir, *spelled, "key_buffer_size=12345679")
    server.check()
    assert any("key_buffer_size = 12345679 is rounded to 12345" in note for note in server.notes), server.notes


def test_what_innodb_makes_of_a_value_as_it_starts_is_refused_where_the_target_chose_it(server: MysqlServer) -> None:
    """The setting is adjusted by InnoDB, which no check reaches."""
    asked = {**server.config.settings, "innodb_buffer_pool_size": "6M", "innodb_lru_scan_depth": "300"}
    config = ServerConfig("x", {**asked, "innodb_io_capacity": "2000", "innodb_io_capacity_max": "1000"})
    changed = MysqlServer(server.build, config, server.work_dir)
    changed.start(Placement())
    changed.stop()
    assert any("innodb_io_capacity" in note for note in changed.notes), changed.notes
    chosen = replace(config, chosen=frozenset({"innodb_io_capacity", "innodb_io_capacity_max"}))
    with pytest.raises(RunError, match=r"innodb_io_capacity.* was asked for, and the server runs with"):
        MysqlServer(server.build, chosen, server.work_dir).start(Placement())


def test_the_engine_is_told_all_it_needs(server: MysqlServer) -> None:
    server.start(Placement())
    target = server.engine_target("t0", Placement())
    address = target["address"]
    assert Path(address["socket"]).is_socket()
    assert Path(address["socket"]).parent.stat().st_mode & 0o777 == 0o700
    assert (target["wire"], address["user"], address["database"]) == ("mysql", "dbversus", "dbversus")
    assert target["account"]["root_pid"] == server.root_pid
    json.dumps(target)
    if os.geteuid() == 0:
        assert Path(f"/proc/{server.root_pid}").stat().st_uid != 0
    server.stop()
    assert not Path(address["socket"]).parent.exists()


def test_the_data_of_another_build_is_refused(server: MysqlServer) -> None:
    marker = server.data_dir / "dbversus.build"
    marker.write_text("mysql 5.6.24\n")
    with pytest.raises(UsageError, match=r"was made by mysql 5\.6\.24; .* is not started on it"):
        server.start(Placement())
    marker.unlink()
    (server.data_dir / "mysql_upgrade_info").write_text("5.6.24")
    with pytest.raises(UsageError, match=r"is of version 5\.6\.24; "):
        server.start(Placement())


def test_a_server_needs_data_and_makes_it_only_where_there_is_none(build: Build, work_dir: Path) -> None:
    server = make(build, work_dir)
    with pytest.raises(RunError, match="there is no data in"):
        server.start(Placement())
    server.data_dir.mkdir()
    (server.data_dir / "precious").touch()
    with pytest.raises(RunError, match="exists but is not empty"):
        server.initialise()


def test_a_start_that_fails_tells_the_servers_own_words(server: MysqlServer) -> None:
    config = ServerConfig("bad", {**server.config.settings, "log_bin": "/nowhere/binlog"})
    broken = MysqlServer(server.build, config, server.work_dir)
    with pytest.raises(RunError, match=r"did not start: .*/nowhere/binlog"):
        broken.start(Placement())
    assert not broken.is_running()
    server.start(Placement())
    server.stop()


def test_redo_logs_of_another_size_are_taken(build: Build, server: MysqlServer) -> None:
    if "innodb_log_file_size" not in server.config.settings:
        not_meant_for("a version that sizes its redo logs as it runs")
    config = ServerConfig("x", {**server.config.settings, "innodb_log_file_size": "24M"})
    other = MysqlServer(build, config, server.work_dir)
    other.start(Placement())
    assert other.settings()["innodb_log_file_size"] == str(24 * 2**20)
    other.stop()


def test_a_table_in_the_wrong_storage_engine_is_an_error(server: MysqlServer) -> None:
    server.start(Placement())
    with server.connect() as connection:
        mysql_query.rows(connection, "CREATE TABLE sbtest2 (id INTEGER PRIMARY KEY) ENGINE=MyISAM")
    with pytest.raises(RunError, match=r"table sbtest2 should be \w+ and is MyISAM"):
        server.settle(["sbtest1", "sbtest2"])
    with pytest.raises(RunError, match=r"table sbtest3 should be \w+ and is missing"):
        server.settle(["sbtest3"])


def test_a_missing_rocksdb_plugin_names_its_package(build: Build, work_dir: Path) -> None:
    if build.dbms == "myrocks":
        not_meant_for("a build that has the plugin")
    without = Build("myrocks", build.version, "path", build.prefix, "test", environment=build.environment)
    who = "mariadb-plugin-rocksdb" if build.dbms == "mariadb" else "Oracle's MySQL has none"
    with pytest.raises(UsageError, match=rf"has no ha_rocksdb\.so.*{who}"):
        make(without, work_dir).check()


def test_a_library_that_is_not_preloaded_is_an_error(server: MysqlServer) -> None:
    config = ServerConfig("x", server.config.settings, {"LD_PRELOAD": "/nowhere/libjemalloc.so"})
    broken = MysqlServer(server.build, config, server.work_dir)
    with pytest.raises(RunError, match=r"LD_PRELOAD=/nowhere/libjemalloc\.so: .*cannot be preloaded"):
        broken.start(Placement())
    assert not broken.is_running()


def test_a_killed_server_leaves_nothing_and_can_be_started_again(server: MysqlServer) -> None:
    server.start(Placement())
    assert server.root_pid
    os.kill(server.root_pid, signal.SIGKILL)
    end = time.monotonic() + 600
    while server.is_running() and time.monotonic() < end:
        time.sleep(0.01)
    server.stop()
    server.start(Placement())
    assert "sbtest1" in server.plan("SELECT * FROM sbtest1")
    pid = server.root_pid
    server.kill()
    assert not processes.is_alive(pid)


def test_an_incomplete_build_is_refused(work_dir: Path) -> None:
    with pytest.raises(RunError, match="has no bin/mariadbd or "):
        make(Build("mysql", "8.0.33", "path", work_dir, "test"), work_dir).check()


def test_tables_that_nobody_told_of(server: MysqlServer) -> None:
    """In whatever engine their maker chose, with partitions, indexes over texts, and over expressions where there are some."""
    server.start(Placement())
    made = [
        "CREATE TABLE notes (code CHAR(4) PRIMARY KEY, body TEXT, FULLTEXT KEY of_body (body)) ENGINE=InnoDB",
        "CREATE TABLE log (line INT) ENGINE=MyISAM",
        "CREATE TABLE days (day DATE PRIMARY KEY, n INT, KEY by_n (n)) ENGINE=InnoDB PARTITION BY KEY (day) PARTITIONS 3",
        "CREATE VIEW seen AS SELECT * FROM notes",
        "INSERT INTO notes VALUES ('b', 'one'), ('a', 'two')",
        "INSERT INTO days SELECT DATE '2024-01-01' + INTERVAL id DAY, k FROM sbtest1",
    ]
    if server.flavour.mysql_since(8, 0, 13):
        made.append("CREATE INDEX of_lower ON notes ((LOWER(code)))")
    with server.connect() as connection:
        for statement in made:
            mysql_query.rows(connection, statement)
    tables = server.own_tables()
    assert [(table.name, table.key) for table in tables] == [
        ("days", ""),
        ("log", ""),
        ("notes", "code"),
        ("sbtest1", "id"),
    ]
    names = [table.name for table in tables]
    server.settle(names)
    server.warm(names)
    state = server.state(tables, counted=True)
    assert [state[name].rows for name in names] == [ROWS, 0, 2, ROWS]
    assert (state["notes"].lowest_id, state["notes"].highest_id) == ("a", "b")
    sizes = server.sizes()
    assert sizes["table.days"] >= 3 * 16384 and sizes["index.by_n"] >= 3 * 16384
