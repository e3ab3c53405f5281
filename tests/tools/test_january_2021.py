"""docs/results/january-2021.md: published files are counted as written again only where they are, byte for byte."""

import shutil
from pathlib import Path

import january_2021

from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.formats.registry import find_formats
from dbversus.results.read import open_results
from tests.importing.conftest import REFERENCE


def test_files_that_come_out_as_they_went_in_are_counted(tmp_path: Path) -> None:
    data = shutil.copytree(REFERENCE / "sysbench-2020", tmp_path / "data")
    import_results([data], tmp_path / "out")
    (reference,) = find_formats(["reference"])
    written = reference.write(build_assessment(open_results(tmp_path / "out")), tmp_path / "out")
    assert january_2021.compare(data, written) == (3, 3)
    (data / "o.qps.rel.in").write_text("another\n")
    assert january_2021.compare(data, written) == (2, 3)


def test_the_page_in_docs_says_that_all_do() -> None:
    said = (january_2021.RESULTS / f"{january_2021.NAME}.md").read_text()
    assert said == january_2021.page(2628, 3, 3)
    made = january_2021.RESULTS / january_2021.NAME
    assert all((made / name).is_file() for name in ("page.png", "sheet.png", "post.md"))
    assert list(made.glob("post/*throughput.svg"))
