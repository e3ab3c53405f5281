"""What a reader has to know where the base was chosen after measuring (`report --base`): what is lost, and what still holds."""

from collections.abc import Sequence

import numpy as np

from dbversus.report.words import NBSP, listing
from dbversus.results.layout import Layout
from dbversus.results.records import Look
from dbversus.results.stored import Results
from dbversus.stats.judging.looks import OVERALL
from dbversus.stats.values.imported import is_imported


def base_sentences(results: Results) -> tuple[str, ...]:
    """Empty where the base is the experiment's own."""
    if results.own_base is None:
        return ()
    base, own = results.base.label, results.own_base.label
    first = f"Judged against {base}, which was chosen as the base afterwards; the experiment's own base is {own}."
    if is_imported(results):
        return (first,)
    return (first, *_blocks(results, base, own), *_apart(results, base), _level())


def _blocks(results: Results, base: str, own: str) -> tuple[str, ...]:
    """An interval of the looks holds at whatever look a test ends, so retirement leaves it valid (docs/protocol.md)."""
    retired = {test for look in results.of_type(Look) for test in look.retired}
    if not retired:
        return ()
    count = f"{len(retired)} of {len(results.tests)} tests"
    return (
        f"When to stop measuring {count} was decided against {own}. Intervals hold at whatever look a test ended, but a change "
        f"against {base} may not have been measured again, and a test may be undecided that more blocks would "
        "have decided.",
    )


def _apart(results: Results, base: str) -> tuple[str, ...]:
    """Targets that were not up with this base, though they were with the experiment's own."""
    never = sorted(_never_in_its_rows(results.layout), key=[target.label for target in results.targets].index)
    if not never or results.header.order == "sequential":
        return ()
    return (
        f"{listing(never)} had no rows in common with {base}, being in other groups: blocks are compared as in sequential order, "
        "so that less of the noise cancels.",
    )


def _never_in_its_rows(layout: Layout | None) -> Sequence[str]:
    if layout is None:
        return ()
    return [
        layout.targets[target]
        for target in layout.others
        if not np.any((layout.slot_at[:, target] >= 0) & (layout.slot_at[:, layout.base] >= 0))
    ]


def _level() -> str:
    return (
        f"False alarms in at most {OVERALL * 100:g}{NBSP}% of runs are promised for one base, named without regard to the "
        "results. Where several were tried, or this one was chosen for its figures, that level is not guaranteed."
    )
