"""The causes and leads that the changes of runs would be given if the two copies were different builds: none is right."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from common import markdown

from dbversus.report.assessment import build_assessment
from dbversus.report.parts.notes.cause_words import why
from dbversus.results.stored import Results
from independent_runs.outcome import finished_runs


def leads_table(folders: Sequence[Path]) -> str:
    runs, rows, changes = 0, [], 0
    for run, _, results in finished_runs(folders):
        runs += 1
        for one in build_assessment(as_other_builds(results)).explanations:
            changes += 1
            if one.likely:
                rows.append([run.name, one.test, one.metric, f"{one.ratio:.3f}", why(one)[1]])
    counted = f"runs: {runs}, changes in them: {changes}, with a cause or lead: {len(rows)}"
    return f"{counted}\n\n{markdown(['run', 'test', 'metric', 'ratio', 'told'], rows)}" if rows else counted


def as_other_builds(results: Results) -> Results:
    """Copies of one build are known to be the same, and are given no cause at all."""
    base, *others = results.header.targets
    told_apart = [msgspec.structs.replace(one, checksum=f"{one.checksum} of {one.name}") for one in others]
    return replace(results, header=msgspec.structs.replace(results.header, targets=[base, *told_apart]))
