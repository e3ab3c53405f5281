"""pgbench beside the suite that its script became: both do the same work, and what the verdict on their cost is made of."""

import importlib
from typing import Any

import pytest

pgbench: Any = importlib.import_module("pgbench")


@pytest.mark.parametrize(("own", "words"), [(1.0, "| yes |"), (1.2, "| **no** |")])
def test_agreement_is_said_where_the_interval_says_so(own: float, words: str) -> None:
    figures = {"dbversus": [100.0 * own, 101.0 * own] * 8, "pgbench": [100.0, 101.0] * 8}
    work = {name: pgbench.Figures(7, {"database.xact_commit": 1.0}) for name in figures}
    text = pgbench.report("tpcb-like", figures, work)
    assert words in text and "the same (0.0%)" in text


def test_other_work_is_named() -> None:
    figures = {"dbversus": [100.0] * 4, "pgbench": [100.0] * 4}
    work = {name: pgbench.Figures(7, {"table.n_tup_upd": share}) for name, share in (("dbversus", 3), ("pgbench", 2))}
    assert "differs by 33.3% (table.n_tup_upd)" in pgbench.report("tpcb-like", figures, work)


def test_the_suite_is_that_of_from_pgbench() -> None:
    suite = pgbench.suite_of("tpcb-like", 3)
    assert suite.sequence == ["load", "tpcb-like"]
    assert suite.variables == {"scale": 3}
