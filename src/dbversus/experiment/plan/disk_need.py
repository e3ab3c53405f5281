"""Room that targets need, from what their configs come to: rows as they are stored, logs as they are sized."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.store import resolve
from dbversus.builds.target import parse_target
from dbversus.experiment.asked.groups import make_groups
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.host.facts import memory_facts
from dbversus.servers.base import ServerConfig
from dbversus.servers.config.file import version_key
from dbversus.servers.config.load import load_config
from dbversus.servers.config.memory import size_bytes
from dbversus.servers.config.run_time import acts_on_data
from dbversus.servers.config.sizing import Sizing

BYTES_PER_ROW = 260
"""Of a table with its indexes, with usual settings: what `data` in config files is made of."""

# what the tests of a block write to logs that are kept until its end, measured with the sysbench suite
WRITTEN_BYTES = 600_000_000
_MB = 2**20
_HEAP_BYTES, _INDEX_BYTES = 222, 38  # of a PostgreSQL row
_ROW_BYTES, _TEXT_BYTES, _SECONDARY_BYTES = (
    220,
    180,
    16,
)  # of an InnoDB row: all of it, its CHAR columns, its index on k
_PAGE_HEAD_BYTES = 200
_CHARSET_BYTES = {"utf8mb4": 4, "utf8mb3": 3, "utf8": 3, "utf32": 4, "utf16": 4, "ucs2": 2}


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
    data_bytes = spec.table_size * spec.tables * BYTES_PER_ROW
    sizing = Sizing(memory_facts()["total_bytes"], spec.servers_up, os.cpu_count() or 1, data_bytes, Path)
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


def disk_bytes(spec: ExperimentSpec, targets: Sequence[Planned], snapshots: int = 1) -> int:
    """So many `snapshots` per load, and a working copy of each target of the largest group that is up."""
    rows = spec.table_size * spec.tables
    needs = [target_bytes(target, rows) for target in targets]
    of_loads = {target.key: need for target, need in zip(targets, needs, strict=True)}
    names = [str(number) for number in range(len(targets))]
    groups = make_groups(names, spec.order, spec.at_once)
    return snapshots * sum(of_loads.values()) + max(sum(needs[int(name)] for name in group.members) for group in groups)


def target_bytes(target: Planned, rows: int) -> int:
    """Of one target's data directory while tests run."""
    data = rows * row_bytes(target)
    return int(data + log_bytes(target, data))


def row_bytes(target: Planned) -> float:
    """Roughly: a row of a table, with its indexes."""
    match target.dbms:
        case "postgres":
            full = int(target.config.init_options.get("fillfactor", 100)) / 100
            return _HEAP_BYTES / full + _INDEX_BYTES / min(1.0, full / 0.9)
        case "mysql" | "mariadb":
            return _innodb_row_bytes(target)
    return BYTES_PER_ROW


def _innodb_row_bytes(target: Planned) -> float:
    settings = target.config.settings
    row = float(_ROW_BYTES)
    if settings.get("innodb_default_row_format", "").upper() == "REDUNDANT":
        # it keeps room for the longest text of as many characters; the others for the text that there is
        row += _TEXT_BYTES * (_CHARSET_BYTES.get(_charset(target), 1) - 1)
    page = size_bytes(target.config.init_options.get("innodb_page_size", "16384")) or 16384
    rows_per_page = max(1, int((page - _PAGE_HEAD_BYTES) * 15 / 16 / row))
    full = float(settings.get("innodb_fill_factor", 100)) / 100
    return page / rows_per_page + _SECONDARY_BYTES / max(full, 0.1)


def _charset(target: Planned) -> str:
    newer = (11, 6) if target.dbms == "mariadb" else (8,)
    default = "utf8mb4" if version_key(target.version) >= newer else "latin1"
    return target.config.settings.get("character_set_server", default)


def log_bytes(target: Planned, data: float) -> float:
    """Logs that are there when a block ends."""
    settings = target.config.settings
    match target.dbms:
        case "postgres":
            most = size_bytes(settings.get("max_wal_size", "1GB"), _MB) or 2**30
            segment = int(target.config.init_options.get("wal_segsize", 16)) * _MB
            return max(2 * segment, min(most, data + WRITTEN_BYTES))
        case "mysql" | "mariadb":
            return redo_bytes(target) + (WRITTEN_BYTES if _has_binlog(target) else WRITTEN_BYTES / 4)
        case "sqlite":
            return data  # the journal of one large transaction
    return WRITTEN_BYTES


def redo_bytes(target: Planned) -> float:
    """InnoDB allocates all of its redo logs at once."""
    settings, version = target.config.settings, version_key(target.version)
    size, files = settings.get("innodb_log_file_size"), settings.get("innodb_log_files_in_group")
    if target.dbms == "mysql" and version >= (8, 0, 30):
        capacity = settings.get("innodb_redo_log_capacity")
        if capacity or not (size or files):
            return size_bytes(capacity or "100M") or 0.0
    one_file = target.dbms == "mariadb" and version >= (10, 5)
    default = "96M" if one_file else "5M" if target.dbms == "mysql" and version < (5, 6, 8) else "48M"
    return (size_bytes(size or default) or 0.0) * (1 if one_file else int(files or 2))


def _has_binlog(target: Planned) -> bool:
    settings = target.config.settings
    off = any(name in settings for name in ("skip_log_bin", "disable_log_bin")) or settings.get("log_bin") in (
        "0",
        "OFF",
    )
    return not off and ("log_bin" in settings or (target.dbms == "mysql" and version_key(target.version) >= (8,)))
