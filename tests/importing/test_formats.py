"""What readers make of files of each tool."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dbversus.errors import UsageError
from dbversus.importing.run import import_results
from dbversus.report.assessment import build_assessment
from tests.importing.conftest import REFERENCE, TOOLS, Import

Write = Callable[[str, str], Path]

HAMMERDB = """Hammerdb Log @ Fri Jun 05 2026
Vuser 1:Beginning rampup time of 2 minutes
 pg_superuserpass    = secret
Vuser 1:Timing test period of 5 in minutes
Vuser 1:8 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 280330 NOPM from 644734 PostgreSQL TPM
Vuser 1:FINISHED SUCCESS
"""
BENCHBASE = """{
    "Benchmark Type": "tpcc",
    "Current Timestamp (milliseconds)": 1780000000000,
    "DBMS Type": "POSTGRES",
    "Goodput (requests/second)": 1234.5,
    "Latency Distribution": {
        "95th Percentile Latency (microseconds)": 4567,
        "Average Latency (microseconds)": 987,
        "Maximum Latency (microseconds)": 99999
    },
    "Throughput (requests/second)": 1240.25,
    "terminals": "8"
}
"""
WINDOWS = """Time (seconds),Throughput (requests/second),Average Latency (millisecond),tp (req/s) scaled
0,1200.000,0.812,1231.527
5,1210.400,0.805,1242.236
"""
TSV = """col-1 : my5651_rel_o2nofp.z12a
col-2 : my8044_rel_o2nofp.z12a

col-1\tcol-2
24515\t18000\tpoint-query_range=100
"""
OLD_SYSBENCH = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 16

Threads started!
[  10s] threads: 16, tps: 1234.50, reads/s: 17283.00, writes/s: 4938.00, response time: 15.20ms (95%)
Done.

OLTP test statistics:
    queries performed:
        read:                            140000
        write:                           50000
        other:                           20000
        total:                           210000
    transactions:                        10000  (985.74 per sec.)
    deadlocks:                           3      (0.30 per sec.)
    read/write requests:                 190000 (18729.03 per sec.)
    other operations:                    20000  (1971.48 per sec.)

Test execution summary:
    total time:                          10.1447s
    total number of events:              10000
    total time taken by event execution: 162.1
    per-request statistics:
         min:                                  1.10ms
         avg:                                 16.21ms
         max:                                120.00ms
         approx.  95 percentile:              25.30ms

Threads fairness:
    events (avg/stddev):           625.0000/3.50
    execution time (avg/stddev):   10.1312/0.00
"""


def figures(results: Any, **where: Any) -> dict[str, float]:
    """Metric → value, of figures of whole runs."""
    conditions = " AND ".join(f"{name} = '{value}'" for name, value in where.items()) or "true"
    rows = results.sql(f"SELECT metric, value FROM imported WHERE second IS NULL AND NOT relative AND {conditions}")[1]  # noqa: S608
    return dict(rows)


def test_sysbench_of_the_reference(imported: Import) -> None:
    found = figures(
        imported(REFERENCE / "sysbench-2025"),
        target="x.my5651_rel_o2nofp.z12a_c8r32.pk1",
        test="point-query.range100",
        clients=1,
    )

    assert found["queries_per_s"] == 24515.07
    assert found["latency_max"] == 19.18
    assert found["latency_p95"] == 0.04
    assert found["thread_time_mean"] == 597.8026
    assert (found["cpu/o"], found["cs/o"], found["iostat_samples"], found["vmstat_samples"]) == (
        0.000516,
        3.825,
        604,
        633,
    )


def test_sysbench_seconds(imported: Import) -> None:
    results = imported(TOOLS / "pg17/oltp_read_only.txt")

    assert results.sql("SELECT second, value FROM imported WHERE metric = 'qps' AND second IS NOT NULL")[1] == [
        (1, 26928.74),
        (2, 20323.44),
        (3, 19467.06),
    ]
    assert figures(results)["queries_per_s"] == 22213.79


