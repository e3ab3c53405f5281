"""One synthetic experiment for all report tests: writing it takes longer than reading it."""

from pathlib import Path

import pytest

from dbversus.report.assessment import build_assessment
from dbversus.report.model import Assessment
from dbversus.results.read import open_results
from dbversus.results.stored import Results

from .synthetic import write_results


@pytest.fixture(scope="session")
def results_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_results(tmp_path_factory.mktemp("synthetic") / "results")


@pytest.fixture(scope="session")
def results(results_dir: Path) -> Results:
    return open_results(results_dir)


@pytest.fixture(scope="session")
def assessment(results: Results) -> Assessment:
    return build_assessment(results)
