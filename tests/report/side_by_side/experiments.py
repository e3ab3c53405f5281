"""Results directories of several hosts with known ratios."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dbversus.results.read import open_results
from dbversus.results.stored import Results

from ..pairs import FOUR, Contender, write_pairs

BASE = FOUR[0]
SLOWER = Contender("postgres:17", "postgres", "17.2", time=1.25, cpu=1.25)
ALIKE = replace(SLOWER, time=1.0, cpu=1.0)


def write_experiment(
    directory: Path,
    contenders: Sequence[Contender] = (BASE, ALIKE),
    host: dict[str, Any] | None = None,
    blocks: int = 4,
    seed: int = 1,
    **header: Any,
) -> Results:
    first = {"suite": "sysbench", "suite_checksum": "aa", "clients": [1], "looks": [4], **header}
    write_pairs(directory, contenders, blocks=blocks, seed=seed, **first)
    if host is not None:
        (directory / "host.json").write_text(json.dumps(host))
    return open_results(directory)


def host(model: str = "Small CPU", cores: int = 2, kernel: str = "6.1.0") -> dict[str, Any]:
    return {"cpu": {"model": model, "cores": cores}, "kernel": kernel}


def two_hosts(folder: Path, **other: Any) -> list[Results]:
    """The target is slower on the second host alone."""
    return [
        write_experiment(folder / "a", host=host()),
        write_experiment(folder / "b", (BASE, SLOWER), host("Large CPU", 64), blocks=6, seed=2, **other),
    ]
