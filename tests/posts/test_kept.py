"""Runs are kept as block values: what is scored from the file is what is scored from the results."""

import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from dbversus.errors import UsageError
from dbversus.posts.kept import read_run, write_run
from dbversus.posts.reading import read_post
from dbversus.posts.rule import Status
from dbversus.posts.run import PostRun, experiment_of, run_of
from dbversus.posts.scoring import score, score_together
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.judge import judge
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.model import IDLE, Verdict

from .test_reading import GOOD, write_post

RUNS = Path(__file__).parents[1] / "data/runs"
OURS = GOOD.replace("@x5", "")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A real run: PostgreSQL 11.22 against 13.23, of which the scan is faster (tests/data/runs/README.md)."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "journal.jsonl").write_bytes(lzma.decompress((RUNS / "postgres-11-13.jsonl.xz").read_bytes()))
    return open_results(folder)


@pytest.fixture(scope="module")
def run(results: Results) -> PostRun:
    return run_of(results, judge(results), set())


def test_a_kept_run_is_scored_as_its_results_are(run: PostRun, tmp_path: Path) -> None:
    more = '{ new = "13.1", old = "11.10", metric = "cpu", tests = ["*"], says = "mostly not up" },\n]'
    post = read_post(write_post(tmp_path, OURS.replace("\n]", f"\n  {more}", 1)))
    write_run(run, file := tmp_path / "run.json.gz")
    (scored,), (kept,) = score(run, [post]), score(read_run(file), [post])
    scan, mostly = (figure for _, figure in scored.figures())
    assert (scan.status, scan.size, scan.blocks) == (Status.FOUND, "", 8)
    assert len(mostly.parts) == 8
    assert [one.status for _, one in kept.figures()] == [one.status for _, one in scored.figures()]
    assert next(kept.figures())[1].ratio == pytest.approx(scan.ratio)


def test_each_figure_is_held_against_the_experiment_that_asks_for_it(run: PostRun, tmp_path: Path) -> None:
    beside = (
        'rows = 1000 }\nlarge = { clients = 1, rows = 9000, larger_than_memory = true, experiment = "made-up-large" }'
    )
    figure = '  { new = "13.1", old = "11.10", metric = "throughput", tests = ["scan"], published = [1.1], server = "large" },'
    post = read_post(write_post(tmp_path, OURS.replace("rows = 1000 }", beside).replace("\n]", f"\n{figure}\n]", 1)))
    alone = score_together({"made-up": run}, post)
    assert [one.note for _, one in alone.figures()] == ["", "asked of posts/made-up-large"]
    both = score_together({"made-up": run, "made-up-large": run}, post)
    assert [one.ratio is not None for _, one in both.figures()] == [True, True]
    assert both.differences.endswith("rows for 9k (made-up-large)")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("dbversus run posts/2021-01-10-pg-mem --scaled", "2021-01-10-pg-mem"),
        ("dbversus run /x/experiments/posts/2021-01-10-pg-mem-compilers.toml", "2021-01-10-pg-mem-compilers"),
        ("dbversus run nightly.toml", ""),
    ],
)
def test_an_experiment_is_known_by_its_command(command: str, name: str) -> None:
    assert experiment_of(command) == name


def test_the_file_is_small_and_the_same_for_the_same_run(run: PostRun, tmp_path: Path) -> None:
    for name in ("a.json.gz", "b.json.gz"):
        write_run(run, tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert (tmp_path / "a.json.gz").stat().st_size < 20_000


def test_what_is_withheld_for_its_slots_stays_withheld(results: Results, run: PostRun, tmp_path: Path) -> None:
    post = read_post(write_post(tmp_path, OURS))
    note = f"in 60% of the rows {IDLE}"
    findings = [
        replace(one, verdict=Verdict.UNDECIDED, note=note) if one.key == ("scan", "postgres:13", THROUGHPUT) else one
        for one in judge(results)
    ]
    (scored,) = score(run_of(results, findings, set()), [post])
    ((_, scan),) = scored.figures()
    assert run.withheld == [] and (scan.status, scan.note) == (Status.NOT_SHOWN, note)


@pytest.mark.parametrize("content", [b"no gzip", b""])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json.gz").write_bytes(content)
    with pytest.raises(UsageError, match=r"x\.json\.gz cannot be read, or is no kept run"):
        read_run(tmp_path / "x.json.gz")