def test_runs_of_sysbench_in_one_file_keep_their_own_clients(imported: Import, write: Write) -> None:
    more = OLD_SYSBENCH.replace("threads: 16", "threads: 64").replace("985.74", "2000.50")
    results = imported(write("my/oltp.txt", OLD_SYSBENCH + OLD_SYSBENCH + more))

    assert results.tests == ("oltp@16", "oltp@64")
    query = "SELECT clients, run, value FROM imported WHERE metric = 'transactions_per_s' ORDER BY ALL"
    assert results.sql(query)[1] == [(16, 1, 985.74), (16, 2, 985.74), (64, 1, 2000.5)]


def test_a_run_of_sysbench_that_is_cut_off_before_another(write: Write, tmp_path: Path) -> None:
    path = write("my/oltp.txt", OLD_SYSBENCH[:400] + "\n" + OLD_SYSBENCH)

    assert any("cut off" in one for one in import_results([path.parent], tmp_path / "out").remarks)


def test_sysbench_without_a_database(imported: Import, write: Write) -> None:
    text = "sysbench 1.0.20\n\nRunning the test with following options:\nNumber of threads: 1\n\nPrime numbers limit: 10000\n\n"
    histogram = (
        "Latency histogram (values are in milliseconds)\n   value  --- distribution --- count\n   1.000 |****      4\n"
    )
    totals = "CPU speed:\n    events per second:  1213.30\n" + OLD_SYSBENCH[OLD_SYSBENCH.index("Threads fairness") :]
    results = imported(write("a/cpu.txt", text + histogram + totals))

    assert figures(results)["events_per_s"] == 1213.3
    assert results.sql("SELECT text FROM imported_lines WHERE kind = 'unknown'")[1] == []


def test_old_sysbench(imported: Import, write: Write) -> None:
    results = imported(write("my5173/oltp.txt", OLD_SYSBENCH))

    found = figures(results, target="my5173", test="oltp", clients=16)
    assert (found["transactions_per_s"], found["latency_p95"], found["latency_mean"]) == (985.74, 25.3, 16.21)
    assert results.sql("SELECT count(*) FROM imported_lines WHERE kind = 'unknown'")[1] == [(0,)]


def test_summaries_have_the_clients_that_were_named(imported: Import) -> None:
    results = imported(REFERENCE / "sysbench-2020/o.qps.abs.in", column_clients=(1, 16, 64))

    assert results.header.clients == [1, 16, 64]
    assert "point-query.pre.range100@64" in results.tests


def test_the_load_is_a_test_of_its_own(imported: Import) -> None:
    assert imported(REFERENCE / "sysbench-2020").tests[0] == "load"


def test_later_summaries(imported: Import, write: Write) -> None:
    write(
        "qps.rel.x.tsv",
        "Relative to: my5651_rel_o2nofp.z12a\ncol-1 : my8044_rel_o2nofp.z12a\n\ncol-1\n0.73\tpoint-query_range=100\n",
    )
    results = imported(write("qps.abs.x.tsv", TSV).parent)

    query = "SELECT test, target, relative_to, value FROM imported ORDER BY relative, value DESC"
    assert results.sql(query)[1] == [
        ("point-query.range100", "my5651_rel_o2nofp.z12a", None, 24515),
        ("point-query.range100", "my8044_rel_o2nofp.z12a", None, 18000),
        ("point-query.range100", "my8044_rel_o2nofp.z12a", "my5651_rel_o2nofp.z12a", 0.73),
    ]


def test_groups_of_insert_summaries_have_bases_of_their_own(imported: Import, write: Write) -> None:
    head = "ips\tqps\ttag\n"
    write("rel.l.i0", f"{head}0.50\t1\tmy80.c\n-\n2.00\t1\tpg13.c\n")
    results = imported(
        write("mrg.l.i0", f"{head}100\t0\tmy56.c\n50\t0\tmy80.c\n-\n10\t0\tpg11.c\n20\t0\tpg13.c\n").parent
    )

    bases = results.sql("SELECT DISTINCT target, relative_to FROM imported WHERE relative ORDER BY ALL")[1]
    assert bases == [("my80.c", "my56.c"), ("pg13.c", "pg11.c")]


