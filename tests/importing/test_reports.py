"""What `show` and `report` make of an import."""

from pathlib import Path
from statistics import median

import pytest

from dbversus.cli.demands import not_judged
from dbversus.errors import UsageError
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.post import write as post
from dbversus.report.parts.experiment import efficiency
from dbversus.report.show import show
from dbversus.report.words import change
from dbversus.stats.comparison import compare
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import Verdict
from tests.importing.conftest import REFERENCE, Import


def test_single_runs_have_ratios_and_no_verdicts(imported: Import) -> None:
    assessment = build_assessment(imported(REFERENCE / "sysbench-2020"))

    assert {item.verdict for item in assessment.comparisons} == {Verdict.NOT_REPLICATED}
    [one] = [
        item
        for item in assessment.comparisons
        if (item.test, item.target) == ("point-query.pre.range100@1", "x.my5731.x6d.pk1")
    ]
    finding = one.findings[THROUGHPUT]
    assert finding.ratio == pytest.approx(20515 / 24193)
    assert (finding.low, finding.high, finding.blocks) == (None, None, 0)
    assert one.notes == ("throughput −15.2\u00a0% (one run of each)",)


def test_what_single_runs_say_is_summed_up(imported: Import) -> None:
    assessment = build_assessment(imported(REFERENCE / "sysbench-2020"))
    facts = next(one for one in assessment.candidates if one.target.label == "x.my5731.x6d.pk1")
    ratios = [
        item.findings[THROUGHPUT].ratio or 0 for item in assessment.comparisons if item.target == "x.my5731.x6d.pk1"
    ]

    first, second = facts.sentences
    middle = f"{median(ratios):.3f}"
    assert first == (
        f"Throughput of x.my5731.x6d.pk1 is {middle} of that of x.my5649.x6d.pk1, in the median of {len(ratios)} tests."
    )
    assert second.startswith("Lowest: ") and change(min(ratios)) in second and change(max(ratios)) in second


def test_a_post_of_single_runs_marks_and_counts_nothing(imported: Import) -> None:
    text = post.render(build_assessment(imported(REFERENCE / "sysbench-2020")))

    assert "CPU of machine and client per operation:" in text
    assert "Server CPU per operation:" not in text
    assert "0 blocks" not in text and "?" not in text and "have no verdict" not in text


def test_silence_is_never_green(imported: Import) -> None:
    results = imported(REFERENCE / "published")
    assert not_judged(results, compare(results), None)


def test_efficiency_is_printed_as_it_was(imported: Import) -> None:
    """Columns that the reference did not print in 2021 are NA."""
    printed = efficiency.text(imported(REFERENCE / "sysbench-2020"))

    assert "0.001139\tNA\tNA\t0\t0.002\t24193.00\tx.my5649.x6d.pk1" in printed
    assert "1.19\tNA\tNA\t1\t0.00\t0.85\tx.my5731.x6d.pk1" in printed


def test_steps_of_the_insert_benchmark_have_their_rates(imported: Import) -> None:
    """A load inserts rows, and a step with queries counts these."""
    results = imported(REFERENCE / "insert-2021")
    found = {
        (item.test, item.target): item.findings[THROUGHPUT].ratio for item in build_assessment(results).comparisons
    }

    assert found["l.i0", "my8022.cx6d"] == pytest.approx(85106 / 139860)
    assert found["q100.2", "my8022.cx6d"] == pytest.approx(6231 / 6886)


def test_runs_of_one_target_are_averaged(imported: Import, tmp_path: Path) -> None:
    """The same build in two folders of two runs each: their figures are of one target, whose ratio is of the means."""
    for run, rate in (("first", 100), ("second", 300)):
        for build, factor in (("x.my5649.x6d.pk1", 1), ("x.pg131.x5.pk1", 2)):
            folder = tmp_path / run / build
            folder.mkdir(parents=True)
            (folder / "sb.r.qps.scan.range100.pk1").write_text(f"{rate * factor}\tinnodb scan range=100\n")

    [one] = build_assessment(imported(tmp_path / "first", tmp_path / "second")).comparisons

    assert one.findings[THROUGHPUT].ratio == 2
    assert one.notes == ("throughput ×2 (means of up to 2 runs, which took no turns and differ by up to ×3.0)",)


def test_the_matrix_of_published_figures(imported: Import) -> None:
    shown = show("matrix", imported(REFERENCE / "published"))

    assert len(shown.rows) >= 24


def test_findings_say_not_replicated(imported: Import) -> None:
    shown = show("findings", imported(REFERENCE / "sysbench-2020"))

    assert {row[3] for row in shown.rows} == {"not replicated"}


def test_a_damaged_import_is_refused(imported: Import) -> None:
    results = imported(REFERENCE / "published")
    (results.directory / "imported.parquet").write_bytes(b"PAR1")

    with pytest.raises(UsageError, match=r"imported\.parquet is damaged"):
        build_assessment(results)
