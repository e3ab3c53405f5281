import pytest

from dbversus.experiment.asked.groups import ROWS_PER_GROUP, Group, make_groups

NAMES = [f"t{number}" for number in range(8)]


def test_all_targets_run_together_unless_said_otherwise() -> None:
    assert make_groups(NAMES, "interleaved", None) == [Group(tuple(NAMES))]
    assert make_groups(NAMES, "interleaved", 8) == [Group(tuple(NAMES))]
    assert make_groups(["t0"], "interleaved", 2) == [Group(("t0",))]


def test_in_sequential_order_everybody_is_alone() -> None:
    groups = make_groups(NAMES[:2], "sequential", None)
    assert groups == [Group(("t0",), {"solo": "t0"}), Group(("t1",), {"solo": "t1"})]


@pytest.mark.parametrize("at_once", range(2, 8))
def test_the_base_is_in_every_group_and_everybody_else_in_one(at_once: int) -> None:
    groups = make_groups(NAMES, "interleaved", at_once)
    assert all(group.members[0] == "t0" for group in groups)
    assert [name for group in groups for name in group.members[1:]] == NAMES[1:]
    sizes = [len(group.members) for group in groups]
    assert max(sizes) <= at_once and max(sizes) - min(sizes) <= 1


def test_groups_have_names_and_rows_of_their_own() -> None:
    groups = make_groups(NAMES, "interleaved", 4)
    assert [group.name for group in groups] == ["g0", "g1", "g2"]
    assert [group.first_row for group in groups] == [0, ROWS_PER_GROUP, 2 * ROWS_PER_GROUP]