def test_all_steps_of_one_insert_run(imported: Import, write: Write) -> None:
    lines = "".join(f"{100 + step}\t7\t10m.pg13.c\n" for step in range(15))
    results = imported(write("o.sum.t.10m.pg13", f"ips\tqps\ttag\n{lines}"))

    assert results.tests[:4] == ("l.i0", "l.x", "l.i1", "q100.1")
    assert figures(results, test="q1000.2")["ips"] == 114


def test_transactions_of_pgbench_come_to_what_it_printed(imported: Import) -> None:
    """What it printed of this run: 317 transactions, latency average 0.862 ms, tps 106.6 (without connecting)."""
    found = figures(imported(TOOLS / "pg17/select.9810"))

    assert found["transactions"] == 317
    assert found["latency_mean"] == pytest.approx(0.862, abs=0.0005)
    assert found["transactions_per_s"] == pytest.approx(106.6, rel=0.01)
    times = sorted(int(line.split()[2]) / 1e3 for line in (TOOLS / "pg17/select.9810").read_text().splitlines())
    assert found["latency_max"] == times[-1]
    assert found["latency_p95"] == pytest.approx(times[int(0.95 * len(times))], rel=0.02)


def test_intervals_of_pgbench(imported: Import) -> None:
    results = imported(TOOLS / "pg17/write.9972")

    query = "SELECT second, value FROM imported WHERE metric = 'transactions' ORDER BY second"
    assert results.sql(query)[1] == [(0, 5), (1, 102), (2, 86)]
    assert figures(results)["latency_mean"] > 0


def test_output_of_pgbench(imported: Import) -> None:
    found = figures(imported(TOOLS / "pg17/select.txt"), clients=2, test="select")

    assert (found["transactions_per_s"], found["latency_sd"], found["lag_max"]) == (91.17631, 3.73, 10.791)


PROGRESS = """starting vacuum...end.
progress: 5.0 s, 1000.0 tps, lat 8.000 ms stddev 1.000, lag 0.120 ms, 3 skipped, 0 failed
progress: 10.0 s, 0.0 tps, lat -nan ms stddev -nan
"""
SCRIPTS = """pgbench (16.4 (Debian 16.4-1))
transaction type: multiple scripts
scaling factor: 10
query mode: prepared
number of clients: 8
number of threads: 2
maximum number of tries: 10
duration: 10 s
number of transactions actually processed: 6000
number of failed transactions: 4 (0.067%)
number of serialization failures: 3 (0.050%)
number of deadlock failures: 1 (0.017%)
number of transactions retried: 5 (0.083%)
total number of retries: 7
number of transactions skipped: 12 (0.200%)
number of transactions above the 100.0 ms latency limit: 12/6000 (0.200%)
latency average = 13.300 ms
latency stddev = 9.000 ms
rate limit schedule lag: avg 2.300 (max 10.700) ms
initial connection time = 9.000 ms
tps = 600.000000 (without initial connection time)
SQL script 1: <builtin: simple update>
 - weight: 1 (targets 50.0% of total)
 - 3010 transactions (50.2% of total, tps = 301.000000)
 - number of failed transactions: 4 (0.067%)
 - latency average = 20.300 ms
 - latency stddev = 9.000 ms
 - statement latencies in milliseconds, failures and retries:
         0.002           0           0 \\set aid random(1, 100000 * :scale)
         1.500           4           7 UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SQL script 2: scripts/order.sql
 - weight: 1 (targets 50.0% of total)
 - 2990 transactions (49.8% of total, tps = 299.000000)
 - latency average = 6.300 ms
 - latency stddev = 9.000 ms
"""
PGBENCH_9 = """transaction type: TPC-B (sort of)
scaling factor: 100
query mode: simple
number of clients: 1
number of threads: 1
number of transactions per client: 10
number of transactions actually processed: 10/10
latency average: 0.000 ms
tps = 85.184871 (including connections establishing)
tps = 86.296346 (excluding connections establishing)
statement latencies in milliseconds:
\t0.003000\t\\set nbranches 1 * :scale
\t0.120000\tBEGIN;
"""
RECONNECTING = SCRIPTS.partition("SQL script")[0].replace(
    "without initial connection time", "including reconnection times"
)


