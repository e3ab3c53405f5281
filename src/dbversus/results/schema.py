"""The results directory, version 2: names of its files, and columns of those of slots, roles and imports; tables/ has the others.

docs/results-directory.md."""

SCHEMA_VERSION = 2

CAMPAIGN = "campaign.jsonl"
"""The journal of a campaign, in the folder that holds its experiments (docs/campaigns.md)."""
EXPERIMENT = "experiment.toml"
LOAD_TEST = "load"
"""The test that the load of the tables is."""

JOURNAL = "journal.jsonl"
SLOTS = "slots.parquet"
ROLES = "roles.parquet"
HOST = "host.json"
SERVERS = "servers"
LATENCY = "latency"
PROFILES = "profiles"
MEASURED = "measured"
"""What was measured to explain an experiment's changes, in its folder: a campaign in each folder there."""
SUITE = "suite"
CONFIGS = "configs"

IMPORTED_SUITE = "imported"
"""Of an import, where an experiment that was measured has the name of its suite."""


def is_load(case: str) -> bool:
    """Whether it is the load: `load`, or `load@20k` where there are several sizes."""
    return case.partition("@")[0] == LOAD_TEST


# name -> DuckDB type; one row per target and slot. `disturbed`: the host was, in its row, by `disturbed_why`; such a row counts
# like any other
SLOT_COLUMNS: dict[str, str] = {
    "test": "VARCHAR",
    "target": "VARCHAR",
    "block": "INTEGER",
    "row": "INTEGER",
    "position": "INTEGER",
    "clients": "INTEGER",
    "started_unix_ns": "BIGINT",
    "disturbed": "BOOLEAN",
    "disturbed_why": "VARCHAR",
    "elapsed_ns": "BIGINT",
    "ops": "BIGINT",
    "driven_ops": "BIGINT",
    "statements": "BIGINT",
    "rows": "BIGINT",
    "affected": "BIGINT",
    "errors": "BIGINT",
    "mean_ns": "BIGINT",
    "p50_ns": "BIGINT",
    "p95_ns": "BIGINT",
    "p99_ns": "BIGINT",
    "max_ns": "BIGINT",
    "server_cpu_ns": "BIGINT",
    "server_user_ns": "BIGINT",
    "server_system_ns": "BIGINT",
    "server_foreground_cpu_ns": "BIGINT",
    "server_background_cpu_ns": "BIGINT",
    "server_wait_ns": "BIGINT",
    "server_switches": "BIGINT",
    "server_minor_faults": "BIGINT",
    "server_major_faults": "BIGINT",
    "server_read_bytes": "BIGINT",
    "server_write_bytes": "BIGINT",
    "driven_read_bytes": "BIGINT",
    "driven_write_bytes": "BIGINT",
    "server_read_calls": "BIGINT",
    "server_write_calls": "BIGINT",
    "server_read_call_bytes": "BIGINT",
    "server_write_call_bytes": "BIGINT",
    "disk_reads": "BIGINT",
    "disk_writes": "BIGINT",
    "disk_read_bytes": "BIGINT",
    "disk_write_bytes": "BIGINT",
    "device_reads": "BIGINT",
    "device_writes": "BIGINT",
    "device_read_bytes": "BIGINT",
    "device_write_bytes": "BIGINT",
    "device_read_ns": "BIGINT",
    "device_write_ns": "BIGINT",
    "device_busy_ns": "BIGINT",
    "device_queue_ns": "BIGINT",
    "client_cpu_ns": "BIGINT",
    "client_user_ns": "BIGINT",
    "client_system_ns": "BIGINT",
    "client_switches": "BIGINT",
    "host_wall_ns": "BIGINT",
    "host_foreign_cpu_ns": "BIGINT",
    "host_steal_ns": "BIGINT",
    "host_psi_cpu_us": "BIGINT",
    "host_psi_io_us": "BIGINT",
    "host_psi_memory_us": "BIGINT",
}

LATER_SLOT_COLUMNS = frozenset(name for name in SLOT_COLUMNS if name.startswith(("disk_", "device_"))) | {
    "server_read_call_bytes",
    "server_write_call_bytes",
}
"""They are unknown where an older dbversus measured."""

DRIVEN_COLUMNS = {
    "driven_ops": "ops",
    "driven_read_bytes": "server_read_bytes",
    "driven_write_bytes": "server_write_bytes",
}
"""Of the slot with its settle part → of the slot alone, which is all that is known where an older dbversus measured."""

# name -> DuckDB type; one row per target, slot and role, of tests with roles
ROLE_COLUMNS: dict[str, str] = {
    "test": "VARCHAR",
    "target": "VARCHAR",
    "block": "INTEGER",
    "row": "INTEGER",
    "role": "VARCHAR",
    "elapsed_ns": "BIGINT",
    "ops": "BIGINT",
    "statements": "BIGINT",
    "rows": "BIGINT",
    "affected": "BIGINT",
    "errors": "BIGINT",
    "mean_ns": "BIGINT",
    "p50_ns": "BIGINT",
    "p95_ns": "BIGINT",
    "p99_ns": "BIGINT",
    "max_ns": "BIGINT",
    "service_mean_ns": "BIGINT",
    "service_p50_ns": "BIGINT",
    "service_p95_ns": "BIGINT",
    "service_p99_ns": "BIGINT",
    "service_max_ns": "BIGINT",
    "scheduled": "BIGINT",
    "late": "BIGINT",
    "overdue": "BIGINT",
    "finished_ns": "BIGINT",
    "schedule_ns": "BIGINT",
}

MILLION_ROWS, THOUSAND_ROWS = "million rows/s", "thousand rows/s"
"""Units of the rates of scans in the reference's files of January 2021, and of now."""
PER_THOUSAND_ROWS = "/1000 rows"
"""In units of scans of now, instead of `/op`."""
IMPORTED_FIGURES = "imported.parquet"
IMPORTED_LINES = "imported-lines.parquet"
IMPORTED_FILES = "imported-files.parquet"

# name -> DuckDB type; one row per figure of an import. `value` NULL: the file says NA. `relative`: divided by `relative_to`'s.
# `run` NULL: a summary, which does not tell of which run of its test and target the figure is
IMPORTED_COLUMNS: dict[str, str] = {
    "test": "VARCHAR",
    "target": "VARCHAR",
    "clients": "INTEGER",
    "metric": "VARCHAR",
    "unit": "VARCHAR",
    "value": "DOUBLE",
    "decimals": "INTEGER",
    "relative": "BOOLEAN",
    "relative_to": "VARCHAR",
    "run": "INTEGER",
    "second": "DOUBLE",
    "file": "VARCHAR",
    "line": "BIGINT",
}

# name -> DuckDB type; one row per line of an imported file that was kept as it is
IMPORTED_LINE_COLUMNS: dict[str, str] = {"file": "VARCHAR", "line": "BIGINT", "kind": "VARCHAR", "text": "VARCHAR"}

# name -> DuckDB type; one row per file that an import met. `format` NULL: it was not read, `problem` says why
IMPORTED_FILE_COLUMNS: dict[str, str] = {
    "file": "VARCHAR",
    "format": "VARCHAR",
    "bytes": "BIGINT",
    "lines": "BIGINT",
    "figures": "BIGINT",
    "unknown_lines": "BIGINT",
    "problem": "VARCHAR",
}
