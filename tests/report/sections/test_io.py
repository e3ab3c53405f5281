import pytest

from dbversus.report.sections.io import page_cache_part


@pytest.mark.parametrize(
    ("calls", "disk", "part"),
    [(8000.0, 2000.0, 0.75), (8000.0, 0.0, 1.0), (8000.0, 8000.0, 0.0), (0.0, 0.0, None), (8000.0, 9000.0, None),
     (None, 1.0, None), (8000.0, None, None)],
)  # fmt: skip
def test_the_page_cache_s_part_is_told_only_where_it_can_be(
    calls: float | None, disk: float | None, part: float | None
) -> None:
    assert page_cache_part(calls, disk) == part
