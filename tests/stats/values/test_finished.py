"""Blocks that count."""

from dataclasses import replace

import pytest

from dbversus.results.records import Block, Failure
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.metrics import CPU
from dbversus.stats.values.finished import counted_blocks, finished_blocks, of_finished_blocks

from ..twin_results import Truth, twin_results


def cut_short(results: Results, last: int) -> Results:
    """The block `last` ended after its first row."""
    slots = results.slots
    kept = (slots["block"] < last) | ((slots["block"] == last) & (slots["row"] == 0))
    records = [each for each in results.records if not (isinstance(each, Block) and each.block == last)]
    records += [Block(last, "interrupted")]
    slots = {name: column[kept] for name, column in slots.items()}
    return replace(results, records=tuple(records), slots=slots)


@pytest.fixture(scope="module")
def results() -> Results:
    return twin_results(Truth(tests=3, blocks=5, targets=2), looks=[12])


def test_a_block_that_was_cut_short_does_not_count(results: Results) -> None:
    cut = cut_short(results, 4)
    assert finished_blocks(cut) == {0, 1, 2, 3}
    whole = twin_results(Truth(tests=3, blocks=4, targets=2), looks=[12])
    assert {one.blocks for one in judge(cut) if one.metric == CPU} == {4}
    assert [(one.key, one.ratio) for one in judge(cut)] == [(one.key, one.ratio) for one in judge(whole)]


def test_records_of_it_do_not_count_either(results: Results) -> None:
    kept = of_finished_blocks(cut_short(results, 4)).records
    assert {getattr(record, "block", None) for record in kept} == {None, 0, 1, 2, 3}


def test_while_none_is_finished_all_there_is_counts() -> None:
    cut = cut_short(twin_results(Truth(tests=3, blocks=1, targets=2), looks=[12]), 0)
    assert of_finished_blocks(cut) is cut
    assert counted_blocks(cut) == {0}
    assert {one.blocks for one in judge(cut) if one.metric == CPU} == {1}


def test_one_that_is_finished_counts_alone() -> None:
    cut = cut_short(twin_results(Truth(tests=3, blocks=2, targets=2), looks=[12]), 1)
    assert counted_blocks(cut) == {0}
    assert {one.blocks for one in judge(cut) if one.metric == CPU} == {1}


def test_what_failed_in_a_block_that_was_cut_short_is_kept(results: Results) -> None:
    failure = Failure("t1", "slot", "server closed the connection", final=False, block=4)
    cut = cut_short(results, 4)
    assert of_finished_blocks(replace(cut, records=(*cut.records, failure))).failures == [failure]
