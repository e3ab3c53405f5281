"""Whatever is wrong with files or folders is said in a sentence, and nothing is left behind."""

import bz2
import gzip
import lzma
import os
import resource
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Literal

import pytest

from dbversus import packed
from dbversus.errors import UsageError
from dbversus.importing.find import Wanted
from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.report.formats import html
from dbversus.results.read import open_results
from tests.importing.conftest import REFERENCE, TOOLS, Import

Write = Callable[[str, str], Path]
RUN = REFERENCE / "sysbench-2025/x.my5651_rel_o2nofp.z12a_c8r32.pk1"
SCAN = "sb.o.scan.range100.pk1.dop1"


def refused(*paths: Path, out: Path) -> str:
    """The sentence; neither `out` nor anything else is left."""
    before = sorted(out.parent.iterdir())
    with pytest.raises(UsageError) as error:
        import_results(paths, out)
    assert sorted(out.parent.iterdir()) == before
    return str(error.value)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert "nowhere does not exist" in refused(tmp_path / "nowhere", out=tmp_path / "out")


def test_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert "no figures were found (there is no file)" in refused(tmp_path / "empty", out=tmp_path / "out")


def test_what_only_begins_as_a_known_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "oltp.txt"
    path.write_text("sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\nnothing known\n")
    assert "oltp.txt: begins as sysbench output, but has no figures" in refused(path, out=tmp_path / "out")


def test_an_empty_file(write: Write, tmp_path: Path) -> None:
    assert ".txt: empty." in refused(write("run.txt", ""), out=tmp_path / "out")


def test_a_file_of_another_kind(write: Write, tmp_path: Path) -> None:
    said = refused(write("letter.txt", "Dear Mark,\n"), out=tmp_path / "out")

    assert "letter.txt: no format that is known. Accepted are results of sysbench" in said


def test_a_binary_file(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"sysbench 1.0\0\1")

    assert "it has bytes of value 0" in refused(tmp_path / "a.bin", out=tmp_path / "out")


def test_a_truncated_file_that_was_named(write: Write, tmp_path: Path) -> None:
    path = write(SCAN, (RUN / SCAN).read_text()[:900])

    assert "cut off after line" in refused(path, out=tmp_path / "out")


def test_a_truncated_file_among_others_is_told_and_the_others_are_read(write: Write, tmp_path: Path) -> None:
    write(f"my5651/{SCAN}", (RUN / SCAN).read_text()[:1400])
    folder = write(
        "my5651/sb.o.point-query.range100.pk1.dop1", (RUN / "sb.o.point-query.range100.pk1.dop1").read_text()
    ).parent

    outcome = import_results([folder], tmp_path / "out")

    assert outcome.record.damaged == 1
    assert any(SCAN in remark and "cut off after line" in remark for remark in outcome.remarks)
    assert "point-query.range100" in open_results(tmp_path / "out").tests


def test_an_unknown_line_is_told_with_file_and_line(write: Write, tmp_path: Path) -> None:
    path = write("o.qps.abs.x", "sb.r.qps.scan.range100.pk1\n5\ta\nwhat is this\n")

    outcome = import_results([path], tmp_path / "out")

    assert outcome.remarks == [f"{path}, line 3: unknown: what is this"]
    assert outcome.record.unknown_lines == 1


def test_a_figure_that_is_no_number(write: Write, tmp_path: Path) -> None:
    path = write("o.qps.abs.x", "sb.r.qps.scan.range100.pk1\n5x\t6\ta\n")

    assert import_results([path], tmp_path / "out").remarks == [
        f"{path}, line 2: unknown: qps is '5x', which is no number"
    ]


def test_a_failed_run_is_told_by_its_own_words(tmp_path: Path) -> None:
    outcome = import_results([TOOLS], tmp_path / "out")

    assert any(
        'line 11: FATAL: PQprepare() failed: ERROR:  relation "sbtest1" does not exist' in one
        for one in outcome.remarks
    )


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine").touch()

    assert "out is there already; name a new folder" in refused(RUN, out=tmp_path / "out")
    assert (tmp_path / "out/mine").exists()


def test_a_base_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--base pg99 is no target of what was read; accepted: x\.my5651"):
        import_results([RUN], tmp_path / "out", base="pg99")
    assert list(tmp_path.iterdir()) == []


