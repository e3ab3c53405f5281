"""Statement for statement what sysbench does, and the verdict on what both cost."""

import contextlib
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dbversus.errors import RunError
from dbversus.suites import definition, load_suite

common: Any = importlib.import_module("common")
fidelity: Any = importlib.import_module("fidelity")
in_turns: Any = importlib.import_module("in_turns")

SCRIPTS = Path("/usr/share/sysbench")
needs_scripts = pytest.mark.skipif(not (SCRIPTS / "oltp_common.lua").is_file(), reason="sysbench is not installed")
OUTPUT = """SQL statistics:
    queries performed:
        read:                            7000
        write:                           2000
        other:                           1000
        total:                           10000
    transactions:                        500    (812.15 per sec.)
    queries:                             10000  (16243.07 per sec.)
    ignored errors:                      0      (0.00 per sec.)
"""
# name in our suite → name in oltp_common.lua
STATEMENTS = {
    "point": "point_selects",
    "range-simple": "simple_ranges",
    "range-sum": "sum_ranges",
    "range-order": "order_ranges",
    "range-distinct": "distinct_ranges",
    "update-index": "index_updates",
    "update-nonindex": "non_index_updates",
    "delete": "deletes",
    "insert-again": "inserts",
}


def plain(sql: str) -> str:
    """Without what differs in writing only: blanks, case, names of parameters and how the table is numbered."""
    text = re.sub(r":\w+", "?", sql).replace("{table}", "1").replace("%u", "1").replace("%d", "1")
    return re.sub(r"\s+", "", text).lower()


def statements_of(test: str, dbms: str = "postgres") -> dict[str, str]:
    made = definition(load_suite(fidelity.SUITE).tests[test], dbms, 1000)
    return {statement["name"]: statement["sql"] for statement in made["statements"]}


@needs_scripts
@pytest.mark.parametrize(
    "test",
    [
        "oltp_point_select",
        "oltp_read_only",
        "oltp_update_index",
        "oltp_update_non_index",
        "oltp_write_only",
        "oltp_read_write",
        "oltp_delete",
    ],
)
def test_the_statements_are_those_of_the_scripts(test: str) -> None:
    text = (SCRIPTS / "oltp_common.lua").read_text()
    theirs = dict(re.findall(r'(\w+) = \{\s*"((?:SELECT|UPDATE|DELETE|INSERT)[^"]+)"', text))
    script = (SCRIPTS / f"{test}.lua").read_text()
    for name, sql in statements_of(test).items():
        assert plain(sql) == plain(theirs[STATEMENTS[name]])
    wanted = {name for name in STATEMENTS.values() if f"prepare_{name}" in script or f'"{name}"' in script}
    if "prepare_delete_inserts" in script:
        wanted |= {"deletes", "inserts"}
    assert {STATEMENTS[name] for name in statements_of(test)} == wanted


@needs_scripts
def test_the_statements_of_the_random_selects() -> None:
    points = re.search(r"\[\[(.*?)\]\]", (SCRIPTS / "select_random_points.lua").read_text(), re.DOTALL)
    ranges = re.search(r"\[\[(.*?)\]\]", (SCRIPTS / "select_random_ranges.lua").read_text(), re.DOTALL)
    assert points and ranges
    assert plain(statements_of("select_random_points")["points"]) == plain(points[1].replace("%s", "?"))
    wanted = ranges[1].replace("%s", " OR ".join(["k BETWEEN ? AND ?"] * 10))
    assert plain(statements_of("select_random_ranges")["ranges"]) == plain(wanted)


def test_the_insert_passes_an_id_on_mysql_only() -> None:
    assert "(k, c, pad)" in statements_of("oltp_insert")["insert"]
    for dbms in ("mysql", "mariadb", "myrocks"):
        assert "(id, k, c, pad) VALUES (0," in statements_of("oltp_insert", dbms)["insert"]


def test_ten_tests_each_with_a_word_on_every_dbms() -> None:
    tests = list(load_suite(fidelity.SUITE).tests)
    assert len(tests) == 10
    named = {test for note in fidelity.NOTES for test in note.tests}
    assert named <= set(tests)


def test_what_sysbench_prints() -> None:
    assert common.number_after(OUTPUT, "transactions:") == 500
    assert common.number_after(OUTPUT, "queries:") == 10000
    assert common.number_after(OUTPUT, "ignored errors:") == 0
    with pytest.raises(RunError, match="transactions"):
        common.number_after("FATAL: no such table", "transactions:")


