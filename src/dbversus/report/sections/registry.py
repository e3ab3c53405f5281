"""The sections of a report, in their order. Imports none of them: the command line names them all at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbversus.report.judged import Judged
    from dbversus.report.section import Section


@dataclass(frozen=True)
class Registered:
    """`name`: of the module in this folder that has `section(judged)`, and of the table of `show`.

    A module that has `asked(judged)` gives `show` that instead; without `section` no report has it. `what` the table shows, for
    --help. `key`: of the section in report.json, or in each of its `tests` (`by_test`), where it is `absent` without a section;
    without a key, report.json does not have it.
    """

    name: str
    what: str
    key: str = ""
    absent: Any = None
    by_test: bool = False

    def section(self, judged: "Judged") -> "Section | None":
        section = getattr(self._module, "section", None)
        made: Section | None = section(judged) if section else None
        return made and replace(made, name=self.name)

    def asked(self, judged: "Judged") -> "Section | None":
        """For `show`, which may have it where no report does."""
        module = self._module
        made: Section | None = (module.asked if hasattr(module, "asked") else module.section)(judged)
        return made and replace(made, name=self.name)

    @property
    def lacks(self) -> str:
        """What results without this section are told."""
        return str(getattr(self._module, "LACKS", f"has nothing to show for --table {self.name}."))

    @property
    def _module(self) -> Any:
        return import_module(f"dbversus.report.sections.{self.name}")


_ALL = (
    Registered("findings", "verdicts on the judged metrics"),
    Registered("changes", "tests that changed, with both values and the likely cause, largest changes first"),
    Registered("matrix", "throughput and memory, a line per target", "matrix"),
    Registered(
        "forms", "tests that are judged against each other on each target (docs/suites/clients.md)", "forms", ()
    ),
    Registered(
        "functions", "which functions the CPU time goes to, where that was profiled (docs/explain.md)", "functions", ()
    ),
    Registered("waits", "what operations wait for, where that was recorded (docs/explain.md)", "off_cpu", ()),
    Registered("causes", "why tests changed: causes and leads, ranked (docs/explain.md)", "causes", ()),
    Registered("after_writes", "what tests do after the writes of a suite, against before them", "after_writes"),
    Registered("claims", "what a published post claims, and whether it is found (docs/posts.md)", "posts", ()),
    Registered("summary", "rates of steps, against the base, and the insert rate beside queries", "steps"),
    Registered("steps", "columns of the Insert Benchmark, of tests that last"),
    Registered("scaleup", "what more clients bring", "scaleup"),
    Registered("sizes", "what larger tables change", "sizes"),
    Registered("generations", "an older and a newer version of each of two DBMSs (docs/modes.md)", "generations"),
    Registered("roles", "kinds of clients: rates, response times, SLA", "roles", {}, by_test=True),
    Registered("response", "response times in fixed buckets, a line per role and target"),
    Registered("objects", "reads, writes, rows and sizes of single tables, indexes and files", "objects", by_test=True),
    Registered(
        "phases", "what servers owed and held when each phase began: work put off, levels of an LSM tree", "phases", ()
    ),
    Registered("events", "what servers did of their own accord in tests that last, in their first block"),
    Registered("efficiency", "CPU, switches and IO per operation"),
    Registered("throughput", "rates of all tests, a column per target, and against the base"),
    Registered("throughput_2021", "the same in the form of January 2021, a column per number of clients"),
    Registered("io", "bytes per operation: asked of the kernel, of the disk, from the page cache"),
    Registered("imported", "figures of an import, as printed, with file and line"),
    Registered("targets", "what was compared: builds, their compilers, configs, sizes of the data"),
)
SECTIONS: Mapping[str, Registered] = {each.name: each for each in _ALL}
USUAL = "findings"
"""What `show` has unless another is named."""


def sections_of(judged: "Judged") -> "tuple[Section, ...]":
    """Those that have anything to show. One that fails is a sentence instead, and takes nothing else with it."""
    return tuple(_made(judged))


def _made(judged: "Judged") -> "Iterator[Section]":
    for each in SECTIONS.values():
        try:
            section = each.section(judged)
        except Exception as error:
            yield broken(each.name, error)
        else:
            if section:
                yield section


def broken(name: str, error: Exception) -> "Section":
    """What stands in the place of a section that could not be made."""
    from dbversus.report.section import Part, Section

    said = f"The section “{name}” could not be made, all others could ({type(error).__name__}: {error})."
    part = Part(notes=(said,))
    return Section(title=f"Not shown: {name}", notes=part.notes, on_terminal=part, name=name, is_broken=True)
