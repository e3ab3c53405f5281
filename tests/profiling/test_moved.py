"""Which functions are told together: renamed, split, merged and inlined ones; none that have nothing to do with each other."""

import random

import pytest

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


def test_what_others_call_now_is_one_with_the_name_most_like_its_own_and_with_what_is_new_in_it() -> None:
    base: dict[str, float] = {"main;a;read_row": 20, "main;a": 30, "main;b": 40, "main;b;read_all_rows": 8}
    mine: dict[str, float] = {"main;a": 30, "main;b": 40, "main;b;read_row_2": 9, "main;b;read_row_2;check": 7}
    mine |= {"main;c;read_all_rows_of": 6, "main;c": 5}
    assert {(group.gone, group.new, group.under) for group in _moved(base, mine)} == {
        (("read_row",), ("read_row_2", "check"), "main"),
        (("read_all_rows",), ("read_all_rows_of",), "main"),
    }


def test_a_part_that_has_a_name_like_that_of_the_rest_is_one_with_it_though_callers_skip_that() -> None:
    base: dict[str, float] = {"main;a;unpin": 9, "main;b;unpin": 9, "main;a": 30, "main;b": 30}
    mine: dict[str, float] = {
        f"main;{caller};{name}": cost for caller in "ab" for name, cost in (("unpin", 1), ("unpin2", 8))
    }
    (found,) = _moved(base, mine | {"main;a": 30, "main;b": 30})
    assert (found.names, found.gone, found.new) == (("unpin", "unpin2"), (), ("unpin2",))
    kept = {stack: cost * (8 if stack.endswith("unpin") else 1) for stack, cost in mine.items()}
    assert _moved(base, kept | {"main;a": 30, "main;b": 30}) == [], "where it costs what it did, nothing has moved"


def test_of_many_names_that_are_alike_each_has_one_partner() -> None:
    gone = {f"main;f{n};get_next_row_{letter}": 5.0 + n for n, letter in enumerate("abcdefgh")}
    new = {f"main;g{n};get_next_row_{letter}_v2": 6.0 + n for n, letter in enumerate("hgfedcba")}
    rest: dict[str, float] = {f"main;{caller}{n}": 20 for caller in "fg" for n in range(8)}
    found = _moved({**gone, **rest}, {**new, **rest})
    assert {(group.gone, group.new) for group in found} == {
        ((f"get_next_row_{letter}",), (f"get_next_row_{letter}_v2",)) for letter in "abcdefgh"
    }


def test_a_function_of_the_same_name_in_another_class_or_namespace_is_another_function() -> None:
    others = ("rocksdb::DsMrr::dsmrr_close", "DsMrr_impl_v2::dsmrr_close", "dsmrr_close", "std::map<A::B>::dsmrr_close")
    rest: dict[str, float] = {f"main;f{n}": 20 for n in range(6)}
    base = {**rest, "main;f5;DsMrr_impl::dsmrr_close": 20}
    mine = rest | {f"main;f{n};{name}": 9 for n, name in enumerate(others)}
    assert _moved(base, mine) == []
    (found,) = _moved(base, {**mine, "main;f4;DsMrr_impl::dsmrr_close_all": 9})
    assert found.new == ("DsMrr_impl::dsmrr_close_all",)


def test_a_function_of_another_allocator_takes_the_place_of_the_same_one() -> None:
    base: dict[str, float] = {"main;a;malloc [libc]": 9, "main;b;malloc [libc]": 9, "main;c;malloc [libc]": 9}
    mine = {stack.replace("libc", "libjemalloc"): cost / 2 for stack, cost in base.items()}
    rest: dict[str, float] = {"main;a": 30, "main;b": 30, "main;c": 30}
    (found,) = _moved({**base, **rest}, {**mine, **rest})
    assert (found.gone, found.new) == (("malloc [libc]",), ("malloc [libjemalloc]",))


def test_what_is_called_from_all_over_stands_under_no_caller() -> None:
    base: dict[str, float] = {f"main;f{n}": 20.0 for n in range(8)} | {f"main;f{n};old_lock": 3.0 for n in range(8)}
    mine: dict[str, float] = {f"main;f{n}": 20.0 for n in range(8)} | {f"main;f{n};Mutex::enter": 2.0 for n in range(8)}
    mine["main;f3;fresh"] = 4
    assert _moved(base, mine) == []


