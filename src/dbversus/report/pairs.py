"""Two generations from stored results: which targets are the old and the new pair, and what spoils their comparison."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbversus.errors import UsageError
from dbversus.report.code_layout import layout_note
from dbversus.results.records import Answers
from dbversus.results.stored import Results, Target
from dbversus.stats.across.generations import Generation, Pair, Shifts, compare_generations, generation
from dbversus.stats.values.finished import of_finished_blocks

_WORKLOAD = ("suite", "clients", "table_size", "table_sizes", "tables", "mode")


@dataclass(frozen=True)
class Generations:
    """Old pair against new pair. `notes`: what a reader has to know before believing it."""

    old: Pair
    new: Pair
    shifts: Shifts
    notes: tuple[str, ...]


def of_experiment(results: Results) -> Generations | None:
    """The generations of an experiment that has an older and a newer version of each of two DBMSs; None: it has not."""
    if pairs := default_pairs(results):
        found = _between(results, pairs[0], results, pairs[1])
        return found if found.shifts.tests else None
    return None


def default_pairs(results: Results) -> tuple[Pair, Pair] | None:
    """Old and new pair where they need not be named: two DBMSs with two versions each; None: it is not so.

    The DBMS of the base is the first of each pair.
    """
    by_dbms: dict[str, list[Target]] = {}
    for target in results.targets:
        by_dbms.setdefault(target.dbms, []).append(target)
    versions = [len({_version(target) for target in targets}) for targets in by_dbms.values()]
    if versions != [2, 2] or len(results.targets) != 4:
        return None
    first, second = (sorted(targets, key=_version) for targets in by_dbms.values())
    return Pair(first[0].label, second[0].label), Pair(first[1].label, second[1].label)


def _version(target: Target) -> tuple[int, ...]:
    """The numbers that a version begins with: 17rc1 is (17,)."""
    numbers = re.match(r"\d+(\.\d+)*", target.version)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()


def parse_pair(text: str, results: Results, option: str) -> Pair:
    """`FIRST,SECOND` as labels or short names (`t0`); labels may hold commas themselves.

    Raises UsageError naming `option` and the targets that there are.
    """
    labels = {name: target.label for target in results.targets for name in (target.name, target.label)}
    for place in (index for index, char in enumerate(text) if char == ","):
        first, second = text[:place].strip(), text[place + 1 :].strip()
        if first in labels and second in labels and labels[first] != labels[second]:
            return Pair(labels[first], labels[second])
    raise UsageError(
        f"{option} {text}: name two different targets of {results.directory} as FIRST,SECOND; it has: "
        f"{', '.join(f'{target.label} ({target.name})' for target in results.targets)}."
    )


def only_pair(results: Results, option: str) -> Pair:
    """The two targets of an experiment that has no more; UsageError says how to name them."""
    if len(results.targets) != 2:
        known = ", ".join(target.label for target in results.targets)
        raise UsageError(
            f"{results.directory} has {len(results.targets)} targets ({known}); name two with {option} FIRST,SECOND."
        )
    first, second = results.targets
    return Pair(first.label, second.label)


def between(old: Results, old_pair: Pair, new: Results, new_pair: Pair) -> Generations:
    """Compares the pairs; `old` and `new` may be the same results. Raises UsageError when they have no test in common."""
    found = _between(old, old_pair, new, new_pair)
    if not found.shifts.tests:
        raise UsageError(
            f"{_name(old_pair)} in {old.directory} and {_name(new_pair)} in {new.directory} have no test in common that "
            "was measured; name two experiments with the same suite."
        )
    return replace(found, notes=(*found.notes, *_code_layout(old, old_pair, new, new_pair)))


def _code_layout(old: Results, old_pair: Pair, new: Results, new_pair: Pair) -> list[str]:
    """Only where no report of one experiment says it."""
    named = [
        target
        for results, pair in ((old, old_pair), (new, new_pair))
        for target in results.header.targets
        if target.label in (pair.first, pair.second)
    ]
    return list(filter(None, [layout_note(named)]))


def _between(old: Results, old_pair: Pair, new: Results, new_pair: Pair) -> Generations:
    of_old, of_new = _generation(old, old_pair), _generation(new, new_pair)
    left_out = _wrong_answers(old, old_pair) | _wrong_answers(new, new_pair)
    shifts = compare_generations(of_old, of_new, old.tests, paired=old is new, left_out=left_out)
    notes = [*_differing_workload(old, new), *_not_in_both(shifts, of_old, of_new, [*old.tests, *new.tests])]
    return Generations(old_pair, new_pair, shifts, tuple(notes))


def _generation(results: Results, pair: Pair) -> Generation:
    labels = {target.name: target.label for target in results.targets}
    loads = [load for load in results.loads if labels.get(load.target) in (pair.first, pair.second)]
    return generation(of_finished_blocks(results).slots, pair, loads, labels)


def _name(pair: Pair) -> str:
    return f"{pair.second} against {pair.first}"


def _wrong_answers(results: Results, pair: Pair) -> dict[str, str]:
    """Test → that the targets of the pair answered differently, so that neither's speed counts."""
    names = {target.label: target.name for target in results.targets}
    wrong = {}
    for check in results.checks:
        first, second = (check.targets.get(names[label]) for label in (pair.first, pair.second))
        if first and second and _digest(first) != _digest(second):
            wrong[check.test] = f"wrong result: {pair.second} gives other answers than {pair.first}"
    return wrong


def _digest(answer: Answers) -> tuple[Any, ...]:
    return answer.rows, answer.affected, answer.checksum


def _differing_workload(old: Results, new: Results) -> list[str]:
    """Two experiments can differ in more than their targets."""

    def differ(what: str, one: Any, other: Any) -> str:
        return f"The experiments differ in {what} ({one} and {other}): shifts hold that difference too."

    said = [
        differ(name.replace("_", " "), getattr(old.header, name), getattr(new.header, name))
        for name in _WORKLOAD
        if getattr(old.header, name) != getattr(new.header, name)
    ]
    if _cpu_model(old) != _cpu_model(new):
        said.append(differ("host", _cpu_model(old), _cpu_model(new)))
    return said


def _cpu_model(results: Results) -> str:
    cpu = results.host.get("cpu")
    return str(cpu.get("model") or "unknown CPU") if isinstance(cpu, Mapping) else "unknown CPU"


def _not_in_both(shifts: Shifts, old: Generation, new: Generation, order: Sequence[str]) -> list[str]:
    shown = {item.test for item in shifts.tests}
    missing = [test for test in dict.fromkeys(order) if test in old.tests | new.tests and test not in shown]
    return [f"Not measured in both generations: {', '.join(missing)}."] if missing else []