def test_progress_of_pgbench(imported: Import, write: Write) -> None:
    results = imported(write("pg17/tpcb.txt", PROGRESS + SCRIPTS))

    series = "SELECT second, value FROM imported WHERE metric = '{}' AND second IS NOT NULL ORDER BY second"
    assert results.sql(series.format("tps"))[1] == [(5, 1000), (10, 0)]
    assert results.sql(series.format("latency_mean"))[1] == [(5, 8), (10, None)]
    assert results.sql(series.format("skipped"))[1] == [(5, 3)]
    assert results.sql("SELECT count(*) FROM imported_lines WHERE kind = 'unknown'")[1] == [(0,)]


def test_progress_that_follows_the_totals_is_of_the_same_run(imported: Import, write: Write) -> None:
    """Totals go to standard output and progress to standard error."""
    results = imported(write("pg17/tpcb.txt", SCRIPTS + PROGRESS + SCRIPTS.replace("600.0", "500.0") + PROGRESS))

    query = "SELECT run, count(DISTINCT second), any_value(value) FILTER (metric = 'transactions_per_s') FROM imported"
    assert results.sql(f"{query} WHERE test = 'tpcb' GROUP BY run ORDER BY run")[1] == [(1, 2, 600), (2, 2, 500)]


def test_scripts_and_statements_of_pgbench(imported: Import, write: Write) -> None:
    results = imported(write("pg17/tpcb.txt", SCRIPTS))

    assert results.tests == ("tpcb", "tpcb.simple-update", "tpcb.order")
    whole = figures(results, test="tpcb", clients=8)
    assert (whole["transactions_per_s"], whole["retries"], whole["latency_limit"]) == (600, 7, 100)
    update = figures(results, test="tpcb.simple-update", clients=8)
    assert (update["transactions_per_s"], update["latency_mean"], update["share"]) == (301, 20.3, 50.2)
    [statement] = [name for name in update if name.startswith("statement 2: UPDATE pgbench_accounts")]
    assert (update[statement], update["statement 2, failures"], update["statement 2, retries"]) == (1.5, 4, 7)


@pytest.mark.parametrize(("text", "tps"), [(PGBENCH_9, 86.296346), (RECONNECTING, 600)])
def test_output_of_other_versions_and_options_of_pgbench(text: str, tps: float, imported: Import, write: Write) -> None:
    results = imported(write("pg/tpcb.txt", text))

    assert figures(results)["transactions_per_s"] == tps
    assert results.sql("SELECT text FROM imported_lines WHERE kind = 'unknown'")[1] == []


@pytest.mark.parametrize(
    "words",
    [
        "pgbench: error: Run was aborted; the above results are incomplete.",
        "pgbench: error: client 2 script 0 aborted in command 8 query 0: ERROR:  deadlock detected",
        "Client 3 aborted in state 8: ERROR:  deadlock detected",
        'pgbench: fatal: connection to database "x" failed',
    ],
)
def test_an_aborted_run_of_pgbench_is_not_whole(words: str, write: Write, tmp_path: Path) -> None:
    path = write("pg17/tpcb.txt", f"{PGBENCH_9}{words}\n")

    with pytest.raises(UsageError, match=r"tpcb\.txt: line 14: " + re.escape(words)):
        import_results([path], tmp_path / "named")
    outcome = import_results([path.parent], tmp_path / "in-folder")
    assert outcome.record.damaged == 1 and outcome.remarks == [f"{path}: line 14: {words}"]


def test_a_csv_file_is_told_what_column_it_lacks(imported: Import, write: Write, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"what its lines are of is missing: .* header has a, b\."):
        import_results([write("x.csv", "a,b\n1,2\n")], tmp_path / "out")
    assert figures(imported(write("y.csv", "build;test;tps\npg17;scan;3.5\n")), test="scan", target="pg17") == {
        "tps": 3.5
    }


