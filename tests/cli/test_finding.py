"""Which changes `explain --measure` asks what operations wait for: forged results with known times."""

import json
from pathlib import Path

import pytest

from dbversus.campaign.finding.asked import Change
from dbversus.cli.finding import waits_tell
from dbversus.report.assessment import build_assessment
from dbversus.results.read import open_results
from tests.report.pairs import Contender, write_pairs

# an operation of the base takes 50 µs, of them 30 on a CPU


def _told(folder: Path) -> bool:
    results = open_results(folder)
    return waits_tell(build_assessment(results), Change("point-query", 1), results)


def _written(folder: Path, time: float, cpu: float, blocks: int = 4) -> Path:
    pair = (
        Contender("postgres:16", "postgres", "16.1"),
        Contender("postgres:17", "postgres", "17.1", time=time, cpu=cpu),
    )
    return write_pairs(folder / "results", pair, blocks)


@pytest.mark.parametrize(
    ("time", "cpu", "told"),
    [
        (2.0, 1.0, True),  # 50 µs more, none of them on a CPU
        (2.0, 1.5, True),  # 15 of 50
        (2.0, 2.0, False),  # 30 of 50
        (0.5, 1.0, True),  # 25 fewer
        (0.5, 0.5, False),  # 15 of 25
        (1.0, 2.0, False),  # throughput is the same
    ],
)
def test_waits_are_asked_for_where_cpu_time_is_less_than_half_of_the_change(
    time: float, cpu: float, told: bool, tmp_path: Path
) -> None:
    assert _told(_written(tmp_path, time, cpu)) is told


def test_without_figures_of_cpu_time_throughput_alone_asks_for_them(tmp_path: Path) -> None:
    journal = _written(tmp_path, 2.0, 2.0) / "journal.jsonl"
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    for record in records:
        for slot in record.get("slots", ()):
            del slot["server_cpu_ns"]
    journal.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    assert _told(journal.parent)


def test_one_block_shows_no_change_to_explain(tmp_path: Path) -> None:
    assert not _told(_written(tmp_path, 2.0, 1.0, blocks=1))
