"""Results seen from tests that are judged against each other on each target, as if the two forms of a pair were two targets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec
import numpy as np

from dbversus.results.columns import Columns
from dbversus.results.records import AnyRecord, Block, Check, Latency
from dbversus.results.stored import Results, Target

R = TypeVar("R", Latency, Check)

AGAINST, FORM = "against", "form"


@dataclass(frozen=True)
class Pair:
    """A test, the one that it is judged against, and the target on which both were measured; `name` of the two as one test."""

    form: str
    against: str
    target: Target

    @property
    def name(self) -> str:
        return f"{self.form} ÷ {self.against} on {self.target.label}"


def pairs_of(results: Results) -> list[Pair]:
    """In the order of tests."""
    plans = results.slot_plans
    known = [(test, plans[test].against) for test in results.tests if test in plans]
    return [Pair(form, against, target) for form, against in known if against for target in results.targets]


def of_pairs(results: Results, pairs: Sequence[Pair]) -> Results:
    """Each pair as a test of its own, with two targets. What is known of servers alone, and not of forms, is left out."""
    first = results.base
    targets = tuple(replace(first, name=name, label=name, config="", spelled=None) for name in (AGAINST, FORM))
    header = msgspec.structs.replace(results.header, test_margins={})
    return replace(
        results,
        header=header,
        targets=targets,
        tests=tuple(pair.name for pair in pairs),
        records=tuple(_records(results, pairs)),
        slots=_slots(results.slots, pairs),
        roles=_none_of(results.roles),
        own_base=None,
    )


def _slots(slots: Columns, pairs: Sequence[Pair]) -> Columns:
    tests, labels = (np.asarray(slots[name], dtype=object) for name in ("test", "target"))
    chosen, names, sides = [], [], []
    for pair in pairs:
        for test, side in ((pair.against, AGAINST), (pair.form, FORM)):
            found = np.flatnonzero((tests == test) & (labels == pair.target.label))
            chosen.append(found)
            names += [pair.name] * len(found)
            sides += [side] * len(found)
    places = np.concatenate(chosen)
    made = {name: column[places] for name, column in slots.items()}
    return {**made, "test": np.array(names, dtype=object), "target": np.array(sides, dtype=object)}


def _none_of(columns: Columns) -> Columns:
    return {name: column[:0] for name, column in columns.items()}


def _records(results: Results, pairs: Sequence[Pair]) -> Iterator[AnyRecord]:
    yield from results.of_type(Block)
    latencies, checks = _by_test(results.of_type(Latency)), _by_test(results.checks)
    for pair in pairs:
        name = pair.target.name
        for test, side in ((pair.against, AGAINST), (pair.form, FORM)):
            for record in latencies.get(test, ()):
                if name in record.hdr:
                    yield msgspec.structs.replace(record, test=pair.name, hdr={side: record.hdr[name]})
        yield from _check(pair, checks)


def _by_test(records: Sequence[R]) -> dict[str, list[R]]:
    found: dict[str, list[R]] = {}
    for record in records:
        found.setdefault(record.test, []).append(record)
    return found


def _check(pair: Pair, checks: Mapping[str, Sequence[Check]]) -> Iterator[Check]:
    """Whether both gave the same answers, as the run has found."""
    name = pair.target.name
    of_form = [record for record in checks.get(pair.form, ()) if name in record.targets]
    of_against = [record for record in checks.get(pair.against, ()) if name in record.targets]
    for record, other in zip(of_form, of_against, strict=False):
        differs = [FORM] if name in (record.other_than_against or ()) else []
        answers = {AGAINST: other.targets[name], FORM: record.targets[name]}
        yield Check(pair.name, answers, agree=not differs, differs=differs)
