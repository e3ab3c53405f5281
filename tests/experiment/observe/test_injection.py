"""Spans of injection with real control pages, which a library would count in; here the test counts."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.shares import Burst
from dbversus.experiment.asked.spec import make_spec
from dbversus.experiment.observe.injection import Injecting
from dbversus.experiment.observe.scene import Scene
from dbversus.experiment.plan.cases import Case
from dbversus.experiment.rig.preload import check_injection
from dbversus.experiment.rig.rig import Rig
from dbversus.host.user import server_user
from dbversus.results.records import Injected, InjectedWork
from dbversus.servers.injection import Injection
from dbversus.servers.process.daemon import Daemon

BURSTS_AT, COUNTERS_AT = 48, 128
CASE = cast(Case, SimpleNamespace(name="insert@2", test=SimpleNamespace(name="insert")))
ROW = {"slots": [{"target": name, "settle_ops": 5, "ops": 50} for name in ("t0", "t1")]}


def _count(page: Injection, *counters: int) -> None:
    with page.path.open("r+b") as file:
        file.seek(COUNTERS_AT)
        file.write(struct.pack("6Q", *counters))


def _shares(page: Injection) -> tuple[float, ...]:
    return struct.unpack_from("2d", page.path.read_bytes(), 24)


def _bursts(page: Injection) -> tuple[int, ...]:
    return struct.unpack_from("3Q", page.path.read_bytes(), BURSTS_AT)


class _Rig:
    """As much of a rig as injecting needs."""

    def __init__(self, pages: list[Injection], inject: Any):
        self.spec = SimpleNamespace(inject=inject, seed=1)
        self.tag = {"group": "g0"}
        self.targets = [SimpleNamespace(name=f"t{number}", server=_server(page)) for number, page in enumerate(pages)]
        self.alive = self.targets
        self.noted: list[Injected] = []
        self.remarks: list[tuple[str, str]] = []

    def by_name(self, name: str) -> Any:
        return next(target for target in self.targets if target.name == name)

    def note(self, record: Injected) -> None:
        self.noted.append(record)

    def remark(self, words: str, target: Any) -> None:
        self.remarks.append((target.name, words))


def _server(page: Injection) -> Daemon:
    server: Any = object.__new__(type("Server", (Daemon,), dict.fromkeys(Daemon.__abstractmethods__)))
    server.injection = page
    return cast(Daemon, server)


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[list[Injection]]:
    library = tmp_path / "library.so"
    library.write_bytes(b"")
    folders = [tmp_path / name for name in ("t0", "t1")]
    for folder in folders:
        folder.mkdir()
    yield [Injection(folder, library, server_user()) for folder in folders]


@contextmanager
def _injecting(rig: _Rig, block: int = 0) -> Iterator[Injecting]:
    """As the rows of a case are observed."""
    observer = Injecting(Scene(cast(Rig, rig), block, CASE))
    observer.rows_begin()
    try:
        yield observer
    finally:
        observer.rows_end()


def test_what_is_added_over_the_rows_is_journaled_with_their_operations(pages: list[Injection]) -> None:
    rig = _Rig(pages, {"1": {"cpu": {"insert": [0.02, 0.05]}}})
    _count(pages[1], 7, 70, 700, 1, 1, 1)
    with _injecting(rig, block=1) as observer:
        assert (_shares(pages[0]), _shares(pages[1])) == ((0, 0), (0.05, 0))
        observer.row(ROW)
        _count(pages[1], 17, 1070, 5700, 8193, 4097, 2)
        observer.row(ROW)
    (noted,) = rig.noted
    assert (noted.block, noted.test, noted.group) == (1, "insert@2", "g0")
    assert noted.targets["t1"] == InjectedWork(
        cpu_share=0.05,
        io_share=0.0,
        ops=110,
        reads=10,
        work_ns=1000,
        burned_ns=5000,
        io_bytes_seen=8192,
        io_bytes_added=4096,
        io_reads_added=1,
    )
    assert noted.targets["t0"].ops == 110 and not noted.targets["t0"].burned_ns
    assert [name for name, _ in rig.remarks] == ["t1"]
    assert _shares(pages[1]) == (0, 0)


def test_bursts_are_set_for_the_rows_and_journaled(pages: list[Injection]) -> None:
    rig = _Rig(pages, {"1": {"cpu": {"insert": [Burst(1.0, 50, 500), 0.02]}}})
    with _injecting(rig) as observer:
        assert (_shares(pages[1]), _bursts(pages[1])[:2]) == ((1.0, 0.0), (50_000_000, 500_000_000))
        assert (_shares(pages[0]), _bursts(pages[0])) == ((0, 0), (0, 0, 0))
        observer.row(ROW)
    asked = rig.noted[0].targets["t1"]
    assert (asked.cpu_share, asked.cpu_ms, asked.cpu_every_ms) == (1.0, 50, 500)
    assert rig.noted[0].targets["t0"].cpu_ms is None
    assert (_shares(pages[1]), _bursts(pages[1])) == ((0, 0), (0, 0, 0))
    with _injecting(rig, block=1):
        assert (_shares(pages[1]), _bursts(pages[1])) == ((0.02, 0.0), (0, 0, 0))


def test_bursts_begin_elsewhere_in_each_block_and_at_the_same_place_in_each_run(pages: list[Injection]) -> None:
    rig = _Rig(pages, {"1": {"cpu": {"insert": Burst(1.0, 50, 500)}}})
    phases = []
    for block in (0, 1, 2, 0):
        with _injecting(rig, block):
            phases.append(_bursts(pages[1])[2])
    assert phases[3] == phases[0] and len(set(phases)) == 3
    assert all(0 <= phase < 500_000_000 for phase in phases)


def test_after_a_restart_only_what_follows_is_counted(pages: list[Injection]) -> None:
    rig = _Rig(pages, {})
    with _injecting(rig) as observer:
        observer.row(ROW)
        _count(pages[1], 10, 0, 0, 0, 0, 0)
        observer.rows_begin()
        _count(pages[1], 13, 0, 0, 0, 0, 0)
        observer.row(ROW)
    figures = rig.noted[0].targets["t1"]
    assert (figures.ops, figures.reads) == (55, 3)
    assert not rig.remarks


def test_whatever_happens_shares_end_with_the_rows(pages: list[Injection]) -> None:
    rig = _Rig(pages, {"0": {"io": {"insert": 0.5}}})
    with pytest.raises(RunError), _injecting(rig):
        assert _shares(pages[0]) == (0, 0.5)
        raise RunError("the engine is gone")
    assert not rig.noted and _shares(pages[0]) == (0, 0)


def test_an_interrupted_test_tells_what_was_added_over_the_rows_that_ended(pages: list[Injection]) -> None:
    rig = _Rig(pages, {"1": {"cpu": {"insert": 0.5}}})
    with pytest.raises(KeyboardInterrupt), _injecting(rig) as observer:
        _count(pages[1], 10, 100, 50, 0, 0, 0)
        observer.row(ROW)
        _count(pages[1], 15, 150, 75, 0, 0, 0)
        raise KeyboardInterrupt
    figures = rig.noted[0].targets["t1"]
    assert (figures.ops, figures.reads, figures.burned_ns) == (55, 10, 50)
    assert _shares(pages[1]) == (0, 0)


def test_io_that_could_not_be_added_is_told(pages: list[Injection]) -> None:
    rig = _Rig(pages, {"0": {"io": {"insert": 0.5}}})
    with _injecting(rig) as observer:
        observer.row(ROW)
        with pages[0].path.open("r+b") as file:
            file.seek(40)
            file.write(struct.pack("Q", 22))
    assert any("cannot be read directly (Invalid argument)" in words for _, words in rig.remarks)


def test_without_the_setting_nothing_is_journaled(pages: list[Injection]) -> None:
    rig = _Rig(pages, None)
    with _injecting(rig) as observer:
        observer.row(ROW)
    assert not rig.noted


@pytest.mark.parametrize("dbms", ["sqlite", "null"])
def test_what_is_no_server_cannot_be_slowed_down(dbms: str) -> None:
    spec = make_spec({"targets": [dbms, dbms], "inject": {}})
    targets: Any = [SimpleNamespace(dbms=dbms)] * 2
    with pytest.raises(UsageError, match=f"nothing to inject into: {dbms} "):
        check_injection(spec, cast(Any, SimpleNamespace(tests={})), targets)


def test_only_tests_that_are_run_can_be_slowed_down() -> None:
    suite: Any = SimpleNamespace(reported_tests=[SimpleNamespace(name="scan", has_one_client=False)])
    targets: Any = [SimpleNamespace(dbms="postgres")] * 2
    choices = {"targets": ["postgres:17"] * 2, "clients": [1, 4]}
    for name in ("scan", "scan@4"):
        check_injection(make_spec(choices | {"inject": {"1": {"cpu": {name: 0.1}}}}), suite, targets)
    with pytest.raises(UsageError, match=r"'insert', which is not run; there are scan, scan@1, scan@4"):
        check_injection(make_spec(choices | {"inject": {"1": {"cpu": {"insert": 0.1}}}}), suite, targets)