def test_a_base_can_be_chosen(imported: Import) -> None:
    assert imported(REFERENCE / "sysbench-2020", base="x.my8022.x6d.pk1").base.label == "x.my8022.x6d.pk1"


def test_a_broken_line_costs_that_line(write: Write, tmp_path: Path) -> None:
    good = "0 1 3505 0 1795488700 810546\n"
    path = write("select.1", good + "9" * (2 << 20) + "\n" + good * 3000 + "0 5\0\0\0\n" + good)

    outcome = import_results([path], tmp_path / "out")

    assert outcome.remarks == [
        f"{path}, line 2: unknown: {'9' * 120}",
        f"{path}, line 3003: unknown: 0 5\ufffd\ufffd\ufffd",
    ]
    [(value,)] = open_results(tmp_path / "out").sql(
        "SELECT value FROM imported WHERE metric = 'transactions' AND second IS NULL"
    )[1]
    assert value == 3002


@pytest.mark.parametrize("opener", [gzip.open, bz2.open, lzma.open])
def test_packed_files_are_read_wherever_others_are(
    opener: Callable[..., IO[str]], write: Write, tmp_path: Path
) -> None:
    end = {gzip.open: "gz", bz2.open: "bz2", lzma.open: "xz"}[opener]
    path = write("pg17/oltp.txt", "")
    with opener(f"{path}.{end}", "wt") as file:
        file.write((TOOLS / "pg17/select.txt").read_text())
    path.unlink()

    outcome = import_results([path.parent], tmp_path / "out")

    assert (outcome.targets, open_results(tmp_path / "out").tests) == (["pg17"], ("oltp",))


