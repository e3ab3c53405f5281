"""Which blocks count: those that were finished."""

from dataclasses import replace

import numpy as np

from dbversus.results.records import Block
from dbversus.results.stored import Results


def finished_blocks(results: Results) -> set[int]:
    """Numbers of the blocks that ran to their end."""
    return {record.block for record in results.of_type(Block) if record.event == "finished"}


def of_finished_blocks(results: Results) -> Results:
    """The results without a block that was cut short: a row of it would count as much as a whole block.

    While fewer than two are finished, the results as they are.
    """
    finished = finished_blocks(results)
    if len(finished) < 2:
        return results
    kept = np.isin(np.ma.getdata(results.slots["block"]), list(finished))
    counted = {None, *finished}
    records = tuple(each for each in results.records if getattr(each, "block", None) in counted)
    slots = results.slots if kept.all() else {name: column[kept] for name, column in results.slots.items()}
    return replace(results, records=records, slots=slots)
