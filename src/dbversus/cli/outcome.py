"""What a verb that ends with results shows, and the exit status that follows."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dbversus.errors import UsageError

if TYPE_CHECKING:
    from dbversus.report.model import Assessment

FAIL_ON_MET = 99
_CONDITIONS = ("regression",)


def check_fail_on(condition: str | None) -> None:
    if condition is not None and condition not in _CONDITIONS:
        raise UsageError(f"--fail-on {condition} is unknown; accepted: {', '.join(_CONDITIONS)}.")


def present(directory: Path, *, fail_on: str | None, as_json: bool) -> int:
    """Judges `directory` anew, writes its reports, shows the table (or JSON); returns the exit status."""
    # statistics and charts take seconds to import: not for --help, nor before a run
    from rich.console import Console

    from dbversus.report import html, json_report, markdown, text
    from dbversus.report.assessment import build_assessment
    from dbversus.results.read import open_results

    assessment = build_assessment(open_results(directory))
    html.write(assessment, directory / "report.html")
    markdown.write(assessment, directory / "report.md")
    json_report.write(assessment, directory / "report.json")
    if as_json:
        sys.stdout.write((directory / "report.json").read_text())
    else:
        text.render(assessment, Console())
    print(f"report: {(directory / 'report.html').resolve()}", file=sys.stderr if as_json else sys.stdout)
    return FAIL_ON_MET if fail_on and has_regression(assessment) else 0


def has_regression(assessment: "Assessment") -> bool:
    """A wrong result is worse than a slow one, so it counts too; without a steady state the cost of all the work does."""
    from dbversus.stats.headline import worse_over_all_work
    from dbversus.stats.model import Verdict

    return any(
        comparison.verdict in (Verdict.REGRESSION, Verdict.WRONG_RESULT) or worse_over_all_work(comparison.findings)
        for test in assessment.tests
        for comparison in test.comparisons
    )
