"""Which functions are told together: renamed, split and inlined ones; and none that have nothing to do with each other."""

from dbversus.profiling.moved import Group, move_together


def _moved(base: dict[str, float], mine: dict[str, float]) -> list[Group]:
    first, second = ({tuple(stack.split(";")): cost for stack, cost in side.items()} for side in (base, mine))
    return move_together(first, second)


def test_a_renamed_function_stands_beside_its_new_name_and_what_that_calls() -> None:
    found = _moved(
        {"main;count;mblen": 70, "main;count": 20, "main;other": 10},
        {"main;count;mblen_with_len": 80, "main;count;mblen_with_len;private": 50, "main;count": 20, "main;other": 10},
    )
    assert found == [Group(("mblen_with_len", "mblen", "private"), ("mblen",), ("mblen_with_len", "private"), "count")]


def test_a_function_of_another_name_in_the_same_caller_took_its_place() -> None:
    found = _moved({"main;run;old_way": 50, "main": 50}, {"main;run;fast": 20, "main": 50})
    assert [(group.gone, group.new, group.under) for group in found] == [(("old_way",), ("fast",), "run")]


def test_an_inlined_function_stands_with_the_caller_that_has_its_cost() -> None:
    found = _moved({"main;run;leaf": 30, "main;run": 10, "main": 60}, {"main;run": 39, "main": 60})
    assert [(group.names, group.gone, group.under) for group in found] == [(("run", "leaf"), ("leaf",), "main")]


def test_functions_of_other_callers_are_told_apart() -> None:
    assert _moved({"main;a;gone": 50, "main;a": 50}, {"main;b;fresh": 60, "main;a": 50}) == []
    assert _moved({"main;a": 50, "main;b": 50}, {"main;a": 70, "main;b": 30}) == []


def test_without_callers_only_similar_names_are_one() -> None:
    assert [
        group.names for group in _moved({"row_search": 50, "x": 9}, {"row_search_mvcc": 60, "x": 9, "y_new": 5})
    ] == [("row_search_mvcc", "row_search")]


def test_another_system_call_for_the_same_is_told_with_it() -> None:
    (found,) = _moved({"main;[kernel] read": 50, "main": 50}, {"main;[kernel] pread64": 50, "main": 50})
    assert (found.gone, found.new, found.under) == (("[kernel] read",), ("[kernel] pread64",), "main")


def test_what_one_side_alone_has_stands_under_the_nearest_caller_that_both_have() -> None:
    base: dict[str, float] = {"main;run;a": 50, "main;run;a;x1": 2, "main;run;b": 40, "main;run;b;y": 2}
    mine: dict[str, float] = {"main;run;a": 50, "main;run;a;p;x2": 3, "main;run;a;q;x3": 4, "main;run;b": 40}
    found = {group.under: group for group in _moved(base, mine)}
    assert set(found["a"].names) == {"x1", "x2", "x3"}
    assert (found["a"].gone, set(found["a"].new)) == (("x1",), {"x2", "x3"})
    assert "b" not in found, "y is alone there"


def test_trifles_of_similar_names_are_no_renaming() -> None:
    assert _moved({"main;a": 0.1, "main": 100}, {"main;b;ab": 0.1, "main": 100}) == [
        Group(("a", "ab"), ("a",), ("ab",), "main")
    ]
    assert _moved({"a": 0.1, "main": 100}, {"ab": 0.1, "main": 100}) == []
