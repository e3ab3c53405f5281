import math
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.report.words import (
    GLOSSARY,
    NBSP,
    change,
    comparable,
    counted,
    experiment_facts,
    listing,
    margins_text,
    not_compared,
    number,
    ratio,
    ratios_text,
    spread,
    summary_sentences,
    trade,
)
from dbversus.stats.comparison import Comparison
from dbversus.stats.means import Spread
from dbversus.stats.metrics import CPU, IO_BYTES, THROUGHPUT
from dbversus.stats.model import UNSETTLED, Finding, Verdict

from ..journals import header


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (None, "–"), (float("nan"), "–"), (0.0123456, "0.01235"), (12.3456, "12.35"), (1234.5, "1,234"),
     (123_456.0, "123,500"), (999.96, "1,000.0"), (0.3, "0.3000"), (-4.5, "-4.500")],
)  # fmt: skip
def test_number_has_four_significant_digits(value: float | None, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.081, f"+8.1{NBSP}%"), (0.88, f"−12.0{NBSP}%"), (1.36, f"+36{NBSP}%"), (3.21, "×3.21"), (None, "–")],
)
def test_change(value: float | None, shown: str) -> None:
    assert change(value) == shown


def test_listing_shortens() -> None:
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert listing(list("abcdefgh"), most=4) == "a, b, c and 5 more"


def test_ratio_and_interval() -> None:
    assert ratio(1.0834) == "1.083"
    assert spread(Spread(0.99, 1.2)) == "[0.990, 1.200]"
    assert spread(Spread(least=0.99, most=1.2)) == "(range 0.990–1.200)"
    assert spread(Spread()) == spread(Spread(least=1.0, most=1.0)) == ""


@pytest.mark.parametrize(
    ("value", "ratio_said", "change_said"),
    [
        (1 / 700, "0.00143", "to 1/700"),
        (0.0, "0", "to nothing"),
        (0.08, "0.0800", "to 1/12.5"),
        (0.5, "0.500", "−50 %"),
        (1.0004, "1.000", "±0 %"),
        (1.081, "1.081", "+8.1 %"),
        (4490.4, "4,490", "×4,490"),
        (3.3e8, ">1,000,000", "×1,000,000 or more"),
        (3e-9, "<0.000001", "to 1/1,000,000 or more"),
        (math.inf, "inf", "from nothing"),
    ],
)
def test_ratios_far_from_1_are_told_as_that(value: float, ratio_said: str, change_said: str) -> None:
    assert (ratio(value), change(value).replace("\u00a0", " ")) == (ratio_said, change_said)


def test_nothing_judged_is_not_called_no_regression() -> None:
    comparisons = [Comparison("a", "new", Verdict.UNSTABLE, {}), Comparison("b", "new", Verdict.FAILED, {})]
    first, *_ = summary_sentences(comparisons, "new", "old")
    assert first == "Nothing is known yet of new against old: none of 2 tests could be judged."
    good = [*comparisons, Comparison("c", "new", Verdict.EQUIVALENT, {})]
    assert summary_sentences(good, "new", "old")[0] == "None of 3 tests is shown to be worse on new than on old."
    one = summary_sentences(good[2:], "new", "old")[0]
    assert one == "The one test is not shown to be worse on new than on old."


def test_several_numbers_of_clients() -> None:
    assert "1, 2 and 4 clients" in experiment_facts(header(clients=[1, 2, 4]), 3, 1)
    assert experiment_facts(header(clients=[1], tables=2), 1, 4) == ["1 test", "4 blocks", "1 client", "2 tables"]


def test_what_tables_of_other_sizes_hold_stands_in_place_of_a_table_size() -> None:
    facts = {"clients": [1], "tables": 2, "table_size": 1000}
    assert experiment_facts(header(**facts), 1, 4)[3:5] == ["2 tables", "table size 1,000"]
    held = ["orders: 50,000 rows", "what schema.sql makes"]
    assert experiment_facts(header(**facts, data=held), 1, 4)[3:] == ["orders: 50,000 rows and what schema.sql makes"]