def test_hammerdb(imported: Import, write: Write) -> None:
    results = imported(write("pg17/tprocc.log", HAMMERDB))

    found = figures(results, target="pg17", test="tprocc", clients=8)
    assert found == {"duration": 5, "virtual_users": 8, "new_orders_per_min": 280330, "transactions_per_min": 644734}
    assert "secret" not in str(results.sql("SELECT text FROM imported_lines")[1])


def test_hammerdb_before_4(imported: Import, write: Write) -> None:
    old = HAMMERDB.replace("280330 NOPM from 644734 PostgreSQL TPM", "60501 PostgreSQL TPM at 13207 NOPM")

    found = figures(imported(write("pg/tpcc.log", old)), clients=8)

    assert (found["new_orders_per_min"], found["transactions_per_min"]) == (13207, 60501)


def test_a_result_of_hammerdb_from_its_jobs(imported: Import, write: Write) -> None:
    lines = [
        "6612DCDE",
        "8 Active Virtual Users configured",
        "TEST RESULT : System achieved 18664 NOPM from 43386 MariaDB TPM",
    ]

    assert figures(imported(write("ma/r.json", json.dumps(lines, indent=1))), clients=8)["new_orders_per_min"] == 18664


def test_procedures_of_hammerdb(imported: Import, write: Write) -> None:
    times = (
        ">>>>> PROC: NEWORD\nCALLS: 1234\tMIN: 1.234ms\tAVG: 2.345ms\tMAX: 9.345ms\tTOTAL: 2893.730ms\n"
        "P99: 5.001ms\tP95: 4.002ms\tP50: 2.003ms\tSD: 300.1\tRATIO: 44.1%\n"
    )

    found = figures(imported(write("pg17/tprocc.log", HAMMERDB + times)), clients=8)

    assert (found["NEWORD calls"], found["NEWORD p95"], found["NEWORD ratio"]) == (1234, 4.002, 44.1)


def test_streams_of_tproc_h(imported: Import, write: Write) -> None:
    """One stream has its own figures; several have theirs by name, and what they come to together."""
    power = "Vuser 1:query 14 completed in 2.5 seconds\nVuser 1:query 2 completed in 1.5 seconds\n"
    ends = (
        "Vuser {0}:Completed 1 query set(s) in {1} seconds\n"
        "Vuser {0}:Geometric mean of query times returning rows (2) is {2}\n"
    )
    write("one/tproch.log", power + ends.format(1, 4, 1.93649))
    both = ends.format(1, 4, 4) + ends.format(2, 8, 9)
    results = imported(write("two/tproch.log", power + power.replace("user 1", "user 2") + both).parent.parent)

    one = figures(results, target="one")
    assert (one["query 14"], one["query_time_geometric_mean"], one["queries_per_s"]) == (2.5, 1.93649, 0.5)
    two = figures(results, target="two", clients=2)
    assert (two["query 14, stream 2"], two["query_sets_time, stream 2"]) == (2.5, 8)
    assert (two["query_time_geometric_mean"], two["queries_per_s"]) == (6, 0.75)


SUMMARY = """{
  "schema": "hammerdb-job-report-v1",
  "job": {"jobid": "66", "benchmark": "TPROC-C", "timestamp": "2026-01-01 00:00:01"},
  "benchmark_config": {"warehouses": 10, "virtual_users": 4, "rampup_minutes": 1, "duration_minutes": 2},
  "result": {"type": "tproc_c_result", "active_virtual_users": 4, "nopm": 60000, "tpm": "140000"},
  "transaction_count": {"series": [{"name": "PostgreSQL tpm", "points": [
    {"timestamp": "2026-01-01 00:00:01", "value": 120000}, {"timestamp": "2026-01-01 00:00:11", "value": 140000}]}]},
  "response_times": {"unit": "milliseconds", "rows": [{"name": "NEWORD", "calls": 7, "p95_ms": 3.25, "ratio_pct": 45.5}]},
  "query_times": {"unit": "milliseconds", "rows": [{"name": "14", "total_ms": 1213, "seconds": 1.213}]},
  "metrics": {"available": true, "cpu_percent": [{"timestamp": "2026-01-01 00:00:06", "usr_pct": 24.25, "idle_pct": 55.5}]}
}
"""


