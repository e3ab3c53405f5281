"""What is kept in the home is given back, and never under the hands of a run."""

import json
import signal

from .conftest import Bench, wait_for


def _rows(bench: Bench) -> int:
    journal = bench.out / "journal.jsonl"
    return journal.read_text().count('"type":"row"') if journal.exists() else 0


def test_a_run_keeps_its_snapshots_and_what_a_killed_one_left_can_be_removed(bench: Bench) -> None:
    file = bench.write(["sqlite:bundled@wal", "sqlite:bundled"], "point-query,update-index")
    file.write_text(file.read_text().replace("rows = 6", "rows = 40"))
    process = bench.start("run", file, "--out", bench.out)
    wait_for(lambda: _rows(bench) > 2, process)
    process.send_signal(signal.SIGSTOP)  # it has to be there for as long as three commands take
    refused = bench.run("clean", "snapshots", status=1)
    assert f"is kept: in use by process {process.pid}" in refused.stderr
    assert "freed 0 B" in refused.stdout
    assert not json.loads(bench.run("clean", "leftovers", "--json").stdout)["removed"]
    process.kill()
    process.communicate()
    wait_for(lambda: not bench.survivors())
    kinds = {one["kind"] for one in json.loads(bench.run("clean", "--json").stdout)}
    assert kinds == {"snapshot", "leftover"}
    freed = json.loads(bench.run("clean", "snapshots", "leftovers", "--json").stdout)
    assert freed["freed_bytes"] > 100_000 and not freed["kept"]
    assert json.loads(bench.run("clean", "--json").stdout) == []
    bench.run("resume", bench.out)  # loads anew
    assert {one["kind"] for one in json.loads(bench.run("clean", "--json").stdout)} == {"snapshot"}
