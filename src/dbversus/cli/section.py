"""A section that is the whole output of a verb, in the format that was asked for."""

import sys
from typing import TYPE_CHECKING

from dbversus.cli.tables import print_json, write_csv

if TYPE_CHECKING:
    from dbversus.report.section import Section

FORMATS = ("table", "json", "csv", "md", "html")


def give(section: "Section", format: str) -> None:
    """On standard output; `format`: one of FORMATS."""
    # formats take long to import
    if format == "json":
        print_json(section.content)
    elif format == "csv":
        write_csv(*section.lines[0].plain())
    elif format == "md":
        from dbversus.report.formats.markdown import page_parts

        print("\n\n".join(page_parts(section)))
    elif format == "html":
        from dbversus.report.formats.html import render_section

        sys.stdout.write(render_section(section))
    else:
        from dbversus.report.terminal import make_console
        from dbversus.report.texts import print_section

        console = make_console()
        # a pipe has room for all columns
        shown = section.on_terminal if section.on_terminal and console.is_terminal else section
        print_section(console, section, shown)
