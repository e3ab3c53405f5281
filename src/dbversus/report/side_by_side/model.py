"""What is shown of experiments side by side, as plain data."""

from dataclasses import dataclass

from dbversus.report.sections.contrast import Contrast


@dataclass(frozen=True)
class Facts:
    """One experiment: what it is called here, its folder, and where and how it was measured; empty where unknown.

    `imported`: measured by other tools, without blocks.
    """

    name: str
    directory: str
    host: str
    kernel: str
    table_sizes: str
    clients: str
    blocks: int
    measured: str
    imported: bool = False


@dataclass(frozen=True)
class SideBySide(Contrast[str]):
    """Two experiments or more, by their names. `notes`: what a reader has to know before believing it."""

    base: str
    experiments: tuple[Facts, ...]
    notes: tuple[str, ...] = ()
