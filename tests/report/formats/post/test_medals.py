"""Gold and silver by the reference's rule of 5 %: as many as were published, and none of what has intervals."""

import csv
from pathlib import Path

from dbversus.report.assessment import build_assessment
from dbversus.report.formats.post import write as post
from dbversus.report.model import Assessment
from tests.importing.conftest import REFERENCE, Import, imported

__all__ = ["imported"]

DATA = Path(__file__).parents[3] / "data/sysbench-2021-iobound.csv"
TARGETS = ("my5649", "pg1110", "my8022", "pg131")


def write_published(folder: Path) -> Path:
    """The sheet of January 2021, in the form of the summaries that it was made of."""
    folder.mkdir()
    rates, costs = [], []
    for line in csv.DictReader(DATA.open()):
        name = f"{line['test']}.range{line['range'] or 100}.pk1"
        kind = ("prepare.o", "prepare.met") if line["test"] == "load" else ("r.qps", "met")
        rates += [f"sb.{kind[0]}.{name}", *(f"{line[f'{one}_qps']}\tx.{one}.x.pk1" for one in TARGETS), ""]
        costs += [f"sb.{kind[1]}.{name}{'' if line['test'] == 'load' else '.dop1'}", "--- absolute"]
        costs += ["cpu/o\tr/o\trKB/o\to/s\tdbms"]
        costs += [
            f"{line[f'{one}_cpu']}\t{line[f'{one}_r']}\t{line[f'{one}_rkb']}\t{line[f'{one}_qps']}\tx.{one}.x.pk1"
            for one in TARGETS
        ]
        costs += [""]
    (folder / "o.qps.abs.all").write_text("\n".join(rates))
    (folder / "o.met.all").write_text("\n".join(costs))
    return folder


def test_two_generations_have_as_many_as_were_published(imported: Import, tmp_path: Path) -> None:
    text = post.render(build_assessment(imported(write_published(tmp_path / "published"))))
    assert "### pg1110.x against my5649.x (old), pg131.x against my8022.x (new)" in text
    assert (
        "- Gold in 19 of 43 tests; the geometric mean of the ratios in throughput is 0.95 in the old generation and 1.04 in the "
        "new one." in text
    )
    assert (
        "- Silver in 26 of 43 tests; the geometric mean of the ratios in CPU per operation is 1.12 in the old" in text
    )
    assert "without intervals" in text


def test_each_target_is_held_against_the_base(imported: Import) -> None:
    text = post.render(build_assessment(imported(REFERENCE / "insert-2021")))
    gold = text[text.index("## Gold and silver") :]
    assert "These marks are without intervals" in gold
    assert "- my8022.cx6d: gold in 1 of 7 tests, silver in 1 of 7 tests." in gold
    assert "1.50*   1.42*   l.x" in text and "0.61*" not in text


def test_what_has_intervals_has_verdicts_and_no_marks(assessment: Assessment) -> None:
    text = post.render(assessment)
    assert "## Gold and silver" not in text and "*  " not in text
