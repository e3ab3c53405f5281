import contextlib
import json
import os
import re
import signal
import time
from pathlib import Path

import psycopg
import pytest

from dbversus.builds.model import Build
from dbversus.errors import RunError, UsageError
from dbversus.host import processes
from dbversus.host.cgroups import create_cgroup
from dbversus.host.user import server_user
from dbversus.servers.base import Execution, Placement, ServerConfig
from dbversus.servers.config.load import available_configs, load_config
from dbversus.servers.config.refused import SettingsRefusedError
from dbversus.servers.config.sizing import Sizing
from dbversus.servers.log_event import CRASH
from dbversus.servers.objects import ObjectFigure
from dbversus.servers.postgres import debt
from dbversus.servers.postgres.debt import ROUNDS_IN_VAIN
from dbversus.servers.postgres.server import PostgresServer

from ...tables import sbtest

SIZING = Sizing(memory_bytes=512 * 2**20, targets=2, cpus=2)
NEEDS_LIBRARY = {"wal_lz4", "wal_zstd", "io_uring"}


def with_items(build: Build, work_dir: Path, *items: str) -> PostgresServer:
    return PostgresServer(build, load_config("postgres", build.version, items, SIZING), work_dir)


def test_a_life(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One start for many questions: a start is what takes time here."""
    server.start(Placement())
    assert server.is_running()
    assert server.debt()["rows_not_analyzed"] == 2000
    _check_events(server)
    with server.connect() as connection:
        connection.execute("UPDATE sbtest1 SET k = k + 1 WHERE id <= 500")
        assert connection.execute("INSERT INTO sbtest1 (k) VALUES (1) RETURNING id").fetchone() == (2001,)
    owed = server.debt()
    assert owed["wal_since_checkpoint_bytes"] > 0
    assert owed.get("dirty_buffers", 1) > 0
    monkeypatch.setattr(debt, "MANY_BUFFERS", 1)  # from so many on, those of catalogs count as well
    assert 0 <= server.debt().get("dirty_buffers", 0) - owed.get("dirty_buffers", 0) < 100
    monkeypatch.undo()

    spent = server.settle(["sbtest1"])
    assert not [name for name in spent if name.startswith("remains.")]
    assert spent["vacuum_s"] > 0
    assert set(server.debt().values()) == {0}
    server.warm(["sbtest1"])
    assert set(server.debt().values()) == {0}

    _check_plans(server)
    settings = server.settings()
    assert settings["bgwriter_lru_maxpages"] == server.config.settings["bgwriter_lru_maxpages"] == "2000"
    assert settings["data_checksums"] == "on"
    assert settings["listen_addresses"] == ""
    assert f"fsync = '{settings['fsync']}'" in server.config_text()
    before, after = server.counters(), server.counters()
    assert after["database.xact_commit"] >= before["database.xact_commit"] > 0
    assert before["wal.position_bytes"] > 0
    _check_objects(server)
    _check_sizes(server)
    _check_crash(server)
    with pytest.raises(RunError, match="already running"):
        server.start(Placement())

    root_pid = server.root_pid
    server.stop()
    assert not server.is_running()
    assert not Path(f"/proc/{root_pid}").exists()
    assert "database system is shut down" in server.log_tail()
    server.stop()


def _check_events(server: PostgresServer) -> None:
    began = server.log_end()
    with server.connect() as connection:
        connection.execute("CHECKPOINT")
    (checkpoint,) = [one for one in server.events_in(server.log_since(began)) if one.what == "checkpoint"]
    assert 0 <= time.time_ns() - (checkpoint.ended_unix_ns or 0) < 60 * 10**9 and "wrote" in checkpoint.words


def _check_crash(server: PostgresServer) -> None:
    """As of a backend whose client does nothing meanwhile."""
    began = server.log_end()
    with server.connect() as connection, contextlib.suppress(psycopg.OperationalError):
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        server.wait_ready()
        while "ready to accept connections" not in server.log_since(began):
            time.sleep(0.05)
    (crash,) = [one for one in server.events_in(server.log_since(began)) if one.what == CRASH]
    assert crash.ended_unix_ns and "terminated by signal 9" in crash.words


def _check_sizes(server: PostgresServer) -> None:
    sizes = server.sizes()
    assert sizes["data_dir"] > sizes["database"] > sizes["table.sbtest1"] > sizes["index.k_1"] > 0
    assert sizes["log"] > 0
    assert server.space() == {"database_bytes": sizes["database"], "data_dir_bytes": sizes["data_dir"]}


def _check_objects(server: PostgresServer) -> None:
    """Every source is taken by this version, and rows read through an index are counted."""
    server.await_counts()
    before = server.objects("rise")
    with server.connect() as connection:
        connection.execute("SET enable_seqscan = off").execute("SELECT * FROM sbtest1 WHERE id = 5")
    server.await_counts()
    after, held, cached = server.objects("rise"), server.objects("end"), server.objects("first")
    entries = ObjectFigure("index", "sbtest1.sbtest1_pkey", "read_rows")
    assert after.values[entries] == before.values.get(entries, 0.0) + 1
    assert not {**after.lacking, **held.lacking, **cached.lacking}
    assert cached.values[ObjectFigure("index", "sbtest1.sbtest1_pkey", "cached_bytes")] > 0
    assert held.values[ObjectFigure("index", "sbtest1.k_1", "size_bytes")] == server.sizes()["index.k_1"]
    assert held.values[ObjectFigure("table", "sbtest1", "live_rows")] > 0


def _check_plans(server: PostgresServer) -> None:
    """Whatever is not explained, the next statement is."""
    with pytest.raises(RunError, match='relation "gone" does not exist'):
        server.plan("SELECT * FROM gone")
    with pytest.raises(RunError, match='near "INDEX"'):
        server.plan("CREATE INDEX c_1 ON sbtest1 (c)")
    assert "sbtest1" in server.plan("CREATE TABLE own AS SELECT * FROM sbtest1")
    assert "Index Scan using sbtest1_pkey" in server.plan("SELECT c FROM sbtest1 WHERE id = 5")
    _check_executed_plans(server)


def _check_executed_plans(server: PostgresServer) -> None:
    """As clients prepare them, one after another; nothing of it stays, and what is refused or takes too long is told."""
    by_id = "SELECT c FROM sbtest1 WHERE id = "
    prepared, text, gone, slow, deleted, after = server.executed_plans(
        [
            Execution(f"{by_id}5", 5, f"{by_id}$1", ["5"]),
            Execution(f"{by_id}5", 5),
            Execution("SELECT * FROM gone", 5),
            Execution("SELECT pg_sleep(20)", 0.1),
            Execution("DELETE FROM sbtest1 WHERE id = 5", 5, "DELETE FROM sbtest1 WHERE id = $1", ["5"]),
            Execution("SELECT count(*) FROM sbtest1 WHERE id = 5", 5),
        ],
        ["SET enable_bitmapscan = off"],
    )
    assert "(id = $1)" in prepared.plan and "(id = 5)" in text.plan
    assert "actual time=" in prepared.plan and "Execution Time" in prepared.plan
    planning = [
        float(re.findall(r"^Planning Time: ([\d.]+) ms$", one.plan, re.MULTILINE)[0]) for one in (prepared, text)
    ]
    assert planning[0] < planning[1]  # a generic plan is there already
    assert 'relation "gone" does not exist' in gone.refused and "statement timeout" in slow.refused
    assert "Delete on sbtest1" in deleted.plan and re.search(r"Scan .*actual .*rows=0[. ]", after.plan)
    with server.connect() as connection:
        assert connection.execute("SELECT count(*) FROM sbtest1 WHERE id = 5").fetchall() == [(1,)]


def test_a_server_that_recovers_is_ended_at_once(server: PostgresServer) -> None:
    """Asked for a fast shutdown while it recovers, PostgreSQL may wait for its own checkpointer for ever."""
    server.start(Placement())
    began = len(server.log_tail(400))
    with pytest.raises(RunError), server.connect() as connection:
        connection.execute("CREATE TABLE long_to_recover AS SELECT generate_series(1, 500000) AS number")
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        while "database system was interrupted" not in server.log_tail(400)[began:]:
            time.sleep(0.001)
        shared, _ = processes.shared_memory(server.root_pid or 0, server_user().uid)
        server.stop()
        connection.execute("SELECT 1")
    assert not server.is_running()
    assert "received fast shutdown request" not in server.log_tail(400)[began:]
    assert shared and not [path for path in shared if Path(path).exists()]
    server.start(Placement())
    with server.connect() as connection:
        assert connection.execute("SELECT count(*) FROM sbtest1").fetchone() == (2000,)
    server.stop()
    assert "received fast shutdown request" in server.log_tail(400)[began:]


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_shared_memory_of_a_server_that_has_recovered_is_removed(server: PostgresServer, end: str) -> None:
    server.start(Placement())
    root_pid = server.root_pid
    assert root_pid
    began, (before, _) = len(server.log_tail(400)), processes.shared_memory(root_pid, server_user().uid)
    with pytest.raises(RunError), server.connect() as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        while "ready to accept connections" not in server.log_tail(400)[began:]:
            time.sleep(0.001)
        connection.execute("SELECT 1")
    after, _ = processes.shared_memory(root_pid, server_user().uid)
    assert after and after != before
    getattr(server, end)()
    assert not [path for path in (*before, *after) if Path(path).exists()]


def test_scripts_may_drop_the_schema_that_our_own_extensions_are_in(server: PostgresServer) -> None:
    server.start(Placement())
    told = set(server.debt())
    for statement, expected in (("", told - {"dirty_buffers"}), ("CREATE SCHEMA public", told)):
        with server.connect() as connection:
            connection.execute(statement or "DROP SCHEMA public CASCADE")
        server.settle([])
        assert set(server.debt()) == expected


def test_what_no_vacuum_pays_is_given_up(server: PostgresServer) -> None:
    """Here for an old snapshot; after a crash, pages without content in the midst of a table are never visible to all."""
    server.start(Placement())
    with server.connect() as reader, server.connect() as writer:
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM sbtest1")
        writer.execute("UPDATE sbtest1 SET k = k + 1 WHERE id <= 500")
        spent = server.settle(["sbtest1"])
        assert spent["remains.dead_rows"] == 500
        assert ROUNDS_IN_VAIN < spent["rounds"] < 10 * ROUNDS_IN_VAIN
        reader.execute("COMMIT")
    assert not [name for name in server.settle(["sbtest1"]) if name.startswith("remains.")]
    server.stop()


def test_the_engine_is_told_all_it_needs(server: PostgresServer) -> None:
    cgroup, _ = create_cgroup(f"{os.getpid()}-test-engine-target")
    server.start(Placement(cgroup=cgroup))
    target = server.engine_target("t0", Placement(cgroup=cgroup))
    address = target["address"]
    assert (Path(address["socket_dir"]) / f".s.PGSQL.{address['port']}").is_socket()
    assert Path(address["socket_dir"]).stat().st_mode & 0o777 == 0o700
    assert (target["account"]["root_pid"], target["wire"]) == (server.root_pid, "postgres")
    if cgroup:
        assert target["account"]["cgroup"] == cgroup.engine_account()
        assert target["freeze"] == cgroup.engine_freeze()
        assert target["disk"] == {"path": str(server.data_dir), "cgroup": cgroup.engine_disk()}
        procs = Path(cgroup.directories()[0]) / "cgroup.procs"
        assert str(server.root_pid) in procs.read_text().split()
    json.dumps(target)
    server.stop()
    assert not Path(address["socket_dir"]).exists()
    if cgroup:
        cgroup.remove()
        assert not any(Path(directory).exists() for directory in cgroup.directories())


def test_a_server_keeps_to_its_cpus_and_its_user(server: PostgresServer) -> None:
    cpu = min(os.sched_getaffinity(0))
    server.start(Placement(cpus=(cpu,)))
    assert server.root_pid
    assert os.sched_getaffinity(server.root_pid) == {cpu}
    if os.geteuid() == 0:
        assert Path(f"/proc/{server.root_pid}").stat().st_uid != 0


def test_a_long_path_gets_its_socket_elsewhere(server: PostgresServer, work_dir: Path) -> None:
    deep = work_dir / ("x" * 100)
    deep.mkdir(mode=0o755)
    server.data_dir.rename(deep / "data")
    moved = PostgresServer(server.build, server.config, deep)
    moved.start(Placement())
    socket_dir = Path(moved.engine_target("t0", Placement())["address"]["socket_dir"])
    assert socket_dir.parent == Path("/tmp")
    moved.stop()
    assert not socket_dir.exists()


def test_initialise_and_checksums_off(postgres_build: Build, work_dir: Path) -> None:
    server = with_items(postgres_build, work_dir, "checksums_off", "fsync_off")
    server.initialise()
    assert not server.is_running()
    server.start(Placement())
    assert server.settings()["data_checksums"] == "off"
    server.stop()
    with pytest.raises(RunError, match=r"initdb of .* failed: .*exists but is not empty"):
        server.initialise()


def test_tables_and_indexes_are_as_full_as_asked(postgres_build: Build, work_dir: Path) -> None:
    server = with_items(postgres_build, work_dir, "fillfactor=70")
    server.initialise()
    server.start(Placement())
    try:
        with server.connect() as connection:
            for statement in (text for part in server.table_sql(sbtest()) for text in part):
                connection.execute(statement)
            found = connection.execute(
                "SELECT relname, reloptions FROM pg_class WHERE relname ~ 'sbtest1$|_pkey$|^k_1$'"
            )
            assert dict(found.fetchall()) == {name: ["fillfactor=70"] for name in ("sbtest1", "sbtest1_pkey", "k_1")}
    finally:
        server.stop()


@pytest.mark.parametrize("value", ["5", "101", "full", "70.5"])
def test_a_fillfactor_that_postgres_would_refuse_is_told_at_once(
    postgres_build: Build, work_dir: Path, value: str
) -> None:
    with pytest.raises(
        UsageError, match=rf"init option fillfactor is '{value}'; accepted: a whole number from 10 to 100"
    ):
        with_items(postgres_build, work_dir, f"init.fillfactor={value}").check()


def test_a_missing_extension_leaves_its_debt_out(server: PostgresServer) -> None:
    server.start(Placement())
    server.settle(["sbtest1"])
    with server.connect() as connection:
        connection.execute("DROP EXTENSION IF EXISTS pg_buffercache; DROP EXTENSION IF EXISTS pg_prewarm")
    assert "dirty_buffers" not in server.debt()
    server.warm(["sbtest1"])


def test_all_configs_for_this_version_are_accepted(postgres_build: Build, work_dir: Path) -> None:
    for name, file in available_configs("postgres").items():
        if file.applies(postgres_build.version) and name not in NEEDS_LIBRARY:
            with_items(postgres_build, work_dir, name).check()


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ("work_men=4MB", r'unrecognized configuration parameter "work_men" \(did you mean \'work_mem\'\?\)'),
        ("work_mem=lots", 'invalid value for parameter "work_mem": "lots"'),
        ("wal_level=minimal'; x = 'y", "wal_level"),
        ("init.compression=on", "init option 'compression' is unknown for postgres; accepted: checksums"),
        ("init.checksums=maybe", "accepted: on, off"),
    ],
)
def test_a_setting_that_the_server_refuses_is_told_before_anything_is_made(
    postgres_build: Build, work_dir: Path, item: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        with_items(postgres_build, work_dir, item).check()
    assert list(work_dir.iterdir()) == []


def test_all_that_a_server_refuses_is_told_at_once(postgres_build: Build, work_dir: Path) -> None:
    items = [
        "work_men=4MB",
        "work_mem=lots",
        "checkpoint_segments=32",
        "shared_preload_libraries='auto_explain,no_such'",
    ]
    with pytest.raises(SettingsRefusedError) as caught:
        with_items(postgres_build, work_dir, *items, "max_connections=50").check()
    assert [one.name for one in caught.value.refused] == [item.partition("=")[0] for item in items]
    said = str(caught.value)
    assert "does not accept 4 of its settings:\n  'work_men=4MB': unrecognized" in said
    assert "write max_wal_size (48MB times the value) or leave it out" in said
    assert "this build has no library no_such" in said


def test_a_start_that_fails_tells_the_servers_own_words(server: PostgresServer) -> None:
    config = ServerConfig("bad", {**server.config.settings, "shared_preload_libraries": "no_such_library"})
    broken = PostgresServer(server.build, config, server.work_dir)
    with pytest.raises(RunError, match='could not access file "no_such_library"'):
        broken.start(Placement())
    assert not broken.is_running()
    server.start(Placement())
    server.stop()


def test_a_missing_shared_library_is_named(postgres_build: Build, work_dir: Path) -> None:
    broken = work_dir / "broken/bin"
    broken.mkdir(parents=True)
    binary = (postgres_build.prefix / "bin/postgres").read_bytes()
    (broken / "postgres").write_bytes(binary.replace(b"\0libc.so.6\0", b"\0libX.so.6\0"))
    (broken / "postgres").chmod(0o755)
    build = Build("postgres", postgres_build.version, "path", broken.parent, "test")
    with pytest.raises(RunError, match=r"cannot run: .*libX\.so\.6: cannot open shared object file"):
        with_items(build, work_dir).check()


def test_a_build_for_another_machine_is_refused(postgres_build: Build, work_dir: Path) -> None:
    broken = work_dir / "broken/bin"
    broken.mkdir(parents=True)
    head = bytearray((postgres_build.prefix / "bin/postgres").read_bytes()[:4096])
    head[18:20] = (0x16).to_bytes(2, "little")
    (broken / "postgres").write_bytes(head)
    (broken / "postgres").chmod(0o755)
    build = Build("postgres", postgres_build.version, "path", broken.parent, "test")
    with pytest.raises(RunError, match=r"cannot be executed: Exec format error \(built for s390x, this host is"):
        with_items(build, work_dir).check()


def test_an_incomplete_build_is_refused(work_dir: Path) -> None:
    with pytest.raises(RunError, match="has no bin/postgres"):
        with_items(Build("postgres", "17.0", "path", work_dir, "test"), work_dir).check()
