from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.host.checks.fsync import KINDS, sync_latency


def test_every_kind_of_write_is_measured_and_nothing_is_left_behind(tmp_path: Path) -> None:
    found = sync_latency(tmp_path / "new", seconds=0.05, most=30)
    assert list(found) == [kind.name for kind in KINDS]
    assert {"fdatasync_4kB", "fdatasync_16kB", "fsync_4kB", "fsync_16kB", "fdatasync_4kB_appended"} == found.keys()
    for one in found.values():
        assert 20 <= one["count"] <= 30
        assert 0 < one["p50_us"] <= one["p95_us"] <= one["p99_us"]
    assert not list((tmp_path / "new").iterdir())


def test_a_place_that_cannot_be_written_is_told_in_the_systems_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        RunError, match=r"The latency of fsync in .*/file cannot be measured: (File exists|Not a directory)"
    ):
        sync_latency(tmp_path / "file")
