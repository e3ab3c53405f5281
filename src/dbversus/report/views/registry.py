"""The tables of `dbversus show`, by name. Imports none of them: the command line names them all at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dbversus.report.sections.registry import SECTIONS, Registered

if TYPE_CHECKING:
    from rich.console import Console

    from dbversus.results.stored import Results


@dataclass(frozen=True)
class Shown:
    """A table as data, for pipes. `print_on`: how eyes are shown it, where that is more than its rows and columns."""

    columns: list[str]
    rows: Sequence[tuple[Any, ...]]
    print_on: "Callable[[Console], None] | None" = None


@dataclass(frozen=True)
class View:
    """The module of its name, in this folder, has `show(results)`."""

    name: str
    what: str

    def show(self, results: "Results") -> Shown:
        from dbversus.stats.values.finished import of_finished_blocks

        shown: Shown = import_module(f"dbversus.report.views.{self.name}").show(of_finished_blocks(results))
        return shown


class OfSection(View):
    """A section of the report."""

    def __init__(self, registered: Registered) -> None:
        super().__init__(registered.name, registered.what)

    def show(self, results: "Results") -> Shown:
        from dbversus.report.views.section import show

        return show(SECTIONS[self.name], results)


_ALL = (
    View("findings", "verdicts on the judged metrics"),
    View("imported", "figures of an import, as printed, with file and line"),
)
VIEWS: Mapping[str, View] = {each.name: each for each in (*_ALL, *map(OfSection, SECTIONS.values()))}
USUAL = "findings"
