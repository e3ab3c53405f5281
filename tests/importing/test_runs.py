"""One run is one run, however many files tell of it; and which part of a path is a name."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from dbversus.errors import UsageError
from dbversus.importing.find import Named, Wanted
from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from dbversus.results.read import open_results
from dbversus.results.stored import Results
from dbversus.stats.metrics import THROUGHPUT
from dbversus.stats.values.imported import run_values
from tests.importing.conftest import Import

Write = Callable[[str, str], Path]

INTERVALS = "".join(
    f"17410824{second}0 10000 80000000 640000000000 2000 90000 0 0 0 0 0 0 0 0 0\n" for second in range(4)
)


def output(
    tps: float = 4000.0,
    clients: int = 8,
    scale: int = 10,
    mode: str = "simple",
    script: str = "<builtin: TPC-B (sort of)>",
) -> str:
    return f"""pgbench (17.2)
transaction type: {script}
scaling factor: {scale}
query mode: {mode}
number of clients: {clients}
number of threads: 4
maximum number of tries: 1
duration: 40 s
number of transactions actually processed: 160000
number of failed transactions: 0 (0.000%)
latency average = 2.000 ms
initial connection time = 10.000 ms
tps = {tps:.6f} (without initial connection time)
"""


def throughputs(results: Results) -> dict[tuple[str, str], list[float]]:
    return {place: known[THROUGHPUT] for place, known in run_values(results).items() if THROUGHPUT in known}


def write_threads(write: Write, folder: str, threads: int, text: str = INTERVALS) -> Path:
    paths = [write(f"{folder}/oltp.202{f'.{thread}' if thread else ''}", text) for thread in range(threads)]
    return paths[0].parent.parent


def test_logs_of_threads_are_one_run_whose_rates_add_up(imported: Import, write: Write) -> None:
    """`pgbench -l -j 4` against one thread that does four times as much."""
    write_threads(write, "after", 4)
    whole = INTERVALS.replace("10000 80000000", "40000 320000000")

    results = imported(write_threads(write, "before", 1, whole))

    assert throughputs(results) == {("oltp", "after"): [4000], ("oltp", "before"): [4000]}
    [one] = build_assessment(results).comparisons
    assert one.findings[THROUGHPUT].ratio == 1 and "(one run of each)" in one.notes[0]
    latency = "SELECT value FROM imported WHERE metric = 'latency_mean' AND second IS NULL"
    assert results.sql(latency)[1] == [(8.0,), (8.0,)]


def test_the_output_of_a_run_and_its_logs_are_one_run(imported: Import, write: Write) -> None:
    write_threads(write, "pg17", 4)
    results = imported(write("pg17/oltp.txt", output(tps=4001.5)).parent)

    assert throughputs(results) == {("oltp", "pg17"): [4001.5]}
    assert results.sql("SELECT DISTINCT run, clients FROM imported")[1] == [(1, 8)]


def test_a_log_with_the_prefix_of_pgbench_is_of_the_only_output_beside_it(imported: Import, write: Write) -> None:
    write("pg17/pgbench_log.77", INTERVALS)

    assert imported(write("pg17/oltp.txt", output()).parent).tests == ("oltp",)


def test_transactions_of_threads(imported: Import, write: Write) -> None:
    """Two threads, each with a transaction every 10 ms for a second; the second has one slow one."""
    first = "".join(f"0 {n} 1000 0 1795488700 {n * 10_000 + 1000}\n" for n in range(100))
    second = "".join(f"1 {n} {9000 if n == 50 else 1000} 0 1795488700 {n * 10_000 + 9000}\n" for n in range(100))
    write("pg17/s.9", first)
    results = imported(write("pg17/s.9.1", second).parent)

    found = dict(results.sql("SELECT metric, value FROM imported WHERE second IS NULL")[1])
    assert (found["transactions"], found["latency_max"]) == (200, 9)
    assert found["transactions_per_s"] == pytest.approx(200 / 0.999)
    assert found["latency_mean"] == pytest.approx((199 + 9) / 200)


def test_a_sampled_log_tells_the_rate_of_all(imported: Import, write: Write) -> None:
    """`--sampling-rate 0.1`: clients number all their transactions."""
    results = imported(write("pg17/s.9", "".join(f"0 {n} 900 0 1795488700 {n * 1000}\n" for n in range(1, 1000, 10))))

    found = dict(results.sql("SELECT metric, value FROM imported WHERE second IS NULL")[1])
    assert found["transactions"] == 100 and found["sampled"] == pytest.approx(10, rel=0.02)
    assert found["transactions_per_s"] == pytest.approx(1000, rel=0.01)


def test_runs_in_one_file_keep_their_own_clients_scale_and_mode(imported: Import, write: Write) -> None:
    runs = [output(100, 1), output(110, 1), output(700, 8), output(90, 1, 100), output(95, 1, mode="prepared")]

    found = throughputs(imported(write("pg17/bench.txt", "".join(runs))))

    assert found == {
        ("bench.scale10.simple@1", "pg17"): [100, 110],
        ("bench.scale10.simple@8", "pg17"): [700],
        ("bench.scale100.simple@1", "pg17"): [90],
        ("bench.scale10.prepared@1", "pg17"): [95],
    }


def test_equal_runs_are_still_several(imported: Import, write: Write) -> None:
    found = throughputs(imported(write("pg17/bench.txt", output(100) + output(100) + output(130))))

    assert found == {("bench", "pg17"): [100, 100, 130]}


def test_folders_of_one_name_are_pooled_and_told(write: Write, tmp_path: Path) -> None:
    write("cloud-a/bench100/run1.txt", output(1000))
    write("cloud-b/bench100/run1.txt", output(3000))

    outcome = import_results([tmp_path / "from"], tmp_path / "pooled")
    assert outcome.targets == ["bench100"]
    [told] = outcome.remarks
    assert told.startswith("bench100 is the name of 2 folders (") and "--target-from '([^/]+/[^/]+)/[^/]*$'" in told
    assert "which differ by 3.00 × at most (run1)" in told

    apart = Wanted(target=Named("--target-from", "([^/]+/[^/]+)/[^/]*$"))
    outcome = import_results([tmp_path / "from"], tmp_path / "apart", apart)
    assert (outcome.targets, outcome.remarks) == (["cloud-a/bench100", "cloud-b/bench100"], [])


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("pgbench_13_readonly_20250815_130329.log", "pgbench_13_readonly"),
        ("tpcb-2025-08-15T13:03:29.txt", "tpcb"),
        ("20250815130329_tpcb.out", "tpcb"),
        ("tpcb.2025-08-15.txt", "tpcb"),
        ("oltp_10000000.txt", "oltp_10000000"),
        ("scale20251399.txt", "scale20251399"),
        ("20250815.txt", "20250815"),
    ],
)
def test_times_are_no_part_of_a_test_and_other_numbers_are(
    name: str, test: str, imported: Import, write: Write
) -> None:
    assert imported(write(f"pg/{name}", output())).tests == (test,)


def test_patterns_say_what_is_target_and_what_is_test(imported: Import, write: Write) -> None:
    write("results/pgbench_13_readonly_20250815_130329.log", output(600))
    folder = write("results/pgbench_18_readonly_20250815_131835.log", output(900)).parent

    results = imported(
        folder, target=Named("--target-from", r"pgbench_(\d+)"), test=Named("--test-from", r"\d_([a-z]+)_")
    )

    assert throughputs(results) == {("readonly", "13"): [600], ("readonly", "18"): [900]}


def test_patterns_that_are_wrong_or_find_nothing(write: Write, tmp_path: Path) -> None:
    write("results/a_13.log", output())
    path = write("results/b.log", output())

    with pytest.raises(UsageError, match=r"--target-from 'pg\(' is no regular expression .*; write one such as"):
        Named("--target-from", "pg(")
    with pytest.raises(UsageError, match=r"--test-from 'x\\d' is found in no path of a run, such as .*a_13\.log"):
        import_results([path.parent], tmp_path / "out", Wanted(test=Named("--test-from", r"x\d")))
    outcome = import_results([path.parent], tmp_path / "out", Wanted(target=Named("--target-from", r"_(\d+)")))
    assert outcome.targets == ["13", "results"]
    assert outcome.remarks == [
        f"--target-from '_(\\d+)' is not found in 1 of 2 paths, such as {path}: these have their usual names."
    ]


MET = """iostat, vmstat normalized by operation rate
samp	r/s	rMB/s	w/s	wMB/s	r/o	rKB/o	wKB/o	o/s
610	0.0	0.0	0.4	0.0	0.000	0.000	0.001	{rate}