def test_the_interval_of_a_ratio_is_that_of_student() -> None:
    logs = np.random.default_rng(1).normal(0.01, 0.02, 9).tolist()
    found = common.ratio_interval(logs)
    low, high = stats.t.interval(0.95, 8, np.mean(logs), stats.sem(logs))
    assert (found.estimate, found.low, found.high) == pytest.approx(np.exp([np.mean(logs), low, high]))


def test_one_value_has_no_interval() -> None:
    found = common.ratio_interval([0.0])
    assert found.estimate == 1 and not found.inside(0.5, 2) and not found.outside(0.5, 2)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.985, 1.015, "yes"), (0.97, 1.01, "too few rounds to say"), (1.021, 1.05, "**no**"), (0.9, 0.97, "**no**")],
)
def test_agreement_is_what_the_whole_interval_says(low: float, high: float, said: str) -> None:
    assert fidelity.agreement(common.Interval((low + high) / 2, low, high)) == said


def test_the_counter_that_differs_most() -> None:
    own = {"commits": 1.0, "scans": 14.0, "rows": 410.0, "rare": 0.001}
    assert fidelity.work_difference(own, own | {"rare": 0.002}) == ("", 0.0)
    name, share = fidelity.work_difference(own, own | {"scans": 14.1, "rows": 500.0})
    assert (name, share) == ("rows", pytest.approx(0.18))


def test_a_block_is_the_midmean_of_its_rounds() -> None:
    theirs = [100.0] * 2 * fidelity.ROUNDS
    ours = [100.0] * fidelity.ROUNDS + [102.0, 102.0, 102.0, 102.0, 500.0, 500.0, 1.0, 1.0]
    assert fidelity.block_logs(ours, theirs) == pytest.approx([0, np.log(1.02)])


class Recorded:
    """A client that uses the same server CPU per operation in each turn, and notes whose turn it was."""

    def __init__(self, name: str, op_ns: int, order: list[str]) -> None:
        self.name, self.op_ns, self.order = name, op_ns, order

    @contextlib.contextmanager
    def connected(self, ops: int, turns: int, seed: int) -> Iterator[Any]:
        self.ops, self.statements = ops, ops * turns
        yield self

    def run(self) -> int:
        self.order.append(self.name)
        return self.ops * self.op_ns


def test_clients_take_turns_and_the_first_block_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    clients = {"own": Recorded("own", 30_000, order), "peer": Recorded("peer", 20_000, order)}
    monkeypatch.setattr(
        fidelity, "cgroup_cpu_ns", lambda group: order.count("own") * 3_100_000 + order.count("peer") * 2_000_000
    )
    figures = {name: fidelity.Figures(1, {}) for name in clients}
    rounds = 2 * fidelity.ROUNDS
    fidelity.measure(None, clients, figures, 100, rounds, seed=1)
    assert figures["own"].cpu_us_per_op == pytest.approx([31] * rounds)
    assert figures["own"].own_cpu_us_per_op == pytest.approx([30] * rounds)
    assert figures["peer"].cpu_us_per_op == pytest.approx([20] * rounds)
    assert order == ["own", "peer", "peer", "own"] * ((rounds + fidelity.ROUNDS) // 2)


@needs_scripts
def test_a_client_that_cannot_start_is_told_in_its_own_words() -> None:
    client = in_turns.SysbenchClient(["sysbench", "oltp_point_select", "--db-driver=nothing"], 0)
    with (
        pytest.raises(RunError, match=r"sysbench left before its last turn.*nothing"),
        client.connected(1, 1, 1) as turns,
    ):
        turns.run()


def test_notes_are_numbered_by_what_holds() -> None:
    tests = ["oltp_point_select", "oltp_update_non_index", "oltp_insert"]
    words, numbers = fidelity.notes_for("postgres", tests, plain=True)
    assert numbers == {"oltp_point_select": "1, 2", "oltp_update_non_index": "1, 2, 3", "oltp_insert": "4"}
    assert "Describe" in words[0] and len(words) == 4
    assert fidelity.notes_for("postgres", tests, plain=False)[0] == words[2:]
    begin = "BEGIN and COMMIT: sysbench prepares them where the server can, dbversus sends them as text"
    assert begin in fidelity.notes_for("mariadb", ["oltp_write_only"], plain=False)[0]
    assert begin not in fidelity.notes_for("mariadb", ["oltp_write_only"], plain=False, text_transactions=True)[0]
