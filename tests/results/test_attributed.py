"""What is shown of stored figures: disk requests of the server alone, and parts of CPU that add up."""

from typing import Any

import numpy as np
import pytest

from dbversus.results.attributed import attributed_load, attributed_slots, not_own
from dbversus.results.columns import column, floats
from dbversus.results.records import Load, LoadFigures, Remark
from dbversus.results.schema import SLOT_COLUMNS

WRITES = "disk writes are those of the whole device vda, whoever caused them: control group v1 does not count them"
ALL = (
    "disk reads and writes are those of the whole device vda, whoever caused them: no control group counts the server's"
)
LABELS = {"t0": "old", "t1": "new"}
OF_DISK = ("disk_reads", "disk_read_bytes", "disk_writes", "disk_write_bytes")


def slots(**columns: list[Any]) -> dict[str, Any]:
    count = len(next(iter(columns.values())))
    given: dict[str, list[Any]] = {
        "target": ["old", "new"] * (count // 2),
        "test": ["scan"] * count,
        "block": [0] * count,
        **columns,
    }
    return {name: column(given.get(name, [7] * count), kind) for name, kind in SLOT_COLUMNS.items()}


def masked(found: dict[str, Any]) -> dict[str, list[bool]]:
    return {name: np.ma.getmaskarray(found[name]).tolist() for name in OF_DISK}


@pytest.mark.parametrize(
    ("remark", "unknown"),
    [
        (Remark(None, WRITES), {name: [name.startswith("disk_write")] * 2 for name in OF_DISK}),
        (Remark("t1", ALL), {name: [False, True] for name in OF_DISK}),
        (Remark(None, "something else"), {name: [False, False] for name in OF_DISK}),
    ],
)
def test_what_the_whole_device_did_is_not_the_servers(remark: Remark, unknown: dict[str, list[bool]]) -> None:
    stored = slots(ops=[1, 1])
    found = attributed_slots(stored, not_own([remark], ["t0", "t1"]), LABELS)
    assert masked(found) == unknown
    assert found["device_writes"].tolist() == [7, 7] and not any(map(any, masked(stored).values()))


def test_a_load_has_no_figures_of_the_device_either() -> None:
    figures = LoadFigures(rows=1, elapsed_ns=1, disk_reads=5, disk_writes=6, server_write_bytes=8)
    found = attributed_load(Load("t0", "a", False, figures=figures), not_own([Remark("t0", ALL)], ["t0", "t1"])).figures
    assert found and (found.disk_reads, found.disk_writes, found.server_write_bytes) == (None, None, 8)


def test_user_and_system_add_up_to_the_cpu_time() -> None:
    """In slots without a tick, and where ticks are stored as they were counted, the share of the other slots is taken."""
    stored = slots(
        target=["old"] * 4 + ["new"] * 2 + ["old"],
        block=[0] * 6 + [1],
        server_cpu_ns=[100, 300, 200, None, 50, 60, 90],
        server_user_ns=[75, None, 0, 5, 20, 30, None],
        server_system_ns=[25, None, 0, 5, 30, 30, None],
    )
    found = attributed_slots(stored, {}, LABELS)
    user, system = (floats(found[name]) for name in ("server_user_ns", "server_system_ns"))
    # block 0 of old was told 80 of user and 30 of system
    assert user[:3].tolist() == [75, 218, 145] and (user + system)[:3].tolist() == [100, 300, 200]
    assert user[4:6].tolist() == [20, 30]
    assert np.isnan(user[6]) and np.isnan(system[6]), "no tick in all the block tells nothing"
    load = Load("t0", "a", False, figures=LoadFigures(server_cpu_ns=90, server_user_ns=20, server_system_ns=10))
    split = attributed_load(load, {}).figures
    assert split and (split.server_user_ns, split.server_system_ns) == (60, 30)


def test_parts_that_add_up_stay_as_measured() -> None:
    stored = slots(
        server_cpu_ns=[1_000_001, 2_000_000], server_user_ns=[999_000, 1], server_system_ns=[1_000, 1_999_999]
    )
    found = attributed_slots(stored, {}, LABELS)
    assert all(found[name] is stored[name] for name in ("server_user_ns", "server_system_ns"))
