"""What readers make of files of each tool."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_old_sysbench(imported: Import, write: Write) -> None:
    results = imported(write("my5173/oltp.txt", OLD_SYSBENCH))

    found = figures(results, target="my5173", test="oltp", clients=16)
    assert (found["transactions_per_s"], found["latency_p95"], found["latency_mean"]) == (985.74, 25.3, 16.21)
    assert results.sql("SELECT count(*) FROM imported_lines WHERE kind = 'unknown'")[1] == [(0,)]


def test_summaries_have_the_clients_that_were_named(imported: Import) -> None:
    results = imported(REFERENCE / "sysbench-2020/o.qps.abs.in", clients=[1, 16, 64])

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


def test_hammerdb(imported: Import, write: Write) -> None:
    results = imported(write("pg17/tprocc.log", HAMMERDB))

    found = figures(results, target="pg17", test="tprocc", clients=8)
    assert found == {"duration": 5, "virtual_users": 8, "new_orders_per_min": 280330, "transactions_per_min": 644734}
    assert "secret" not in str(results.sql("SELECT text FROM imported_lines")[1])


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


def test_published_csv_is_a_matrix_of_builds_and_configs(imported: Import) -> None:
    results = imported(REFERENCE / "published")

    assert results.base.label == "my8039@bl0_sync0_dw0"
    assert figures(results, test="medium/update-index", target="pg17rc1@sync0_comp0_fpi0") == {"throughput": 138330}
