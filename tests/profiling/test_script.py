"""Samples from what perf script says: that of a real server, without callers, and what is none."""

import lzma
from collections import Counter
from pathlib import Path

from dbversus.profiling.script import Sample, family_of, samples_of

SCRIPT = Path(__file__).parents[1] / "data/perf/scan.txt.xz"


def _real() -> list[Sample]:
    with lzma.open(SCRIPT, "rt") as file:
        return list(samples_of(file))


def test_samples_of_two_servers_are_read_with_their_time_process_and_callers() -> None:
    samples = _real()
    assert Counter(sample.pid for sample in samples) == {9407: 21, 9408: 21}
    first = samples[0]
    assert (first.at_ns, first.weight) == (37757853060094, 1003009)
    assert first.stack[:4] == ("_start", "__libc_start_main [libc]", "__libc_start_call_main [libc]", "main")
    assert first.stack[-2:] == ("ExecScan", "ExecInterpExpr")
    assert any(
        one.stack[-3:] == ("pg_mbstrlen_with_len", "pg_mblen_with_len", "pg_utf_mblen_private") for one in samples
    )


def test_the_kernels_part_is_one_function_of_what_entered_it() -> None:
    fault, interrupt = (sample.stack for sample in _real()[-2:])
    assert fault[-2:] == ("heap_page_prune_opt", "[kernel] page fault")
    assert interrupt[-1] == "[kernel] interrupts"
    assert not any("exc_page_fault" in name or "handle_softirqs" in name for name in fault + interrupt)


def test_samples_without_callers_have_their_function_on_the_line() -> None:
    lines = [
        "   my sqld 71/72  12.5:    1003009:   8f21b3 row_search_mvcc(unsigned char*, unsigned long) (/opt/bin/mysqld)",
        "            dd 14493/14493 37933.573745978:    1003009  ffffffff8171c791 block_commit_write ([kernel.kallsyms])",
    ]
    assert list(samples_of(lines)) == [
        Sample(71, 12_500_000_000, 1003009, ("row_search_mvcc",), 72),
        Sample(14493, 37933573745978, 1003009, ("[kernel]",), 14493),
    ]


def test_lines_that_are_none_of_a_sample_are_passed_over() -> None:
    assert list(samples_of(["", "# comment", "\t  12 frame without a head (/x)", "perf: warning"])) == []


def test_processes_that_were_started_belong_to_those_that_started_them() -> None:
    starts = """\
         swapper     0/0         0.000000000: PERF_RECORD_FORK(9:9):(1:1)
           mysqld  100/104  67225.600000000: PERF_RECORD_FORK(100:105):(100:104)
         postgres  200/200  67225.610000000: PERF_RECORD_FORK(201:201):(200:200)
         postgres  201/201  67225.620000000:
         postgres  201/201  67225.630000000: PERF_RECORD_FORK(202:202):(201:201)
             make  300/300  67225.640000000: PERF_RECORD_FORK(301:301):(300:300)
"""
    assert family_of([100, 200], starts.splitlines()) == {100, 200, 201, 202}