def test_settings_of_different_dbms_are_said_not_to_be_compared() -> None:
    assert not_compared(["postgres", "postgres"]) == ""
    assert not_compared(["postgres", "mysql"]).startswith("Settings and plans of different DBMSs are not compared")
    assert [comparable(dbms) for dbms in (["a", "a"], ["a", "b"], ["a", "b", "a"])] == [True, False, True]


def test_only_metrics_without_a_steady_state_are_named_as_such() -> None:
    """Another metric of the test may know the verdict of all its work too: its ratio is that of its rows."""

    def finding(metric: str, verdict: Verdict, ratio: float) -> Finding:
        known = 0.98, 4, None, None, 0.05, None, None, None
        return Finding("scan", "new", metric, verdict, ratio, None, None, *known, whole_work=Verdict.REGRESSION)

    findings = {
        CPU: finding(CPU, Verdict.NO_STEADY_STATE, 1.12),
        THROUGHPUT: finding(THROUGHPUT, Verdict.UNDECIDED, 1.01),
    }
    said = summary_sentences([Comparison("scan", "new", Verdict.NO_STEADY_STATE, findings)], "new", "old")
    assert said == (
        "The one test uses more CPU per operation on new than on old: "
        f"scan (+12.0{NBSP}% over all its work, without a steady state).",
    )


def test_what_is_no_change_over_all_its_work_has_no_steady_state_alone() -> None:
    known = 0.98, 4, None, None, 0.05, None, None, None
    moved = Finding("scan", "new", CPU, Verdict.NO_STEADY_STATE, 1.12, None, None, *known, whole_work=Verdict.UNDECIDED)
    said = summary_sentences([Comparison("scan", "new", Verdict.NO_STEADY_STATE, {CPU: moved})], "new", "old")
    assert f"1 had no steady state, so all its work is judged: scan (CPU/op +12.0{NBSP}%: undecided)." in said


def test_what_is_better_and_worse_at_once_is_a_trade() -> None:
    def finding(metric: str, verdict: Verdict, ratio: float) -> Finding:
        return Finding("scan", "new", metric, verdict, ratio, None, None, 0.98, 4, None, None, 0.05, None, None, None)

    findings = {CPU: finding(CPU, Verdict.IMPROVEMENT, 0.9), IO_BYTES: finding(IO_BYTES, Verdict.REGRESSION, 1.5)}
    item = Comparison("scan", "new", Verdict.REGRESSION, findings)
    assert trade(item) == "better CPU/op for worse IO/op"
    assert "1 is a trade: scan (better CPU/op for worse IO/op)." in summary_sentences([item], "new", "old")
    assert trade(Comparison("scan", "new", Verdict.REGRESSION, {IO_BYTES: findings[IO_BYTES]})) == ""
    assert trade(replace(item, verdict=Verdict.FAILED)) == ""


def test_words_of_reports_are_in_the_glossary() -> None:
    glossary = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text()
    assert [term for term in GLOSSARY if f"| {term} |" not in glossary] == []


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.REGRESSION, "scan (+10.0{nbsp}% over all its work)."),
        (
            Verdict.UNDECIDED,
            "1 is undecided, since all its work says otherwise than most of its rows: scan (CPU/op: regression).",
        ),
    ],
)
def test_what_all_work_shows_is_named(verdict: Verdict, words: str) -> None:
    known = 0.98, 4, None, None, 0.05, None, None, None
    found = Finding("scan", "new", CPU, verdict, 1.1, None, None, *known, whole_work=Verdict.REGRESSION)
    said = summary_sentences([Comparison("scan", "new", verdict, {CPU: found})], "new", "old")
    assert any(sentence.endswith(words.format(nbsp=NBSP)) for sentence in said)


