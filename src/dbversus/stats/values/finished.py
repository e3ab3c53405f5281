"""Which blocks count: those that were finished."""

from dataclasses import replace

import numpy as np

from dbversus.results.columns import Columns
from dbversus.results.records import Block, Check, Failure
from dbversus.results.stored import Results


def finished_blocks(results: Results) -> set[int]:
    """Numbers of the blocks that ran to their end."""
    return {record.block for record in results.of_type(Block) if record.event == "finished"}


def counted_blocks(results: Results) -> set[int]:
    """Those of which figures are made: the finished ones; while there is none, whatever was measured."""
    return finished_blocks(results) or set(np.unique(np.ma.getdata(results.slots["block"])).tolist())


def of_finished_blocks(results: Results) -> Results:
    """The results without a block that was cut short: a row of it would count as much as a whole block.

    What failed or was answered wrongly in it is kept. While no block is finished, the results as they are.
    """
    finished = finished_blocks(results)
    if not finished or results.counted == frozenset(finished):
        return results
    counted = {None, *finished}
    records = tuple(
        each for each in results.records if isinstance(each, Failure | Check) or getattr(each, "block", None) in counted
    )
    slots, roles = _of_blocks(results.slots, finished), _of_blocks(results.roles, finished)
    return replace(results, records=records, slots=slots, roles=roles, counted=frozenset(finished))


def _of_blocks(columns: Columns, blocks: set[int]) -> Columns:
    kept = np.isin(np.ma.getdata(columns["block"]), list(blocks))
    return columns if kept.all() else {name: column[kept] for name, column in columns.items()}
