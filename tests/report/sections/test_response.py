"""Response times in fixed buckets: where a time belongs, how shares are written, and that both forms agree."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dbversus.report.assessment import judged_of
from dbversus.report.figures import BUCKETS_US, latency_figures
from dbversus.report.formats import html
from dbversus.report.model import Assessment
from dbversus.report.sections import response
from dbversus.results.latency import Latency
from dbversus.results.stored import Results


def latency(*times: tuple[int, int]) -> Latency:
    """Pairs of a time in µs and how many operations took that."""
    values, counts = zip(*times, strict=True)
    return Latency(np.array(values, np.int64) * 1000, np.array(counts, np.int64))


def test_a_time_at_the_end_of_a_bucket_is_in_it() -> None:
    assert list(BUCKETS_US) == [256, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6]
    found = latency_figures([latency((1, 5), (256, 2), (257, 1)), latency((1000, 1), (16_000_000, 3), (16_000_001, 4))])
    assert found is not None
    assert list(found.buckets) == [7, 2, 0, 0, 0, 0, 0, 0, 3, 4]


def test_shares_are_written_as_the_reference_does(assessment: Assessment) -> None:
    times = latency_figures([latency((10, 999_996), (2_000, 4))])
    assert times is not None
    test = replace(assessment.tests[0], latency={"a": times}, roles=())
    found = response.of_tests([test])
    assert found is not None
    (table,) = found.of_tests[test.name].tables
    (row,) = table.rows
    assert row[:-1] == ["all that count", "a", "100.000", "", "nonzero", *[""] * 7]
    assert row[-1] == pytest.approx(0.002) and len(row) == len(table.columns)


def test_all_operations_are_in_some_bucket(results: Results) -> None:
    found = response.section(judged_of(results))
    assert found is not None
    columns, rows = found.data[0].plain()
    first, last = columns.index("le_256us"), columns.index("gt")
    shares = [[share for share in row[first : last + 1] if isinstance(share, float)] for row in rows]
    assert rows and all(math.fsum(own) == pytest.approx(100, abs=1e-4) for own in shares)


def test_the_page_has_them(assessment: Assessment) -> None:
    assert response.NOTE in html.render(assessment)
