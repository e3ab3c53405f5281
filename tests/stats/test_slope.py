"""The cluster-robust line against statsmodels' own (tests/data/statsmodels/fit.py)."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dbversus.stats.calibration.slope import fit_line

DATA = Path(__file__).parents[1] / "data" / "statsmodels"


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def columns(case: str) -> dict[str, NDArray[np.float64]]:
    of_case = [row for row in rows("values.csv") if row["case"] == case]
    return {name: np.array([float(row[name]) for row in of_case]) for name in ("cluster", "x", "y", "weight")}


@pytest.mark.parametrize("fit", rows("fits.csv"), ids=lambda fit: str(fit["case"]))
def test_the_line_is_that_of_statsmodels(fit: dict[str, str]) -> None:
    values = columns(fit["case"])
    line = fit_line(values["x"], values["y"], values["weight"], values["cluster"])
    for name in ("offset", "slope", "low", "high"):
        assert getattr(line, name) == pytest.approx(float(fit[name]), rel=1e-9), name
    assert line.clusters == len(set(values["cluster"]))


def test_errors_that_clusters_share_widen_the_interval() -> None:
    """Where all of a cluster has the same x, ten values with the same error are worth one."""
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(12), 10)
    x = np.linspace(0, 0.08, 12)[cluster]
    y = x + rng.normal(0, 0.01, 12)[cluster] + rng.normal(0, 0.001, len(x))
    together = fit_line(x, y, np.ones_like(x), cluster)
    apart = fit_line(x, y, np.ones_like(x), np.arange(len(x)))
    assert together.slope == apart.slope
    assert together.high - together.low > 2 * (apart.high - apart.low)
