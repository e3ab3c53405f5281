"""The files that a report is written to, by name. Imports no format: the command line names them all at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.report.model import Assessment


@dataclass(frozen=True)
class Format:
    """`write(assessment, path)` of a `module` in this folder makes `file`, which may be a folder, in the results directory.

    `folder`: one that it makes beside it.
    """

    name: str
    file: str
    module: str
    what: str
    folder: str = ""

    def write(self, assessment: "Assessment", directory: Path) -> Path:
        """Writes the file, or the folder; gives its path."""
        path = directory / self.file
        if path.is_symlink():  # what it leads to is not ours to write
            path.unlink()
        import_module(f"dbversus.report.formats.{self.module}").write(assessment, path)
        return path


_ALL = (
    Format("html", "report.html", "html", "a page with charts"),
    Format("md", "report.md", "markdown", "for issues and pull requests"),
    Format("pr", "pr.md", "pull_request", "a comment of few lines for a pull request"),
    Format("json", "report.json", "json", "all of it as data"),
    Format("xlsx", "report.xlsx", "xlsx.write", "every table, as a spreadsheet"),
    Format("csv", "report.csv", "csv", "the verdicts, a line each"),
    Format("post", "post.md", "post.write", "a post as the reference writes them, with charts", "post"),
    Format("charts", "charts", "charts", "a folder: charts to publish, as SVG and PNG, light and dark"),
    Format("reference", "reference", "reference", "a folder: summaries as the reference method's scripts print them"),
)
FORMATS: Mapping[str, Format] = {each.name: each for each in _ALL}
USUAL = ("html", "md", "json")
"""What every run writes."""


def find_formats(names: Iterable[str]) -> list[Format]:
    """Formats by name, each once; UsageError for an unknown one."""
    found = list(dict.fromkeys(names))
    for name in found:
        if name not in FORMATS:
            raise UsageError(f"--format {name or repr(name)} is unknown; accepted: {', '.join(FORMATS)}.")
    return [FORMATS[name] for name in found]
