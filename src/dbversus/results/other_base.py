"""Stored results seen from a target that was not their base when they were measured, or with other labels of targets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from dbversus.errors import UsageError
from dbversus.names import did_you_mean
from dbversus.private import with_short_paths
from dbversus.results.columns import Columns
from dbversus.results.records import Answers, AnyRecord, Check
from dbversus.results.stored import Results, Target


def with_base(results: Results, wanted: str) -> Results:
    """`results` with the target called `wanted` (a label, or a name such as `t1`) first, as the base; nothing stored changes.

    Raises UsageError when there is no such target, or nothing was measured on it though there was on others.
    """
    base = _find(results, wanted)
    if base == results.base:
        return results
    others = tuple(target for target in results.targets if target != base)
    records = tuple(_seen_from(base.name, results.records))
    return replace(results, targets=(base, *others), records=records, own_base=results.own_base or results.base)


def _find(results: Results, wanted: str) -> Target:
    known = {name: target for target in results.targets for name in (target.name, target.label)}
    wanted = with_short_paths(wanted)
    listed = ", ".join(f"{target.label} ({target.name})" for target in results.targets)
    if wanted not in known:
        raise UsageError(
            f"--base {wanted}: {results.directory} has no such target; it has: {listed}.{did_you_mean(wanted, known)}"
        )
    measured = set(results.slots["target"])
    if measured and known[wanted].label not in measured:
        raise UsageError(
            f"--base {wanted}: nothing was measured on {known[wanted].label}, so nothing can be compared with it; there are "
            f"slots of: {', '.join(target.label for target in results.targets if target.label in measured)}."
        )
    return known[wanted]


def _seen_from(base: str, records: Sequence[AnyRecord]) -> Iterator[AnyRecord]:
    """Who gave other answers depends on whose answers are taken for right. Groups of targets have a check each."""
    of_base = {each.test: each for each in records if isinstance(each, Check) and base in each.targets}
    for record in records:
        yield _check(record, base, of_base.get(record.test)) if isinstance(record, Check) else record


def _check(own: Check, base: str, of_base: Check | None) -> Check:
    """`own` with those who differ from `base`, as it answered in `of_base`; nobody where its answers are not known."""
    if of_base is None:
        return msgspec.structs.replace(own, agree=True, differs=[])
    expected, base_differs = of_base.targets[base], base in of_base.differs

    def agrees(name: str, answers: Answers) -> bool:
        """As the run found, where one of them answered as its base did: it knew what tolerance the statements allow."""
        differs = name in own.differs
        return answers == expected if differs and base_differs else differs == base_differs

    differs = [name for name, answers in own.targets.items() if name != base and not agrees(name, answers)]
    return msgspec.structs.replace(own, targets={**own.targets, base: expected}, agree=not differs, differs=differs)


def with_labels(results: Results, labels: Mapping[str, str]) -> Results:
    """`results` with other labels of targets, by those that they have; nothing stored changes.

    Raises UsageError when two targets had the same one then.
    """
    own = {old: new for old, new in labels.items() if any(target.label == old for target in results.targets)}
    targets = tuple(replace(target, label=own.get(target.label, target.label)) for target in results.targets)
    for place, target in enumerate(targets):
        if target.label in {other.label for other in targets[:place]}:
            raise UsageError(f"{results.directory} would have two targets called {target.label}; choose another label.")
    header = msgspec.structs.replace(
        results.header,
        targets=[
            msgspec.structs.replace(facts, label=own.get(facts.label, facts.label)) for facts in results.header.targets
        ],
    )
    slots, roles = _relabelled(results.slots, own), _relabelled(results.roles, own)
    return replace(
        results, header=header, targets=targets, slots=slots, roles=roles, relabelled={**results.relabelled, **own}
    )


def _relabelled(columns: Columns, labels: Mapping[str, str]) -> Columns:
    if not labels or "target" not in columns:
        return columns
    targets = np.array([labels.get(label, label) for label in columns["target"]], dtype=object)
    return {**columns, "target": targets}
