"""What comes next, from records alone."""

from dbversus.experiment.plan.agenda import Cell, End, Look, Wait, next_step

from .test_contest import contest

BOTH = ("update-index", "point-query")
"""In the order of the suite."""


def test_cells_and_looks_alternate_until_all_is_decided() -> None:
    one = contest(2, looks=[1, 3])
    assert next_step(one) == Cell(0, BOTH)
    one.progress.blocks.add(0)
    assert next_step(one) == Look(1)
    one.progress.looks[1] = ["point-query"]
    assert next_step(one) == Cell(1, ("update-index",))
    one.progress.blocks |= {1, 2}
    one.progress.looks[3] = ["update-index"]
    assert next_step(one) == End("decided")


def test_the_first_block_is_measured_alone_and_none_before_a_look_that_is_due() -> None:
    one = contest(2, looks=[3, 4])
    assert next_step(one, {0}) == Wait()
    one.progress.blocks.add(0)
    assert next_step(one, {1}) == Cell(2, BOTH)
    assert next_step(one, {1, 2}) == Wait()
    one.progress.blocks.add(2)
    assert next_step(one, {1}) == Wait(), "a later block that is finished makes no look due"
    one.progress.blocks.add(1)
    assert next_step(one) == Look(3)


def test_a_cell_that_was_lost_comes_again() -> None:
    one = contest(2, looks=[3])
    one.progress.blocks |= {0, 2}
    assert next_step(one) == Cell(1, BOTH)


def test_looks_are_used_up() -> None:
    one = contest(2, looks=[1])
    one.progress.blocks.add(0)
    one.progress.looks[1] = []
    assert next_step(one) == End("looks used up")


def test_blocks_on_data_that_others_leave_have_their_turns() -> None:
    one = contest(2, looks=[4], restore="never")
    one.progress.blocks.add(0)
    assert next_step(one, {1}) == Wait()
