"""The real engine, with its echo server."""

from dbversus.experiment.rig.engine import Engine

from ...left_out import engine_at_hand

TEST = {"name": "one", "transaction": False, "statements": [{"name": "one", "sql": "SELECT 1"}]}


def test_closing_waits_for_no_rows_under_way() -> None:
    engine_at_hand()
    engine = Engine()
    engine.call("target", name="t0", wire="null", address={})
    engine.call("open", targets=["t0"], test=TEST)
    orders = [["t0"]] * 100_000
    rows = engine.stream("rows", seed=1, orders=orders, settle={"ops": 0}, slot={"ms": 10})
    assert next(rows)["row"] == 0
    engine.close()
    assert engine._process.returncode == 0, "it had to be killed"
