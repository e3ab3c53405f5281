"""Data larger than the memory of a server, on real servers: it is read from the disk, and without a limit it is not."""

import pytest

from dbversus.host import cgroups

from .conftest import Bench

ROWS = "table_size = 300000\n"
PER_OP = "SELECT sum(server_read_bytes) / sum(ops) AS read, sum(server_read_call_bytes) / sum(ops) AS calls FROM slots"


@pytest.fixture(autouse=True)
def memory_cgroup() -> None:
    made, note = cgroups.create_cgroup("e2e-memory-probe", with_memory=True)
    can = made is not None and made.memory is not None
    if made:
        made.remove()
    if not can:
        pytest.skip(note)


def read_per_op(bench: Bench, out: str) -> tuple[float, float]:
    _, line = bench.run("show", bench.folder / out, "--sql", PER_OP, "--format", "csv").stdout.split()
    read, calls = map(float, line.split(","))
    return read, calls


@pytest.mark.on_disk
def test_a_server_reads_what_its_memory_does_not_hold(bench: Bench, postgres: str) -> None:
    file = bench.write([postgres], "point-query.pre", "alone = true\n", looks=(1,))
    file.write_text(file.read_text().replace("table_size = 2000\n", ROWS))
    bench.run("run", file, "--memory", "64m", "--out", bench.out)
    header = bench.records("experiment")[0]
    assert header["memory"] == 64 * 2**20 and "--memory 64m" in header["command"]
    assert header["targets"][0]["rendered"]["settings"]["shared_buffers"] == "16MB"
    read, calls = read_per_op(bench, "out")
    assert read > 1000
    bench.run("run", file, "--out", bench.folder / "whole")
    whole, whole_calls = read_per_op(bench, "whole")
    assert whole < read / 10 and whole_calls < calls / 10
    assert '"earlier":true' in (bench.folder / "whole/journal.jsonl").read_text()
    assert "64m of memory for each server" in (bench.out / "report.html").read_text()


def test_a_server_that_needs_more_is_refused_with_its_words(bench: Bench, postgres: str) -> None:
    file = bench.write([postgres], "point-query.pre", "alone = true\nmemory = '2m'\n", looks=(1,))
    said = bench.run("run", file, "--out", bench.out, status=1).stderr
    words = "the kernel ended a process of it: it needs more memory than --memory lets it have"
    assert said.count(words) == 1 and said.strip().splitlines()[-1].startswith(
        f"dbversus: {postgres}, the only target, is out: "
    )
    assert "resume" not in said
    assert not bench.survivors() and not list((bench.home / "work").iterdir())
