"""A calibration as it would be kept, without having run one."""

from typing import Any

from dbversus.calibration.model import Calibration, Host
from dbversus.stats.calibration.model import (
    BurstDetection,
    Detection,
    Figures,
    OrderBias,
    Recovery,
    Share,
    Spread,
    Uniformity,
)
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT

TESTS = ["point-query", "update-index"]
HERE = Host(machine_id="0123456789abcdef", kernel="6.1.0", cpu="Synthetic CPU @ 3.0 GHz")
FACTS = {"machine_id": HERE.machine_id, "kernel": HERE.kernel, "cpu": {"model": HERE.cpu}}
DAY_S = 86_400
RUN_S = 1_790_000_000.0


def share(value: float, count: int = 1000) -> Share:
    return Share(share=value, low=max(0.0, value - 0.02), high=min(1.0, value + 0.04), count=count)


def spread(test: str, metric: str, default: float, margin: float | None = None) -> Spread:
    return Spread(
        test=test,
        metric=metric,
        blocks=16,
        pair_sd=0.05,
        block_sd=0.012,
        between_sd=0.01,
        within_sd=0.006,
        p_value=0.4,
        margin=margin or default,
        default_margin=default,
    )


def figures(blocks: int = 16) -> Figures:
    spreads = [spread(test, metric, margin) for test in TESTS for metric, margin in ((CPU, 0.03), (IO_BYTES, 0.05))]
    return Figures(
        tests=TESTS,
        blocks=blocks,
        looks=[4, 6, 8, 12],
        suites=1000,
        false_alarms=share(0.02),
        alarmed={"update-index": 0.02},
        equivalent=0.97,
        undecided=0.03,
        coverage=share(0.98),
        median_blocks=4,
        never_settled=0.01,
        disturbed=0.02,
        detection=[
            Detection(effect=effect, found=share(found), by_test={"point-query": found, "update-index": found - 0.1})
            for effect, found in ((0.01, 0.1), (0.03, 0.81), (0.05, 0.97))
        ],
        bursts=BurstDetection(
            effect=0.098,
            found=share(0.93),
            by_test={"point-query": 0.96, "update-index": 0.85},
            ms=50,
            every_ms=500,
            measured=0.095,
            blocks_with=8,
        ),
        injected=True,
        recovery=Recovery(slope=0.98, low=0.93, high=1.03, offset=0.001, values=32, blocks=16),
        spreads=[*spreads, spread(TESTS[0], THROUGHPUT, 0.05), spread(TESTS[1], THROUGHPUT, 0.05, 0.08)],
        order_bias=[
            OrderBias(test=test, metric=CPU, bias=0.001, low=-0.001, high=0.003) for test in ("", "point-query")
        ],
        start_bias=[OrderBias(test="", metric=CPU, bias=0.0005, low=-0.002, high=0.003)],
        uniformity=[Uniformity(metric=CPU, tests=2, p_value=0.4)],
        changed_as_measured=[],
    )


def calibration(**changes: Any) -> Calibration:
    """Of PostgreSQL 17.11 on HERE, made 3 days before RUN_S."""
    kept: dict[str, Any] = {
        "id": "20260101-120000-postgres-17.11",
        "at_unix_s": RUN_S - 3 * DAY_S,
        "took_s": 4000.0,
        "dbversus": "0.1.0",
        "host": HERE,
        "dbms": "postgres",
        "dbms_title": "PostgreSQL",
        "version": "17.11",
        "target": "postgres:17",
        "profile": "standard",
        "suite": "sysbench",
        "clients": [1],
        "table_size": 1_000_000,
        "tables": 1,
        "rows_per_block": 43,
        "slot_ms": 50.0,
        "seed": 1,
        "command": "dbversus calibrate postgres:17 --blocks 16",
        "directory": "/somewhere/results",
        "figures": figures(),
    }
    return Calibration(**(kept | changes))
