"""A section of a report, as data: every format shows it, and none knows which sections there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dbversus.report.table import Table

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Part:
    """Tables, and under them what is to be known of all of them."""

    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """`caption`; `draw` gives the picture, as SVG, once it is needed."""

    caption: str
    draw: Callable[[], str]


@dataclass(frozen=True)
class Section(Part):
    """`title`; `sentences`, which say what it shows; `tables`, as eyes are shown them; `notes`.

    `data`: every figure in a line of its own, for the spreadsheet and for `show`; where it is empty, `tables` are. Tables of
    both with the same `sheet` share one. `charts_note`: under the charts; `charts_of`: the targets whose colours they have.
    `on_terminal`: what a report on the terminal has of the tables. `is_first`: it stands before the verdicts;
    `is_background`: after everything else, folded. `of_tests`: what the page shows of each test, in its stead;
    `of_tests_note` is said once. `print_on`: what `show` prints of it, in place of its tables. `content`: for report.json;
    `content_of_tests` by test. `name`: that of its file. `is_exact`: programs are given all digits. `is_broken`: it could not
    be made, and all that it has is a note that says so.
    """

    title: str = field(kw_only=True)
    sentences: Sequence[str] = field(default=(), kw_only=True)
    data: Sequence[Table] = field(default=(), kw_only=True)
    charts: Sequence[Chart] = field(default=(), kw_only=True)
    charts_note: str = field(default="", kw_only=True)
    charts_of: Sequence[str] = field(default=(), kw_only=True)
    on_terminal: Part | None = field(default=None, kw_only=True)
    is_first: bool = field(default=False, kw_only=True)
    is_background: bool = field(default=False, kw_only=True)
    of_tests: Mapping[str, Part] = field(default_factory=dict, kw_only=True)
    of_tests_note: str = field(default="", kw_only=True)
    print_on: "Callable[[Console], None] | None" = field(default=None, kw_only=True)
    content: Any = field(default=None, kw_only=True)
    content_of_tests: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    name: str = field(default="", kw_only=True)
    is_exact: bool = field(default=False, kw_only=True)
    is_broken: bool = field(default=False, kw_only=True)

    @property
    def has_text(self) -> bool:
        """Whether eyes are shown anything of it as a whole; others are for programs, spreadsheets, or parts of tests."""
        return bool(self.tables or self.sentences or self.notes or self.charts)

    @property
    def titled(self) -> Sequence[Table]:
        """The tables, the first with the section's title where it has none of its own."""
        return [replace(one, title=one.title or self.title) for one in self.tables]

    @property
    def lines(self) -> Sequence[Table]:
        """What programs are given."""
        return self.data or self.tables
