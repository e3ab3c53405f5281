"""What a verb that ends with results shows, and the exit status that follows."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbversus.cli.ending import told_in_a_sentence
from dbversus.errors import RunError, UsageError
from dbversus.experiment.asked.demands import Demands
from dbversus.report.formats.registry import USUAL, find_formats

if TYPE_CHECKING:
    from dbversus.results.stored import Results
    from dbversus.stats.comparison import Comparison

NOT_JUDGED = 98
FAIL_ON_MET = 99


def present(
    directory: Path,
    demands: Demands,
    *,
    as_json: bool,
    formats: Sequence[str] = (),
    base: str | None = None,
    earlier: Path | None = None,
    renames: Sequence[str] = (),
) -> int:
    """Judges `directory` anew, writes its reports, shows the table (or JSON); returns the exit status.

    `formats`: the reports that were asked for; without any the usual ones are written, and the page is named. `base`: label of
    the target to compare with; None: the experiment's own. `earlier`: results of an earlier take, whose targets `renames` call
    otherwise (`OLD=NEW`); a post tells what changed since.
    """
    # statistics and charts take seconds to import: not for --help, nor before a run
    from dbversus.report.assessment import build_assessment
    from dbversus.report.formats import json as json_report
    from dbversus.report.formats import text
    from dbversus.report.model import Ending
    from dbversus.report.terminal import make_console
    from dbversus.results.read import open_results
    from dbversus.stats.forms import compare_forms

    results = open_results(directory, base)
    assessment = build_assessment(results)
    if earlier:
        from dbversus.report.side_by_side.since import since

        before = open_results(earlier, base)
        assessment = replace(assessment, since=since(results, before, renames))
    forms = [one.comparison for one in compare_forms(results)]
    status, reasons = _ending(results, [*assessment.comparisons, *forms], demands)
    assessment = replace(assessment, ending=Ending(status, tuple(reasons)))
    written = [each.write(assessment, directory) for each in find_formats(formats or USUAL)]
    if as_json:
        sys.stdout.write(json_report.render(assessment))
    else:
        text.render(assessment, make_console())
        if assessment.tells_why:
            print(f"why: dbversus explain {shlex.quote(str(directory))}")
    for path in written if formats else written[:1]:
        print(f"report: {path}", file=sys.stderr if as_json else sys.stdout)
    _say(reasons)
    return status


def status_of(results: "Results", comparisons: Sequence["Comparison"], demands: Demands) -> int:
    """0, or the status of the demand that is not met, with what was found on standard error."""
    status, reasons = _ending(results, comparisons, demands)
    _say(reasons)
    return status


def _ending(results: "Results", comparisons: Sequence["Comparison"], demands: Demands) -> tuple[int, list[str]]:
    """The exit status, and why it is not 0."""
    from dbversus.cli.demands import conditions_met, not_judged

    if met := conditions_met(results, comparisons, demands.fail_on):
        return FAIL_ON_MET, met
    if demands and (missing := not_judged(results, comparisons, demands.least_share)):
        return NOT_JUDGED, missing
    return 0, []


def _say(sentences: list[str]) -> None:
    sys.stdout.flush()
    for sentence in sentences:
        print(f"dbversus: {sentence}", file=sys.stderr)


@contextmanager
def heeding(directory: Path, demands: Demands) -> Iterator[None]:
    """A run that fails has status 1, unless what it has measured until then meets a condition of --fail-on."""
    try:
        yield
    except (RunError, OSError) as error:
        if not demands.fail_on or not _meets(directory, demands):
            raise
        failed = RunError(told_in_a_sentence(error))
        failed.status = FAIL_ON_MET
        raise failed from error


def _meets(directory: Path, demands: Demands) -> bool:
    from dbversus.results.read import open_results
    from dbversus.stats.comparison import compare
    from dbversus.stats.forms import compare_forms

    try:
        results = open_results(directory)
    except UsageError:  # it failed before anything was measured
        return False
    forms = [one.comparison for one in compare_forms(results)]
    return status_of(results, [*compare(results), *forms], demands) == FAIL_ON_MET