samp	cs/s	cpu/s	cs/o	cpu/o
640	312	12.3	0.069	0.002740
"""


def test_a_summary_and_its_source_are_one_run_of_one_test(imported: Import, write: Write) -> None:
    """The source knows clients and two decimals, the table neither."""
    for build, rates in (("x.my80.pk1", ("16794.58", "4501")), ("x.my95.pk1", ("15016.00", "4400"))):
        write(f"{build}/sb.met.point-query.range100.pk1.dop40", MET.format(rate=rates[0]))
        write(f"{build}/sb.met.scan.range100.pk1.dop40", MET.format(rate=rates[1]))
    table = "col-1 : x.my80.pk1\ncol-2 : x.my95.pk1\n\ncol-1\tcol-2\t-> all\n"
    lines = "16795\t15016\tpoint-query_range=100\n4501\t4400\tscan_range=100\n"
    report = "sb.met.point-query.range100.pk1.dop40\n--- absolute\ncpu/o\t\to/s\tdbms\n0.002740\t16795\tx.my80.pk1\n"
    write("o.met.all", report)

    results = imported(write("qps.abs.all.tsv", table + lines).parent)

    assert set(results.tests) == {"point-query.range100", "scan.range100"}
    found = throughputs(results)
    assert found["point-query.range100", "x.my80.pk1"] == [16795]
    assert found["scan.range100", "x.my80.pk1"] == [4_501_000]
    notes = {note for item in build_assessment(results).comparisons for note in item.notes}
    assert all("one run of each" in note for note in notes) and notes


def test_scans_of_january_2021_are_in_millions_of_rows(imported: Import, write: Write) -> None:
    results = imported(write("o.qps.abs.in", "sb.r.qps.scan.range100.pk1\n1.703\ta\n1.940\tb\n"))

    assert throughputs(results) == {("scan.range100", "a"): [1_703_000], ("scan.range100", "b"): [1_940_000]}
    assert results.sql("SELECT DISTINCT unit FROM imported")[1] == [("million rows/s",)]


def test_a_rate_of_rows_is_not_compared_with_one_of_scans(imported: Import, write: Write) -> None:
    """One target has sysbench's output alone, which counts scans; the other has the rate of rows, too."""
    totals = "sysbench 1.1.0\n    queries:                             55     (0.09 per sec.)\n"
    write("a/sb.o.scan.range100.pk1.dop1", totals)
    write("b/sb.o.scan.range100.pk1.dop1", totals)
    results = imported(write("b/sb.met.scan.range100.pk1.dop1", MET.format(rate="4501")).parent.parent)

    assert throughputs(results) == {("scan.range100", "a"): [0.09], ("scan.range100", "b"): [0.09]}


def test_imports_of_before_runs_had_numbers_are_read(imported: Import, write: Write) -> None:
    results = imported(write("pg17/bench.txt", output(100) + output(130)))
    path = results.directory / "imported.parquet"
    with duckdb.connect() as connection:
        old = connection.read_parquet(str(path)).project("* EXCLUDE (run)").to_arrow_table()
        connection.from_arrow(old).write_parquet(str(path))

    again = open_results(results.directory)
    assert throughputs(again) == {("bench", "pg17"): [130, 100]} or throughputs(again) == {
        ("bench", "pg17"): [100, 130]
    }
    assert again.sql("SELECT DISTINCT run FROM imported")[1] == [(None,)]