def test_a_packed_file_that_is_cut_off_says_so_and_keeps_what_is_there(write: Write, tmp_path: Path) -> None:
    plain = "".join(f"0 {n} {3000 + n * n % 9973} 0 1795488700 {n:06}\n" for n in range(60_000))
    whole = gzip.compress(plain.encode())
    path = write("pg17/select.1.gz", "")
    path.write_bytes(whole[: len(whole) // 2])

    outcome = import_results([path.parent], tmp_path / "out")

    assert outcome.record.damaged == 1 and outcome.record.figures
    assert any("packed, and cut off or damaged after line" in one for one in outcome.remarks)


def test_of_a_packed_file_that_holds_too_much_only_the_beginning_is_read(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "PLAIN_BYTES", 1 << 20)
    plain = "".join(f"0 {n} {3000 + n * n % 9973} 0 1795488700 {n:06}\n" for n in range(6000)) + " " * (1 << 24)
    path = write("pg17/select.1.gz", "")
    path.write_bytes(gzip.compress(plain.encode()))

    outcome = import_results([path.parent], tmp_path / "out")

    assert outcome.record.damaged == 1 and outcome.record.figures
    assert any("unpacks to more than" in one and "lines were read" in one for one in outcome.remarks)


def test_what_is_packed_otherwise_is_named(write: Write, tmp_path: Path) -> None:
    path = write("pg17/select.zst", "")
    path.write_bytes(b"(\xb5/\xfd\x04\x00")

    assert "is packed by zstd; unpack it first" in refused(path, out=tmp_path / "out")


def test_a_script_that_calls_a_benchmark_is_none(write: Write, tmp_path: Path) -> None:
    write("pg17/run.sh", "#!/bin/sh\nsysbench oltp_read_only --threads=8 run\npgbench -c 8 -T 60 | tee out.txt\n")
    folder = write("pg17/select.txt", (TOOLS / "pg17/select.txt").read_text()).parent

    outcome = import_results([folder], tmp_path / "out")

    assert outcome.remarks == [f"{folder}/run.sh: no format that is known"]


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_an_archive_is_no_file_of_results(mode: Literal["w", "w:gz"], write: Write, tmp_path: Path) -> None:
    """Its text could be read, with the figures of several files in one."""
    with tarfile.open(write("pg17/logs.tar", ""), mode) as archive:
        archive.add(TOOLS / "pg17", "pg17")

    assert "logs.tar is a tar file; unpack it first" in refused(tmp_path / "from/pg17/logs.tar", out=tmp_path / "out")


@pytest.mark.parametrize("mark", [b"\xff\xfe", b""])
def test_utf_16(mark: bytes, write: Write, tmp_path: Path) -> None:
    """With its mark it is told; without, only --encoding can."""
    path = write("pg17/select.txt", "")
    path.write_bytes(mark + (TOOLS / "pg17/select.txt").read_text().encode("utf-16-le"))

    if not mark:
        assert "--encoding says what files are that are not UTF-8" in refused(path, out=tmp_path / "out")
    outcome = import_results([path], tmp_path / "out", Wanted(encoding="" if mark else "utf-16"))
    assert outcome.record.unknown_lines == 0


def test_latin_1_is_told_and_read_when_it_is_named(write: Write, tmp_path: Path) -> None:
    path = write("figures.csv", "")
    path.write_bytes("build,test,x\npg-caf\xe9,scan,3\npg-caf\xe9,scan2,3\n".encode("latin-1"))

    outcome = import_results([path], tmp_path / "first")
    assert any("line 2" in one and "--encoding" in one for one in outcome.remarks)

    outcome = import_results([path], tmp_path / "second", Wanted(encoding="latin-1"))
    assert (outcome.targets, outcome.remarks) == (["pg-caf\xe9"], [])


@pytest.mark.parametrize(
    ("head", "tool"),
    [
        ("[Summary] NEW_ORDER - Takes(s): 9.9, Count: 50\ntpmC: 303.0\n", "go-tpc"),
        ("[OVERALL], RunTime(ms), 1000\n[READ], Operations, 500\n", "YCSB"),
        ("READ   - Takes(s): 9.9, Count: 500, OPS: 50.0, Avg(us): 900\n", "YCSB"),
        ("Benchmark\n\tAverage number of seconds to run all queries: 0.1 seconds\n", "mysqlslap"),
        ("Summary:\n  Success rate: 100.00%\n", "oha or hey"),
        ("Running 30s test @ http://localhost\n", "wrk"),
    ],
)
def test_results_of_tools_that_are_not_read_are_named(head: str, tool: str, write: Write, tmp_path: Path) -> None:
    said = refused(write("run.txt", head), out=tmp_path / "out")

    assert f"it is of {tool}, which is not read. Accepted are results of sysbench" in said


def test_a_file_is_read_once_however_often_it_is_named(write: Write, tmp_path: Path) -> None:
    path = write("pg17/o.qps.abs.x", "sb.r.qps.scan.range100.pk1\n5\ta\n")

    assert import_results([path, path.parent, path], tmp_path / "out").record.files == 1


def test_a_pipe_is_no_file(write: Write, tmp_path: Path) -> None:
    folder = write("o.qps.abs.x", "sb.r.qps.scan.range100.pk1\n5\ta\n").parent
    os.mkfifo(folder / "pipe")

    assert import_results([folder], tmp_path / "out").record.files == 1


def test_a_folder_that_is_imported_into_itself(write: Write, tmp_path: Path) -> None:
    folder = write("o.qps.abs.x", "sb.r.qps.scan.range100.pk1\n5\ta\n").parent

    assert import_results([folder], folder / "out").record.left_out == 0


def test_hostile_names_harm_no_report(write: Write, tmp_path: Path) -> None:
    hostile = ("<script>alert(1)</script>", "=cmd|'/C calc'!A1", "../../etc", "\x1b[31mred")
    lines = "".join(f"{number}\t{name}\n" for number, name in enumerate(hostile, 5))
    path = write("o.qps.abs.x", f"sb.r.qps.<img src=x onerror=alert(1)>.pk1\n{lines}")
    import_results([path], tmp_path / "out")

    results = open_results(tmp_path / "out")
    page = html.render(build_assessment(results))

    assert [target.label for target in results.targets] == [*hostile[:3], "\ufffd[31mred"]
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["from", "out"]


@pytest.mark.slow
def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    """60 MB of a log are read by a process that may have less than that on top of what it starts with."""
    path = tmp_path / "select.1"
    with path.open("w") as file:
        for number in range(1_600_000):
            file.write(f"0 {number} {100 + number % 977} 0 {1_795_488_700 + number // 50_000} {number % 1_000_000}\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    outcome = import_results([path], tmp_path / "out")

    assert outcome.record.figures > 90
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < path.stat().st_size / 1024
