"""Planted causes: cases, answers that are kept, and how they are scored."""

import importlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import RunError, UsageError

answer: Any = importlib.import_module("planted.answer")
case: Any = importlib.import_module("planted.case")
libraries: Any = importlib.import_module("planted.libraries")
measure: Any = importlib.import_module("planted.measure")
score: Any = importlib.import_module("planted.score")
tables: Any = importlib.import_module("planted.tables")

RIGHT, PART, DONT_KNOW, OTHER, WRONG, UNCHANGED = score.Score


def cause(what: str, kind: str = "setting", sure: bool = True, weak: bool = False, detail: str = "4MB → 64kB") -> Any:
    return answer.Cause(kind, what, sure, sure, weak, 1.0 if sure else None, detail)


def answered(*causes: Any, name: str = "p01", run: int = 1) -> Any:
    test = answer.Test("scan", "server_cpu_us_per_op", 1.31, 1.0, causes)
    return answer.Answer(name, run, "2026-11-27", "abc", 0.5, None, 2, [test])


def test_every_case_has_a_truth_and_says_nothing_of_it() -> None:
    names = [one.name for one in case.read_cases()]
    assert names == list(score.read_key())
    assert len({one.seed for one in case.read_cases()}) == len(names)
    for file in case.CASES.glob("*.toml"):
        assert not {"about", "right", "kind"} & set(case.read_case(file).__struct_fields__)
    with pytest.raises(UsageError, match="matches no case"):
        case.read_cases("q*")


TRUTH = score.Truth("setting", "", settings=[["work_mem"]], operators=["Spilled"], functions=["send"])
PAIR = score.Truth("pair", "", settings=[["a", "b"]])
NOTHING = score.Truth("nothing", "")


@pytest.mark.parametrize(
    ("truth", "causes", "scored"),
    [
        (TRUTH, [cause("work_mem")], RIGHT),
        (TRUTH, [cause("work_mem, jit")], DONT_KNOW),
        (TRUTH, [cause("jit", sure=False)], OTHER),
        (TRUTH, [cause("jit")], WRONG),
        (TRUTH, [cause("work_mem", sure=False, weak=True)], DONT_KNOW),
        (TRUTH, [], DONT_KNOW),
        (TRUTH, [cause("t/s", kind="plan", sure=False, detail="Sort → Spilled Sort")], RIGHT),
        (TRUTH, [cause("t/s", kind="plan", sure=False, detail="Sort → Merge Join")], OTHER),
        (TRUTH, [cause("send [b.so]", kind="function", sure=False)], RIGHT),
        (PAIR, [cause("b"), cause("a")], RIGHT),
        (PAIR, [cause("a, b")], RIGHT),
        (PAIR, [cause("a"), cause("c")], PART),
        (PAIR, [cause("c"), cause("a")], WRONG),
        (TRUTH, [cause("send, a, b, c, d", kind="function", sure=False)], OTHER),
        (PAIR, [cause("a, b, c")], DONT_KNOW),
        (NOTHING, [cause("a", sure=False, weak=True)], RIGHT),
        (NOTHING, [cause("a", sure=False)], OTHER),
        (NOTHING, [cause("a")], WRONG),
    ],
)
def test_the_first_cause_beside_the_truth(truth: Any, causes: list[Any], scored: Any) -> None:
    assert score.score(truth, answered(*causes)) is scored


def test_where_nothing_changed_nothing_is_blamed_and_a_cause_is_not_put_to_the_test() -> None:
    unchanged = replace(answered(), changed=[])
    assert (score.score(TRUTH, unchanged), score.score(NOTHING, unchanged)) == (UNCHANGED, RIGHT)


def test_the_worst_of_several_tests_counts() -> None:
    good, bad = answered(cause("work_mem")), answered(cause("jit"))
    assert score.score(TRUTH, replace(good, changed=[*good.changed, *bad.changed])) is WRONG


def test_answers_of_a_file_are_those_that_were_kept(tmp_path: Path) -> None:
    answers = [answered(cause("work_mem"), cause("t/s", "plan", sure=False)), answered(name="p02")]
    answers.append(replace(answered(name="p03"), changed=[], compare_min=None))
    file, text = tmp_path / "kept.csv", io.StringIO()
    assert answer.read_answers(file) == []
    answer.write_answers(answers, text)
    file.write_text(text.getvalue())
    again = io.StringIO()
    answer.write_answers(answer.read_answers(file), again)
    assert again.getvalue() == text.getvalue()
    assert [len(one.changed) for one in answer.read_answers(file)] == [1, 1, 0]
    measure.keep(file, answered(run=2))
    assert [(one.case, one.run) for one in answer.read_answers(file)] == [
        ("p01", 1),
        ("p01", 2),
        ("p02", 1),
        ("p03", 1),
    ]
    file.write_text("a,b\n")
    with pytest.raises(UsageError, match="has no answers"):
        answer.read_answers(file)


def test_first_runs_are_counted_apart_from_the_latest() -> None:
    key = {"p01": TRUTH, "p02": NOTHING}
    first, later = answered(cause("work_mem, jit")), answered(cause("work_mem"), run=2)
    text = tables.report([first, later, replace(answered(name="p02"), changed=[])], key)
    blind, latest = text.split(tables.LATEST)
    assert "| setting | 1 | 0 | 0 | 1 | 0 | 0 | 0 |" in blind and "| nothing | 1 | 1 | 0 | 0 | 0 | 0 | 0 |" in blind
    assert "| setting | 1 | 1 | 0 | 0 | 0 | 0 | 0 |" in latest
    assert tables.LATEST not in tables.report([first], key)


def test_a_function_is_slowed_down_in_its_definition() -> None:
    source = "static int f(int);\nint g(void){ return f(1); }\nstatic int f(\n  int a\n){\n  return a;\n}\n"
    slow = libraries.slowed_down(source, {"f": 40})
    assert slow.startswith("static int f(int);\nint g(void){ return f(1); }\nstatic int f(\n  int a\n){{ volatile")
    assert "turn_ < 40" in slow
    with pytest.raises(RunError, match="no function 'h'"):
        libraries.slowed_down(source, {"h": 1})


def test_what_was_interrupted_has_no_minutes(tmp_path: Path) -> None:
    for step, what in (("compare", "began"), ("explain", "began"), ("explain", "ended")):
        measure._note(tmp_path, step, what)
    assert measure._minutes(tmp_path)["compare"] is None and measure._minutes(tmp_path)["explain"] is not None


def test_a_case_is_typed_in_its_folder_and_the_key_is_not_there(tmp_path: Path) -> None:
    named = next(one for one in case.read_cases("p13"))
    measure.prepare(named, tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"case.sha256", "suite.toml", "configs/postgres/old.conf", "configs/postgres/new.conf"}
    words = case.command(named, tmp_path, "results")
    assert words[:3] == ["compare", "postgres:17@old", "postgres:17@new"] and "suite.toml" in words
    assert json.dumps(list(words)).count("p13") == 0


def test_what_was_measured_of_a_case_before_its_file_changed_is_refused(tmp_path: Path) -> None:
    named = next(one for one in case.read_cases("p13"))
    measure.prepare(named, tmp_path)
    measure.prepare(named, tmp_path)
    changed = replace(named, case=case.read_case(case.CASES / "p14.toml"))
    with pytest.raises(RunError, match=r"before its file changed; delete it"):
        measure.prepare(changed, tmp_path)
