"""Relative figures, as printed, against those recomputed from the absolute figures that are printed with them."""

from typing import NamedTuple

import duckdb

# each ratio with the figures of its target and of its base, from the file that it is compared with
_PAIRS = """
    CREATE TEMP TABLE pairs AS
    WITH of_ratios AS (
        SELECT file AS path, any_value(compared_with) AS compared_with FROM files
        WHERE file IN (SELECT file FROM figures WHERE relative) GROUP BY file
    ), named AS (
        SELECT file AS path, compared_with, line, test, clients, target, relative_to AS base, relative, metric, value, decimals
        FROM figures LEFT JOIN of_ratios ON path = file
        WHERE file IN (SELECT path FROM of_ratios UNION ALL SELECT compared_with FROM of_ratios)
    ), absolute AS (
        SELECT path, test, clients, target, metric, any_value(value) AS value, any_value(decimals) AS decimals
        FROM named WHERE NOT relative GROUP BY ALL
    )
    SELECT r.path, r.line, r.test, r.target, r.metric, r.value AS printed, r.decimals, r.base,
        t.value AS own, b.value AS of_base, 0.5 * pow(10.0, -t.decimals) AS own_half, 0.5 * pow(10.0, -b.decimals) AS base_half,
        CASE WHEN b.value = 0 THEN (CASE WHEN t.value = 0 THEN 1 ELSE 'inf'::DOUBLE END) ELSE t.value / b.value END AS again
    FROM named r
    LEFT JOIN absolute t ON t.path = r.compared_with AND t.test = r.test AND t.clients IS NOT DISTINCT FROM r.clients
        AND t.target = r.target AND t.metric = r.metric
    LEFT JOIN absolute b ON b.path = r.compared_with AND b.test = r.test AND b.clients IS NOT DISTINCT FROM r.clients
        AND b.target = r.base AND b.metric = r.metric
    WHERE r.relative
"""
_CHECKED = """
    CREATE TEMP TABLE checked AS SELECT *, CASE
        WHEN printed IS NULL AND (own IS NULL OR of_base IS NULL) THEN 'same'
        WHEN own IS NULL OR of_base IS NULL THEN 'alone'
        WHEN isinf(printed) AND isinf(again) THEN 'same'
        WHEN abs(printed - again) <= 0.5 * pow(10.0, -decimals) + 1e-9 THEN 'same'
        WHEN of_base > base_half AND printed BETWEEN (own - own_half) / (of_base + base_half) - 0.5 * pow(10.0, -decimals) - 1e-9
            AND (own + own_half) / (of_base - base_half) + 0.5 * pow(10.0, -decimals) + 1e-9 THEN 'within rounding'
        ELSE 'other' END AS outcome
    FROM pairs
"""
_OTHERS = """
    SELECT path, line, test, target, metric, printed, again, base FROM checked WHERE outcome = 'other'
    ORDER BY path, line LIMIT ?
"""


class Ratios(NamedTuple):
    """How many ratios are `same` as recomputed, to their last digit; the same as far as the rounding of the absolute figures
    allows (`rounding`); `other`; or `alone`, without absolute figures. `examples`: those that are other, in words."""

    same: int
    rounding: int
    other: int
    alone: int
    examples: list[str]


def check_ratios(connection: duckdb.DuckDBPyConnection, most_examples: int) -> Ratios:
    if not connection.execute("SELECT 1 FROM places WHERE relative LIMIT 1").fetchone():
        return Ratios(0, 0, 0, 0, [])
    connection.execute(_PAIRS)
    connection.execute(_CHECKED)
    counts = dict(connection.execute("SELECT outcome, count(*) FROM checked GROUP BY ALL").fetchall())
    examples = [
        f"{path}, line {line}: {metric} of {test}, {target} to {base}, is {printed:g}; its figures give {again:.4g}"
        for path, line, test, target, metric, printed, again, base in connection.execute(
            _OTHERS, [most_examples]
        ).fetchall()
    ]
    same, rounding, other, alone = (counts.get(name, 0) for name in ("same", "within rounding", "other", "alone"))
    return Ratios(same, rounding, other, alone, examples)
