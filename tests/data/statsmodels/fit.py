"""What statsmodels makes of weighted fits whose errors come in clusters; writes values.csv and fits.csv.

Run in this folder, in an environment of its own: `pip install statsmodels==0.15.0 numpy==2.4.6 && python fit.py`.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from statsmodels.regression.linear_model import WLS

CASES = {"usual": (12, 8, 8), "few": (3, 2, 2), "uneven": (7, 1, 9)}
"""Name → clusters, fewest and most values in one."""


def main() -> None:
    rng = np.random.default_rng(1)
    values, fits = [], []
    for name, (clusters, fewest, most) in CASES.items():
        sizes = rng.integers(fewest, most, clusters, endpoint=True)
        cluster = np.repeat(np.arange(clusters), sizes)
        x = rng.choice([0.0, 0.01, 0.03, 0.08], len(cluster)) + rng.normal(0, 0.001, len(cluster))
        sd = rng.uniform(0.002, 0.02, len(cluster))
        y = 0.001 + 0.95 * x + rng.normal(0, 0.004, clusters)[cluster] + rng.normal(0, sd)
        columns = [[float(f"{value:.10g}") for value in column] for column in (x, y, 1 / sd**2)]
        values += [(name, *row) for row in zip(cluster, *columns, strict=True)]
        x, y, weight = map(np.array, columns)
        design = np.column_stack((np.ones_like(x), x))
        fit = WLS(y, design, weights=weight).fit(
            cov_type="cluster", cov_kwds={"groups": cluster, "df_correction": True}, use_t=True
        )
        fits.append((name, *map(repr, map(float, (*fit.params, *fit.conf_int()[1])))))
    write("values.csv", ("case", "cluster", "x", "y", "weight"), values)
    write("fits.csv", ("case", "offset", "slope", "low", "high"), fits)


def write(name: str, head: tuple[str, ...], rows: Sequence[Sequence[object]]) -> None:
    with Path(name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows((head, *rows))


if __name__ == "__main__":
    main()
