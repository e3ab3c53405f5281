"""Slots of equal targets with noise, as columns of results/schema.py."""

import numpy as np

from dbversus.results.schema import SLOT_COLUMNS

Slots = dict[str, np.ndarray]


def make_slots(
    targets: tuple[str, ...] = ("a", "b"),
    tests: int = 2,
    blocks: int = 3,
    rows: int = 5,
    seed: int = 0,
) -> Slots:
    """Slots of equal targets with noise shared within a row."""
    rng = np.random.default_rng(seed)
    grid = [
        g.ravel() for g in np.meshgrid(range(blocks), range(tests), range(rows), range(len(targets)), indexing="ij")
    ]
    block, test, row, target = grid
    count = len(block)
    host_noise = np.exp(rng.normal(0, 0.3, count // len(targets))).repeat(len(targets))
    ops = np.round(2000 * host_noise * np.exp(rng.normal(0, 0.01, count)))
    slots: Slots = {name: np.zeros(count) for name, kind in SLOT_COLUMNS.items() if kind != "VARCHAR"}
    slots |= {
        "test": np.array([f"t{i}" for i in test]),
        "target": np.array(targets)[target],
        "block": block,
        "row": row,
        "clients": np.ones(count),
        "disturbed": np.zeros(count, dtype=bool),
        "elapsed_ns": np.full(count, 50_000_000.0),
        "ops": ops,
        "driven_ops": ops,
        "server_cpu_ns": ops * 20_000 * np.exp(rng.normal(0, 0.01, count)),
        "server_user_ns": ops * 15_000,
        **dict.fromkeys(("mean_ns", "p50_ns", "p95_ns", "p99_ns"), ops * 25000),
    }
    return slots


def one_after_the_other(slots: Slots) -> Slots:
    """The same slots as if each target had been up alone: no two of them share the start of their row."""
    _, target = np.unique(slots["target"], return_inverse=True)
    started = slots["block"] * 1e14 + target * 1e13 + slots["row"] * 1e8
    return slots | {"started_unix_ns": started}
