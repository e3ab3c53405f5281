"""Room that targets need, from what their configs come to: rows as they are stored, logs as they are sized."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.store import resolve
from dbversus.builds.target import parse_target
from dbversus.dbms.known import find_dbms
from dbversus.dbms.model import Stored
from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.host.facts import memory_facts
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.load import load_config
from dbversus.servers.config.run_time import acts_on_data
from dbversus.servers.config.sizing import Sizing

UsualRows = Callable[[int, int], int]
"""Size and number of tables → rows of sysbench's table (suites/model.py)."""


@dataclass(frozen=True)
class Planned:
    """A target whose config is known; `build` tells builds apart, `key` what targets can share the same load."""

    dbms: str
    version: str
    build: str
    config: ServerConfig
    key: str


def planned_targets(spec: ExperimentSpec) -> list[Planned]:
    """All targets with their configs as they come to on this host; nothing is fetched."""
    data_bytes = spec.usual_rows() * BYTES_PER_ROW
    whole = Sizing(memory_facts()["total_bytes"], spec.servers_up, os.cpu_count() or 1, data_bytes, Path)
    sizing = whole.limited_to(spec.memory)
    return [_planned(text, spec, sizing) for text in spec.targets]


def _planned(text: str, spec: ExperimentSpec, sizing: Sizing) -> Planned:
    target = parse_target(text)
    found = resolve(target)
    config = load_config(target.dbms, found.version, target.configs, sizing, spec.config_place)
    key = json.dumps([repr(found), acts_on_data(target.dbms, config, spec.config_place)], sort_keys=True)
    return Planned(target.dbms, found.version, repr(found), config, key)


def count_loads(targets: Sequence[Planned]) -> int:
    """Targets that differ in nothing but what acts at run time share a load, as snapshots do."""
    return len({target.key for target in targets})


def disk_bytes(spec: ExperimentSpec, targets: Sequence[Planned], usual_rows: UsualRows, snapshots: int = 1) -> int:
    """So many `snapshots` per load of each size, and a working copy of each target of the largest group that is up."""
    by_size = [usual_rows(size, spec.tables) for size in spec.table_sizes]
    needs = [target_bytes(target, max(by_size)) for target in targets]
    of_loads = {target.key: sum(target_bytes(target, rows) for rows in by_size) for target in targets}
    names = [str(number) for number in range(len(targets))]
    groups = make_groups(names, spec.order, spec.at_once)
    return snapshots * sum(of_loads.values()) + max(sum(needs[int(name)] for name in group.members) for group in groups)


def empty_bytes(targets: Sequence[Planned]) -> int:
    """Of snapshots without rows."""
    return sum({target.key: target_bytes(target, 0) for target in targets}.values())


def target_bytes(target: Planned, rows: int) -> int:
    """Of one target's data directory while tests run."""
    data_bytes, log_bytes = data_and_log_bytes(target, rows)
    return int(data_bytes + log_bytes)


def data_and_log_bytes(target: Planned, rows: int) -> tuple[float, float]:
    disk = find_dbms(target.dbms).disk
    stored = Stored(target.version, target.config.settings, target.config.init_options)
    data_bytes = rows * disk.row_bytes(stored)
    return data_bytes, disk.log_bytes(stored, data_bytes)
