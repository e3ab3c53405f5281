"""Asks, as a run would, whether every target's server takes its settings; nothing is fetched, and no server started."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dbversus.builds.catalog import CatalogEntry
from dbversus.builds.model import Build, TargetSpec
from dbversus.experiment.asked.spec import ExperimentSpec
from dbversus.experiment.rig.data.script import check_scripts
from dbversus.experiment.rig.stage import check_configs, check_server, check_tables
from dbversus.servers.base import ServerConfig
from dbversus.servers.create import create_server


@dataclass(frozen=True)
class Asked:
    """A target of an experiment, and what it stands for on this host."""

    label: str
    spec: TargetSpec
    found: Build | CatalogEntry


def check_settings(asked: Sequence[Asked], spec: ExperimentSpec) -> list[str]:
    """A note for each target, mostly an empty one. Raises UsageError or RunError where a run would."""
    suite = spec.read_suite()
    check_scripts(suite, [one.spec.dbms for one in asked])
    configs = check_configs(spec, suite, [one.spec for one in asked], [one.found.version for one in asked])
    # not in the home, which a plan leaves as it is
    with tempfile.TemporaryDirectory(prefix="dbversus-") as folder:
        work_dir = Path(folder)
        work_dir.chmod(0o755)  # the servers' user reads it
        return [
            _check(one, config, spec, work_dir, is_base=one is asked[0])
            for one, config in zip(asked, configs, strict=True)
        ]


def _check(one: Asked, config: ServerConfig, spec: ExperimentSpec, work_dir: Path, *, is_base: bool) -> str:
    if not isinstance(one.found, Build):
        return "its settings are checked once it is there"
    server = create_server(one.found, config, work_dir)
    check_tables(spec, spec.read_suite(), [server])
    why = check_server(server, one.spec.configs, spec.optional, is_base=is_base)
    return f"left out: {why}" if why else "; ".join(server.notes)
