"""Outcomes as a file that a repository can keep: a line per run, test and primary metric. So half a day of runs may be measured
in pieces, on hosts that do not last."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import TextIO

from dbversus.errors import UsageError
from dbversus.stats.metrics import metric_named
from dbversus.stats.model import Finding, Verdict
from independent_runs.evidence import SUFFIX
from independent_runs.outcome import Outcome, TestOutcome, read_outcomes
from independent_runs.plan import read_name


@dataclass(frozen=True)
class Line:
    """As in the file: what is not known is empty. `day` and `host` are those of the run; metric and the rest, of a finding."""

    run: str
    day: str
    host: str
    dbms: str
    minutes: str
    test: str
    verdict: str
    asked: str
    truth: str
    metric: str
    metric_verdict: str
    ratio: str
    low: str
    high: str


HEADS = [field.name for field in fields(Line)]


def write_kept(outcomes: Iterable[Outcome], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADS)
    writer.writerows(astuple(line) for outcome in outcomes for line in _lines(outcome))


def _lines(outcome: Outcome) -> Iterator[Line]:
    of_run = outcome.run.name, outcome.day, outcome.host, outcome.dbms, _number(outcome.minutes, 2)
    for test in outcome.tests:
        of_test = test.test, test.verdict, f"{test.asked:g}", _number(test.truth, 6)
        for metric, found in test.findings.items():
            bounds = (_number(value, 5) for value in (found.ratio, found.low, found.high))
            yield Line(*of_run, *of_test, metric, found.verdict, *bounds)


def read_kept(path: Path) -> list[Outcome]:
    """Raises UsageError when the file cannot be read, or is not one of `export`."""
    if path.suffix == SUFFIX:
        raise UsageError(f"{path} is a file of `keep`; `judge` counts what is in it.")
    try:
        with path.open(newline="") as file:
            heads, *rows = [*csv.reader(file)] or [[]]
        if heads != HEADS:
            raise UsageError(f"{path} is no file of `export`: its first line is not {','.join(HEADS)}.")
        lines = [Line(*row) for row in rows]
        return [_outcome(list(own)) for _, own in groupby(lines, key=lambda line: line.run)]
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path} is damaged: {error}.") from error


def _outcome(lines: Sequence[Line]) -> Outcome:
    first, run = lines[0], read_name(lines[0].run)
    if run is None:
        raise ValueError(f"'{first.run}' names no run")
    tests = [_test(list(own)) for _, own in groupby(lines, key=lambda line: line.test)]
    return Outcome(run, first.dbms, _value(first.minutes), tests, first.day, first.host)


def _test(lines: Sequence[Line]) -> TestOutcome:
    first = lines[0]
    findings = {line.metric: _finding(line) for line in lines}
    return TestOutcome(first.test, Verdict(first.verdict), findings, float(first.asked), _value(first.truth))


def _finding(line: Line) -> Finding:
    """What tables show of it; nothing else is kept."""
    return Finding(
        test=line.test,
        target="copy",
        metric=line.metric,
        verdict=Verdict(line.metric_verdict),
        ratio=_value(line.ratio),
        low=_value(line.low),
        high=_value(line.high),
        margin=metric_named(line.metric).margin,
        confidence=0.95,
        blocks=0,
        p_value=None,
        q_value=None,
        smallest_visible_change=None,
        block_sd=None,
        degrees_of_freedom=None,
    )


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _value(text: str) -> float | None:
    return float(text) if text else None


def outcomes_in(sources: Sequence[Path]) -> list[Outcome]:
    """Finished runs of files and folders, each once. Raises UsageError where there is none, and for what is not there."""
    if missing := [path for path in sources if not path.exists()]:
        raise UsageError(f"{missing[0]} is not there; name folders of `measure` and files of `export`.")
    files = [path for path in sources if path.is_file()]
    folders = [path for path in sources if not path.is_file()]
    first: dict[tuple[str, str], Outcome] = {}
    for outcome in [*(one for path in files for one in read_kept(path)), *read_outcomes(folders)]:
        first.setdefault((outcome.run.name, outcome.dbms), outcome)
    if not first:
        raise UsageError(f"There is no finished run in {', '.join(map(str, sources))}; `measure` makes some.")
    return list(first.values())


def names_in(paths: Iterable[Path]) -> frozenset[str]:
    """Names of the runs that the files have."""
    return frozenset(outcome.run.name for path in paths for outcome in read_kept(path))
