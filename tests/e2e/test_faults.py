"""What happens when servers, the engine or dbversus itself are killed, and when the user stops a run."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from ..soak.leaks import Baseline, in_home, in_results, on_host, processes_of, wait_until_none
from .conftest import Bench, give_to, wait_for

TESTS = "point-query,update-index,read-write-10"
_ROW = b'{"type":"row"'
LONG = "rows = 40\nseconds = 1.5\nlooks = [2]\n"


def _rows(bench: Bench) -> int:
    try:
        return len(bench.records("row"))
    except (OSError, ValueError):  # not there yet, or a line is just being written
        return 0


def _children(pid: int, name: str) -> list[int]:
    """Processes started by `pid` whose command line holds `name`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        if parent == pid and name in words:
            found.append(int(process.name))
    return found


def _experiment(bench: Bench, targets: list[str]) -> Path:
    path = bench.write(targets, TESTS)
    path.write_text(path.read_text().replace("rows = 6\nseconds = 1\nlooks = [2, 3]\n", LONG))
    return path


def _check_shape(bench: Bench) -> None:
    """Every row that was planned is there exactly once, in every block and test; nothing runs any more."""
    counts = Counter((row["block"], row["test"], row["row"]) for row in bench.records("row"))
    assert set(counts.values()) == {1}, [key for key, count in counts.items() if count > 1]
    rows = Counter((block, test) for block, test, _ in counts)
    plans = {plan["test"]: plan["rows"] for plan in bench.records("slots")}
    done = {(record["block"], record["test"]) for record in bench.records("test")}
    assert done and all(rows[key] >= plans[key[1]] for key in done)
    assert bench.records("finished")
    assert not bench.survivors()
    assert (bench.out / "report.html").exists() and (bench.out / "slots.parquet").exists()


def test_a_server_killed_in_a_slot_is_restarted_and_reported(bench: Bench, postgres: str) -> None:
    process = bench.start("run", _experiment(bench, [postgres, f"{postgres}@work_mem=8MB"]), "--out", bench.out)
    wait_for(lambda: _rows(bench) > 20, process)
    victim = max(_children(process.pid, "postgres"))
    os.kill(victim, signal.SIGKILL)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    failures = bench.records("failure")
    assert [failure["stage"] for failure in failures] and not any(failure["final"] for failure in failures)
    assert failures[0]["target"] in ("t0", "t1") and failures[0]["message"]
    assert failures[0]["message"][:40] in json.dumps(json.loads((bench.out / "report.json").read_text())["failures"])
    _check_shape(bench)


def test_an_engine_that_is_killed_is_replaced(bench: Bench, postgres: str) -> None:
    process = bench.start("run", _experiment(bench, [postgres, f"{postgres}@work_mem=8MB"]), "--out", bench.out)
    wait_for(lambda: _rows(bench) > 20, process)
    (engine,) = [pid for pid in _children(process.pid, "dbversus-engine") if "guard" not in _words(pid)]
    os.kill(engine, signal.SIGKILL)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, out + err
    assert "engine" in [failure["stage"] for failure in bench.records("failure")]
    _check_shape(bench)


