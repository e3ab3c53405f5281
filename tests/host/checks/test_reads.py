from itertools import islice
from pathlib import Path

import pytest

from dbversus.errors import RunError
from dbversus.host.checks.reads import KINDS, read_latency


def test_reads_of_every_kind_are_measured_and_nothing_is_left_behind(tmp_path: Path) -> None:
    found = read_latency(tmp_path / "new", seconds=0.02)
    assert list(found) == [kind.name for kind in KINDS] == ["random_4kB", "random_16kB", "sequential_1024kB"]
    for kind in KINDS:
        one = found[kind.name]
        assert one["count"] >= 20
        assert 0 < one["p50_us"] <= one["p95_us"] <= one["p99_us"]
        # half of the reads took at least the median
        assert 0 < one["mb_per_s"] <= 2 * kind.size_bytes / one["p50_us"]
    assert not list((tmp_path / "new").iterdir())


def test_random_reads_stay_in_the_file_and_sequential_ones_go_through_it() -> None:
    random_4k, _, sequential = (list(islice(kind.offsets(), 200)) for kind in KINDS)
    assert len(set(random_4k)) > 150
    assert all(offset % 4096 == 0 and 0 <= offset <= 64 * 2**20 - 4096 for offset in random_4k)
    assert sequential[:64] == [number * 2**20 for number in range(64)] and sequential[64] == 0


def test_a_place_that_cannot_be_written_is_told_in_the_systems_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        RunError, match=r"The latency of reads in .*/file cannot be measured: (File exists|Not a directory)"
    ):
        read_latency(tmp_path / "file")