def test_work_that_another_function_of_the_same_caller_does_now_is_told_with_it() -> None:
    base: dict[str, float] = {"main;run;check": 20, "main;run;walk": 30, "main;run": 40}
    (found,) = _moved(base, {"main;run;walk": 52, "main;run": 40})
    assert (found.names, found.gone, found.under) == (("walk", "check"), ("check",), "run")
    assert _moved(base, {"main;run;walk": 33, "main;run": 40}) == [], "of that 3 is not the 20"


def test_a_function_whose_code_its_caller_had_before_is_told_with_it_though_both_have_both() -> None:
    base: dict[str, float] = {"main;search;match": 8, "main;search": 30, "main;b": 60}
    (found,) = _moved(base, {"main;search;match": 26, "main;search": 14, "main;b": 60})
    assert (found.names, found.gone, found.new, found.under) == (("search", "match"), (), (), "main")
    assert _moved(base, {"main;search;match": 26, "main;search": 28, "main;b": 60}) == [], "it costs more by itself"
    assert _moved(base, {"main;search;match": 10, "main;search": 10, "main;b": 60}) == [], "and so does its caller"


def test_many_that_a_function_was_split_into_have_its_name() -> None:
    new = {f"main;{caller};find;part{n}": 6.0 + n for n in range(9) for caller in "ab"}
    (found,) = _moved({"main;a;find": 50, "main;b;find": 60}, {**new, "main;a;find": 5})
    assert (found.under, len(found.names), found.new[0]) == ("find", 10, "part8")


def test_callers_of_callers_are_not_joined_one_after_another() -> None:
    chain = ["main", "a", "b", "c", "d"]
    base = {";".join(chain[: n + 1]): cost for n, cost in enumerate((20.0, 30.0, 20.0, 30.0, 20.0))}
    mine = {stack: cost + change for (stack, cost), change in zip(base.items(), (0, 9, -9, 9, -9), strict=True)}
    assert all(len(group.names) == 2 for group in _moved(base, mine))


def test_what_is_gone_with_all_that_it_calls_stands_under_what_is_nearest_to_that() -> None:
    scan = [f"main;Run;Sort;Scan;Bitmap;f{n}" for n in range(40)]
    sort = [f"main;Run;Sort;put{n}" for n in range(12)]
    base: dict[str, float] = {
        **dict.fromkeys(scan, 50.0),
        **dict.fromkeys(sort, 70.0),
        "main;Run": 9,
        "main;Run;Sort;Scan": 9,
    }
    mine: dict[str, float] = {"main;Run": 9, "main;Run;Sort": 3, "main;Run;Sort;Scan": 9, "main;Run;put3": 0.5}
    assert {(group.under, len(group.names)) for group in _moved(base, mine)} == {("Bitmap", 40), ("Sort", 12)}


def test_a_function_that_costs_nothing_by_itself_on_one_side_stands_in_one_group() -> None:
    base: dict[str, float] = {"main;run;find": 40, "main;run;find;keep": 9, "main;run;other": 8, "main;run": 30}
    mine: dict[str, float] = {"main;run;find;part": 30, "main;run;find;keep": 9, "main;run;fresh": 9, "main;run": 30}
    names = [name for group in _moved(base, mine) for name in group.names]
    assert sorted(names) == ["find", "fresh", "other", "part"]


def test_the_kernels_time_is_not_that_of_the_function_which_calls_it() -> None:
    base: dict[str, float] = {"main;read": 30, "main;read;[kernel] pread64": 20}
    assert _moved(base, {"main;read": 20, "main;read;[kernel] pread64": 30}) == []


@pytest.mark.parametrize("seed", range(5))
def test_functions_that_have_nothing_to_do_with_each_other_stay_alone(seed: int) -> None:
    """As many of one build alone as two major versions have, with names of a few words; no two share a caller."""
    chance = random.Random(seed)
    words = "rec lock page buf row trx get set next init free find read copy"
    names = [f"{chance.choice('ABCDEF')}{n % 7}::" + "_".join(chance.sample(words.split(), 3)) for n in range(160)]
    rest: dict[str, float] = {f"main;f{n}": 20 for n in range(160)}
    base, mine = ({f"main;f{n};{names[n]}": 4.0 for n in range(160) if n % 2 == side} for side in (0, 1))
    found = _moved({**base, **rest}, {**mine, **rest})
    assert all(len(group.names) == 2 for group in found) and len(found) <= 12
