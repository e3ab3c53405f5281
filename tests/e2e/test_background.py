"""Foreground, background and drain of real servers, of processes and of threads."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from dbversus.builds.store import list_installed
from dbversus.home import home_dir

from ..left_out import build_at_hand
from .conftest import Bench

pytestmark = pytest.mark.e2e

# long enough for what servers put off
DRAIN = "drain_s = 2\n"
POSTGRES_KINDS = {"walwriter", "background writer", "checkpointer", "postgres"}


def _kinds(bench: Bench) -> set[str]:
    of_rows = (figures["cpu_ns"] for record in bench.records("background") for figures in record["targets"].values())
    of_drains = (figures["background"] for record in bench.records("drain") for figures in record["targets"].values())
    return {kind for kinds in (*of_rows, *of_drains) for kind in kinds}


def _slots(bench: Bench, test: str) -> Iterable[dict[str, Any]]:
    return (slot for row in bench.records("row") if row["test"] == test for slot in row["slots"])


def _check_split(bench: Bench) -> None:
    """Every slot is split, and reading one row is next to nothing but foreground: the right threads were found."""
    for slot in [*_slots(bench, "point-query"), *_slots(bench, "update-index")]:
        assert slot["server_foreground_cpu_ns"] > 0 and slot["server_background_cpu_ns"] is not None
    reads = list(_slots(bench, "point-query"))
    foreground, all_cpu = (sum(slot[name] for slot in reads) for name in ("server_foreground_cpu_ns", "server_cpu_ns"))
    assert foreground > 0.7 * all_cpu


def _check_drains(bench: Bench) -> None:
    drains = bench.records("drain")
    assert {(drain["test"], *sorted(drain["targets"])) for drain in drains} == {("update-index", "t0", "t1")}
    for drain in drains:
        for name, figures in drain["targets"].items():
            counted = sum(
                slot["ops"] + slot["settle_ops"]
                for row in bench.records("row")
                if (row["block"], row["test"]) == (drain["block"], drain["test"])
                for slot in row["slots"]
                if slot["target"] == name
            )
            assert figures["ops"] >= counted > 0
            assert 0 < figures["server_background_cpu_ns"] <= figures["server_cpu_ns"]
            assert figures["elapsed_ns"] > 0 and isinstance(figures["idle"], bool)


def _check_bytes(bench: Bench) -> None:
    """Bytes of settle parts come with their operations."""
    slots = list(_slots(bench, "update-index"))
    figures = "sum(driven_ops) AS ops, sum(driven_write_bytes) AS bytes"
    query = f"SELECT {figures} FROM slots WHERE test = 'update-index'"  # noqa: S608
    (line,) = json.loads(bench.run("show", bench.out, "--format", "json", "--sql", query).stdout)
    assert line["ops"] == sum(slot["ops"] + slot["settle_ops"] for slot in slots)
    assert line["bytes"] == sum(slot["server_write_bytes"] + slot["settle_write_bytes"] for slot in slots)


def test_what_processes_leave_for_later_is_charged_to_the_test(bench: Bench, postgres: str) -> None:
    bench.run("run", bench.write([postgres, postgres], "point-query,update-index", DRAIN), "--out", bench.out)
    _check_split(bench)
    _check_drains(bench)
    _check_bytes(bench)
    kinds = _kinds(bench)
    assert kinds & POSTGRES_KINDS, kinds
    assert not any("idle" in kind for kind in kinds), kinds
    shown = bench.run("show", bench.out, "--format", "json", "--sql", "SELECT DISTINCT target FROM drains")
    assert {line["target"] for line in json.loads(shown.stdout)} == {postgres, f"{postgres}#2"}


def test_a_lead_in_comes_before_the_rows_of_each_block_and_is_in_no_figure(bench: Bench, postgres: str) -> None:
    more = f"{DRAIN}lead_in_s = 0.5\n"
    done = bench.run(
        "run", bench.write([postgres, "sqlite:bundled@wal"], "point-query,update-index", more), "--out", bench.out
    )
    counted: Counter[tuple[int, str]] = Counter()
    driven_ns: Counter[tuple[int, str]] = Counter()
    for row in bench.records("row"):
        if row["test"] == "update-index":
            for slot in row["slots"]:
                counted[row["block"], slot["target"]] += slot["settle_ops"] + slot["ops"]
                driven_ns[row["block"], slot["target"]] += slot["elapsed_ns"]
    for drain in bench.records("drain"):
        for name, figures in drain["targets"].items():
            # rows last 60 ms at most, so the lead-in is some ten times as much work
            assert figures["ops"] > 3 * counted[drain["block"], name], (drain, counted)
    assert max(driven_ns.values()) < 0.5e9
    assert (
        "in every block after a lead-in of 0.5 s on the slowest target, uncounted"
        in (bench.out / "report.md").read_text()
    ), done.stdout


def _threaded() -> list[Any]:
    """A small build, and the newest of each family that is installed: they tell their threads in different ways."""
    wanted = (("mysql", "5.6"), ("mysql", "8.0"), ("myrocks", "10.11"))
    there = [
        pytest.param(f"{dbms}:{version}", marks=pytest.mark.long)
        for dbms, version in wanted
        if any(build.version.startswith(f"{version}.") for build in list_installed(dbms))
    ]
    return ["mariadb:10.11", *there]


@pytest.mark.parametrize("target", _threaded())
def test_what_threads_leave_for_later_is_charged_to_the_test(bench: Bench, target: str) -> None:
    build = build_at_hand(target)
    (bench.home / "builds").symlink_to(home_dir() / "builds")
    file = bench.write([target, target], "point-query,update-index", "clients = 3\n" + DRAIN, looks=(2,))
    bench.run("run", file, "--out", bench.out)
    _check_split(bench)
    _check_drains(bench)
    kinds = _kinds(bench)
    assert kinds and not {"connection", "sql/one_connection"} & kinds, kinds
    if build.dbms == "mysql" and build.version.startswith("8."):
        assert any(kind.startswith("ib_") for kind in kinds), kinds
