import json
import os
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from dbversus.errors import RunError, UsageError
from dbversus.results.read import open_results
from dbversus.results.records import AnyRecord, Finished, Remark, Resumed, Slot, convert
from dbversus.results.schema import JOURNAL, SCHEMA_VERSION, SLOT_COLUMNS, SLOTS
from dbversus.results.write import Journal, create_results_dir, safe_name, seal

from ..journals import HOST, DictJournal
from .samples import HEADER, histogram, row, write_journal


def lines_of(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (directory / JOURNAL).read_text().splitlines()]


def test_append_adds_the_time_and_one_line(tmp_path: Path) -> None:
    before = time.time_ns()
    with Journal(tmp_path, HOST) as journal:
        journal.append(Remark(None, "a\nb"))
        journal.append(Finished("decided", host="fedcba9876543210"))
    first, second = lines_of(tmp_path)
    assert first["words"] == "a\nb"
    assert before <= first["at_unix_ns"] <= time.time_ns()  # type: ignore[operator]
    assert (second["type"], second["reason"]) == ("finished", "decided")
    assert (first["host"], second["host"]) == (HOST, "fedcba9876543210")


@pytest.mark.parametrize("wrong", [{"type": "finished", "reason": "x"}, "finished", Finished(5), Slot(target="t0")])  # type: ignore[arg-type]
def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, wrong: AnyRecord) -> None:
    with Journal(tmp_path, HOST) as journal, pytest.raises(TypeError, match="is no record of a journal"):
        journal.append(wrong)
    assert lines_of(tmp_path) == []


def test_a_cut_off_last_line_is_set_aside(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=2)
    whole = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(whole + b'{"type":"row","ta')
    with Journal(tmp_path, HOST) as journal:
        assert "cut off" in journal.note
        journal.append(Resumed("", schema=SCHEMA_VERSION))
    content = (tmp_path / JOURNAL).read_bytes()
    assert content.startswith(whole)
    assert lines_of(tmp_path)[-1]["type"] == "resumed"
    assert (tmp_path / f"{JOURNAL}.torn").read_bytes() == b'{"type":"row","ta\n'


def test_zeros_after_a_power_cut_are_a_cut_off_line(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=1)
    whole = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(whole + b"\0" * 4096)
    Journal(tmp_path, HOST).close()
    assert (tmp_path / JOURNAL).read_bytes() == whole


def test_a_whole_journal_is_left_alone(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=1)
    whole = (tmp_path / JOURNAL).read_bytes()
    with Journal(tmp_path, HOST) as journal:
        assert journal.note == ""
    assert (tmp_path / JOURNAL).read_bytes() == whole
    assert not (tmp_path / f"{JOURNAL}.torn").exists()


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=3)
    lines = (tmp_path / JOURNAL).read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:20] + b"\n"
    (tmp_path / JOURNAL).write_bytes(b"".join(lines))
    with pytest.raises(RunError, match=r"journal\.jsonl, line 2: damaged"):
        Journal(tmp_path, HOST)
    assert (tmp_path / JOURNAL).read_bytes() == b"".join(lines)


def test_only_one_writer(tmp_path: Path) -> None:
    with Journal(tmp_path, HOST), pytest.raises(RunError, match="another dbversus"):
        Journal(tmp_path, HOST)
    Journal(tmp_path, HOST).close()


def test_kill_at_any_moment_leaves_a_readable_journal(tmp_path: Path) -> None:
    """A writer that is killed loses at most the line under way, and nothing that `append` had returned for."""
    program = (
        "import sys; from pathlib import Path\n"
        "from dbversus.results.records import Remark; from dbversus.results.write import Journal\n"
        "journal = Journal(Path(sys.argv[1]), 'here')\n"
        "for n in range(10**6):\n"
        "    journal.append(Remark(None, f'{n} ' + 'x' * 3000)); print(n, flush=True)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    acknowledged = [int(writer.stdout.readline()) for _ in range(40)][-1]
    writer.kill()
    writer.wait()
    Journal(tmp_path, HOST).close()
    written = [int(str(line["words"]).split()[0]) for line in lines_of(tmp_path)]
    assert written == list(range(len(written)))
    assert len(written) > acknowledged


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_sentence(tmp_path: Path) -> None:
    journal = Journal(tmp_path, HOST)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file.fileno())
    with pytest.raises(RunError, match="No space left"):
        journal.append(Finished("decided"))
    os.close(full)


def test_results_are_never_written_over(tmp_path: Path) -> None:
    new = create_results_dir(tmp_path / "deep" / "new")
    assert new.is_dir()
    create_results_dir(new)
    (new / "x").write_text("")
    with pytest.raises(UsageError, match="not empty"):
        create_results_dir(new)
    with pytest.raises(UsageError, match="is a file"):
        create_results_dir(new / "x")


def test_seal_writes_the_documented_columns(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=3)
    seal(tmp_path)
    sealed = duckdb.read_parquet(str(tmp_path / SLOTS))
    assert dict(zip(sealed.columns, map(str, sealed.types), strict=True)) == SLOT_COLUMNS
    [first] = sealed.select("target", "ops", "errors", "host_psi_cpu_us").limit(1).fetchall()
    assert first == ("postgres:13.1", 1000, 3, None)


def test_seal_can_be_repeated(tmp_path: Path) -> None:
    write_journal(tmp_path, rows=3)
    seal(tmp_path)
    before = open_results(tmp_path)
    with DictJournal(tmp_path) as journal:
        journal.append(row(0, 3))
        journal.append({"type": "latency", "block": 0, "test": "point-query", "hdr": {"t0": histogram([5000])}})
    assert len(open_results(tmp_path).slots["ops"]) == len(before.slots["ops"]) + 2
    seal(tmp_path)
    seal(tmp_path)
    after = open_results(tmp_path)
    assert len(after.slots["ops"]) == len(before.slots["ops"]) + 2
    assert after.latency("point-query", after.base)[0].count == 4
    assert not list(tmp_path.rglob("*.partial"))


def test_an_empty_experiment_can_be_sealed(tmp_path: Path) -> None:
    with DictJournal(tmp_path) as journal:
        journal.append(HEADER)
    seal(tmp_path)
    assert len(open_results(tmp_path).slots["ops"]) == 0


def test_seal_wants_a_header(tmp_path: Path) -> None:
    with Journal(tmp_path, HOST) as journal:
        journal.append(Finished("decided"))
    with pytest.raises(RunError, match="experiment"):
        seal(tmp_path)


def test_names_of_files_hold_no_separators() -> None:
    assert safe_name("/opt/pg@x y") == "_opt_pg@x_y"


@pytest.mark.alone
def test_the_journal_costs_little_cpu(tmp_path: Path) -> None:
    """At 10 rows/s the harness may use 1 % of a core in all, i.e. 1 ms per row; the journal gets half of that."""
    record = convert(row(0, 0))
    with Journal(tmp_path, HOST) as journal:
        began = time.process_time()
        for _ in range(200):
            journal.append(record)
        cpu_s = (time.process_time() - began) / 200
    assert cpu_s < 0.5e-3