def test_io_that_is_withheld_is_named() -> None:
    known = 0.98, 4, None, None, 0.05, None, None, None
    note = f"{UNSETTLED}: it is −2.0 % with all that was left unwritten"
    found = Finding("scan", "new", IO_BYTES, Verdict.UNDECIDED, 1.1, None, None, *known, note=note)
    said = summary_sentences([Comparison("scan", "new", Verdict.EQUIVALENT, {IO_BYTES: found})], "new", "old")
    assert f"IO of 1 is undecided, since a longer run may differ: scan (+10.0{NBSP}%)." in said


def test_margins_that_differ_are_told_as_a_span() -> None:
    def finding(metric: str, margin: float) -> Finding:
        return Finding(
            "scan", "new", metric, Verdict.EQUIVALENT, 1.0, 0.99, 1.01, 0.95, 4, 0.5, 0.5, margin, 0.02, 0.01, 9.0
        )

    spans = [finding(CPU, 0.03), finding(CPU, 0.0463988), finding(THROUGHPUT, 0.05), finding(THROUGHPUT, 0.05)]
    assert margins_text(spans) == "3–4.6 % server CPU per op, 5 % throughput"


def judged(test: str, verdict: Verdict, ratio: float = 1.0, low: float = 0.99, high: float = 1.01) -> Finding:
    return Finding(test, "new", CPU, verdict, ratio, low, high, 0.95, 4, 0.5, 0.5, 0.03, 0.02, 0.01, 9.0)


def summary(*findings: Finding) -> tuple[str, ...]:
    return summary_sentences([Comparison(one.test, "new", one.verdict, {CPU: one}) for one in findings], "new", "old")


def test_a_change_is_told_with_the_nearer_end_of_its_interval() -> None:
    more = judged("scan", Verdict.REGRESSION, 1.051, 1.02, 1.083)
    first, *_ = summary(more, judged("insert", Verdict.IMPROVEMENT, 0.88, 0.85, 0.911))
    assert f"scan (+5.1{NBSP}%, at least +2.0{NBSP}%)." in first
    less = next(
        sentence
        for sentence in summary(judged("insert", Verdict.IMPROVEMENT, 0.88, 0.85, 0.911))
        if "insert" in sentence
    )
    assert f"insert (−12.0{NBSP}%, at least −8.9{NBSP}%)." in less


@pytest.mark.parametrize(("ratio", "by_how_much"), [(1.02, " by more than the margin"), (0.98, "")])
def test_small_changes_are_named_and_no_worse_than_they_are(ratio: float, by_how_much: str) -> None:
    said = summary(judged("scan", Verdict.SMALL_CHANGE, ratio), judged("insert", Verdict.EQUIVALENT))
    assert said[0] == f"None of 2 tests is shown to be worse on new than on old{by_how_much}."
    assert f"1 changed a little, within the margins: scan (CPU/op {change(ratio)})." in said


@pytest.mark.parametrize(
    ("differing", "every", "is_said"), [(3, 12, True), (3, 13, False), (2, 4, False), (5, 5, True)]
)
def test_where_much_differs_what_may_be_chance_is_said(differing: int, every: int, is_said: bool) -> None:
    verdicts = [
        (Verdict.SMALL_CHANGE, Verdict.REGRESSION)[n % 2] if n < differing else Verdict.UNDECIDED for n in range(every)
    ]
    said = ratios_text("old", [judged(f"t{n}", verdict) for n, verdict in enumerate(verdicts)])
    words = f"{differing} of {every} comparisons are shown to differ: where so much does, up to 5{NBSP}% of all"
    assert (words in said) is is_said


@pytest.mark.parametrize(
    ("count", "verdict", "words"),
    [
        (1, Verdict.REGRESSION, "1 regression"),
        (2, Verdict.IMPROVEMENT, "2 improvements"),
        (2, Verdict.UNDECIDED, "2 undecided"),
        (1200, Verdict.SMALL_CHANGE, "1,200 small changes"),
    ],
)
def test_verdicts_are_counted_in_words(count: int, verdict: Verdict, words: str) -> None:
    assert counted(count, verdict) == words