def _words(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def test_ctrl_c_leaves_nothing_running_and_a_resumable_directory(bench: Bench, postgres: str) -> None:
    process = bench.start("run", _experiment(bench, [postgres, f"{postgres}@work_mem=8MB"]), "--out", bench.out)
    wait_for(lambda: _rows(bench) > 20, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "Traceback" not in err and "resume" in err
    assert not bench.survivors()
    assert not any((bench.home / "work").iterdir())
    bench.run("resume", bench.out)
    assert bench.records("resumed")
    _check_shape(bench)


def _wait_for_more_rows(bench: Bench, process: "subprocess.Popen[str]", rows: int) -> None:
    wait_for(lambda: _rows(bench) > rows or process.poll() is not None)


def _whole_lines(journal: Path) -> bytes:
    content = journal.read_bytes()
    return content[: content.rfind(b"\n") + 1]


@pytest.mark.alone
@pytest.mark.parametrize("user", ["root", "nobody"] if os.geteuid() == 0 else [pytest.param("", id="ourselves")])
def test_killed_again_and_again_it_still_finishes_with_every_row_once(bench: Bench, postgres: str, user: str) -> None:
    """Nothing is lost and nothing left: no process and no memory by then, and nothing at all after the run that ends well."""
    if user == "nobody":
        give_to(bench, user)
    chance, before = random.Random(7), Baseline.take()
    controllers: list[int] = []
    kept: list[bytes] = []
    journal = bench.out / "journal.jsonl"
    file = _experiment(bench, [postgres, f"{postgres}@work_mem=8MB"])
    command: list[str | Path] = ["run", file, "--out", bench.out]
    for number in range(20 if os.environ.get("DBVERSUS_TEST_LONG") else 6):
        rows = _rows(bench)
        process = bench.start(*command)
        controllers.append(process.pid)
        wait_for(journal.exists, process)
        if number % 2:  # among rows, and else while it still gets ready for them
            _wait_for_more_rows(bench, process, rows)
        time.sleep(chance.uniform(0, 1 if number % 2 else 4))
        process.kill()
        process.communicate()
        kept.append(_whole_lines(journal))
        wait_for(lambda: not processes_of(bench.folder))
        assert not wait_until_none(lambda: _memory(on_host(before, bench.folder, [])), 600)
        command = ["resume", bench.out]
    bench.run(*command)
    _check_shape(bench)
    whole = journal.read_bytes()
    assert _ROW in kept[-1] and not [lines for lines in kept if not whole.startswith(lines)]
    left = [*in_home(bench.home, targets=2), *in_results(bench.out), *processes_of(bench.folder)]
    assert not left + wait_until_none(lambda: on_host(before, bench.folder, controllers), 600)


def _memory(left: list[str]) -> list[str]:
    return [one for one in left if "shared memory" in one]


def test_two_experiments_at_once_the_second_is_refused_with_a_reason(bench: Bench) -> None:
    file = _experiment(bench, ["sqlite:bundled@wal", "sqlite:bundled"])
    first = bench.start("run", file, "--out", bench.out)
    wait_for(lambda: _rows(bench) > 2, first)
    first.send_signal(signal.SIGSTOP)  # it has to be there for as long as the second takes to start
    second = bench.run("run", file, "--out", bench.folder / "second", status=1)
    first.send_signal(signal.SIGCONT)
    assert str(first.pid) in second.stderr and "--wait" in second.stderr
    assert not (bench.folder / "second").exists()
    first.communicate(timeout=600)
    assert first.returncode == 0


def test_another_home_on_the_same_host_waits_too(bench: Bench) -> None:
    other = Bench(bench.folder / "other", bench.folder / "other/home")
    other.home.mkdir(parents=True)
    lock = {"DBVERSUS_HOST_LOCK": bench.places["DBVERSUS_HOST_LOCK"]}
    first = bench.start("run", _experiment(bench, ["sqlite:bundled@wal", "sqlite:bundled"]), "--out", bench.out)
    wait_for(lambda: _rows(bench) > 2, first)
    first.send_signal(signal.SIGSTOP)
    command = other.command("run", _experiment(other, ["sqlite:bundled@wal", "sqlite:bundled"]), "--out", other.out)
    second = subprocess.run(command, capture_output=True, text=True, env=other.env | lock, cwd=other.folder)
    assert second.returncode == 1 and f"in use by process {first.pid} (sqlite:bundled@wal against" in second.stderr
    waits = subprocess.Popen(
        [*command, "--wait"], stderr=subprocess.PIPE, text=True, env=other.env | lock, cwd=other.folder
    )
    assert waits.stderr
    said = next((line for line in waits.stderr if "waiting for it to end" in line), "")
    first.send_signal(signal.SIGCONT)
    assert f"in use by process {first.pid} (" in said
    _, rest = waits.communicate()
    assert waits.returncode == 0, rest
    assert first.wait(600) == 0
    _check_shape(other)


def test_a_journal_cut_off_in_a_line_goes_on(bench: Bench) -> None:
    process = bench.start("run", _experiment(bench, ["sqlite:bundled@wal", "sqlite:bundled"]), "--out", bench.out)
    wait_for(lambda: _rows(bench) > 10, process)
    process.kill()
    process.communicate()
    journal = bench.out / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-30])
    bench.run("resume", bench.out)
    _check_shape(bench)


def test_too_little_room_is_seen_before_anything_is_loaded(bench: Bench) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", bench.home], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        file = bench.write(["sqlite:bundled@wal", "sqlite:bundled"], TESTS)
        done = bench.run("run", file, "--out", bench.out, status=1)
        assert "needs about" in done.stderr and "free" in done.stderr
        assert not bench.out.exists()
    finally:
        subprocess.run(["umount", bench.home], check=True)
