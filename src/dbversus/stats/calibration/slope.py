"""A weighted line through values whose errors come in clusters: its slope, with an interval that allows for that."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from dbversus.stats.metrics import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Line:
    """y = offset + slope · x. `low`, `high`: the 95 % interval of the slope; `clusters` are what it counts."""

    offset: float
    slope: float
    low: float
    high: float
    clusters: int


def fit_line(x: Floats, y: Floats, weights: Floats, clusters: npt.NDArray[np.generic]) -> Line:
    """Weighted least squares with the cluster-robust ("sandwich") variance of Liang and Zeger, Biometrika 73 (1986).

    It needs two clusters. Student's t has clusters - 1 degrees of freedom, and the variance is raised by
    G / (G - 1) · (n - 1) / (n - 2) for G clusters of n values, as is usual where there are few: Cameron and Miller, A
    practitioner's guide to cluster-robust inference, J. Human Resources 50 (2015), equation 12.
    """
    design = np.column_stack((np.ones_like(x), x))
    bread = np.linalg.inv(design.T @ (weights[:, None] * design))
    offset, slope = bread @ design.T @ (weights * y)
    scores = (weights * (y - offset - slope * x))[:, None] * design
    _, of_value = np.unique(clusters, return_inverse=True)
    count, n = int(of_value.max()) + 1, len(x)
    sums = np.zeros((count, 2))
    np.add.at(sums, of_value, scores)
    variance = (bread @ sums.T @ sums @ bread)[1, 1] * count / (count - 1) * (n - 1) / (n - 2)
    half = float(t.isf((1 - CONFIDENCE) / 2, count - 1) * np.sqrt(variance))
    return Line(float(offset), float(slope), float(slope) - half, float(slope) + half, count)
