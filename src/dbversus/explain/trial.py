"""The command that tests a cause: the target beside itself with one setting as the base has it, in the test that changed."""

import shlex

from dbversus.names import split_names
from dbversus.results.records import Experiment
from dbversus.stats.across.clients import case_of
from dbversus.stats.across.sizes import size_of

_LEFT_OUT = frozenset({"--tests", "--out", "--matrix", "--builds", "--exclude", "--scaled", "--time-budget"})


def trial_command(header: Experiment, target: str, test: str, settings: str) -> str:
    """`target`: its label. `settings`: `name=value`, with commas between. Empty where no target can be named so."""
    target = next((one.written for one in header.targets if one.label == target), target.partition("#")[0])
    changed = _changed(target, settings) if settings and header.suite else ""
    if changed in ("", target):
        return ""
    named = [target, changed]
    return shlex.join(["dbversus", "compare", *named, "--tests", _test_of(test), *_options(header)])


def _changed(target: str, settings: str) -> str:
    """With these settings in place of its own; empty where they are items of a list that it sets already."""
    build, _, configs = target.partition("@")
    names = {item.partition("=")[0] for item in settings.split(",")}
    kept = [item for item in split_names(configs) if item.partition("=")[0] not in names]
    if len(kept) < len(split_names(configs)) and any(item.count("=") > 1 for item in settings.split(",")):
        return ""
    return f"{build}@{','.join([*kept, settings])}"


def _test_of(case: str) -> str:
    for split in (size_of, case_of):
        found = split(case)
        case = found[0] if found else case
    return case


def _options(header: Experiment) -> list[str]:
    """Those of the experiment's own command, where it compared; else what decides its data."""
    words = shlex.split(header.command)
    if words[:2] != ["dbversus", "compare"]:
        size = [] if header.table_size is None else ["--table-size", str(header.table_size)]
        return ["--suite", header.suite, *size]
    first = next((place for place, word in enumerate(words) if word.startswith("--")), len(words))
    kept: list[str] = []
    leave_out = False
    for word in words[first:]:
        if word.startswith("--"):
            leave_out = word.partition("=")[0] in _LEFT_OUT
        if not leave_out:
            kept.append(word)
    return kept