def test_a_summary_of_hammerdb_6(imported: Import, write: Write) -> None:
    results = imported(write("pg17/result.json", SUMMARY))

    found = figures(results, target="pg17", test="tproc-c", clients=4)
    assert (found["new_orders_per_min"], found["transactions_per_min"], found["duration"]) == (60000, 140000, 2)
    assert (found["warehouses"], found["NEWORD p95"], found["NEWORD calls"], found["query 14"]) == (10, 3.25, 7, 1.213)
    series = "SELECT second, value FROM imported WHERE second IS NOT NULL AND metric = '{}' ORDER BY second"
    assert results.sql(series.format("transactions_per_min"))[1] == [(0, 120000), (10, 140000)]
    assert results.sql(series.format("cpu_usr"))[1] == [(5, 24.25)]


@pytest.mark.parametrize(
    "text", [SUMMARY[:300], SUMMARY.replace('"result"', '"other"'), SUMMARY.replace("4,", '"4",', 1)]
)
def test_a_summary_of_hammerdb_that_is_not_whole(text: str, write: Write, tmp_path: Path) -> None:
    write("pg17/whole.json", SUMMARY)
    outcome = import_results([write("pg17/result.json", text).parent], tmp_path / "out")

    assert outcome.record.damaged == (0 if '"result"' in text and text.endswith("}\n") else 1)


def test_a_log_and_a_summary_of_hammerdb_are_one_run(imported: Import, write: Write) -> None:
    write("pg17/tprocc.json", SUMMARY.replace("60000", "280330").replace(": 4,", ": 8,"))
    write("pg16/tprocc.log", HAMMERDB)
    results = imported(write("pg17/tprocc.log", HAMMERDB).parent.parent)

    [one] = [item for item in build_assessment(results).comparisons if "throughput_ops_per_s" in item.findings]
    assert one.findings["throughput_ops_per_s"].note == "one run of each"


def test_benchbase(imported: Import, write: Write) -> None:
    write("pg17/tpcc_2026-06-05_10-11-12.summary.json", BENCHBASE)
    write("pg17/tpcc_2026-06-05_10-11-12.results.csv", WINDOWS)
    results = imported(write("pg17/tpcc_2026-06-05_10-11-12.raw.csv", "1,x\n").parent)

    found = figures(results, test="tpcc", clients=8)
    assert (found["throughput"], found["latency_p95"], found["latency_mean"]) == (1240.25, 4567, 987)
    seconds = results.sql("SELECT second, value FROM imported WHERE metric = 'throughput' AND second IS NOT NULL")[1]
    assert seconds == [(0, 1200), (5, 1210.4)]
    assert results.sql("SELECT problem FROM imported_files WHERE format IS NULL")[1] == [
        ("not read: single transactions; import the summary",)
    ]


@pytest.mark.parametrize("text", [BENCHBASE, json.dumps(json.loads(BENCHBASE))])
def test_a_summary_of_benchbase_may_be_one_line(text: str, imported: Import, write: Write) -> None:
    found = figures(imported(write("pg17/tpcc.summary.json", text)), test="tpcc", clients=8)

    assert (found["throughput"], found["latency_max"], found["goodput"]) == (1240.25, 99999, 1234.5)


def test_a_summary_of_benchbase_that_is_a_list(write: Write, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"tpcc\.json: it is no JSON object"):
        import_results([write("pg17/tpcc.json", f"[{BENCHBASE}]")], tmp_path / "out")


def test_a_run_of_pgbench_that_has_only_begun(write: Write, tmp_path: Path) -> None:
    path = write("pg17/tpcb.txt", SCRIPTS + SCRIPTS[:70])

    assert f"{path}: cut off after line {path.read_text().count(chr(10)) + 1}: it has no tps" in (
        import_results([path.parent], tmp_path / "out").remarks
    )


def test_published_csv_is_a_matrix_of_builds_and_configs(imported: Import) -> None:
    results = imported(REFERENCE / "published")

    assert results.base.label == "my8039@bl0_sync0_dw0"
    assert figures(results, test="medium/update-index", target="pg17rc1@sync0_comp0_fpi0") == {"throughput": 138330}
