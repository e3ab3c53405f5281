"""Waits from a script of perf: how long, for what, and that a thread that could run waits for a CPU."""

from dbversus.profiling.waits import RUN_QUEUE, Wait, waiting, waits_of

KERNEL = """
\tffffffff821f94c3 schedule ([kernel.kallsyms])
\tffffffff8170fef2 __x64_sys_fdatasync ([kernel.kallsyms])
\t          fed0a fdatasync (/usr/lib/x86_64-linux-gnu/libc.so.6)
\t           1f0a XLogWrite (/opt/postgres/bin/postgres)
""".strip("\n")
SCRIPT = f"""
postgres 40/40 10.000000100: PERF_RECORD_SWITCH IN
postgres 40/40 10.000000900:          3
{KERNEL}

postgres 40/40 10.000001000: PERF_RECORD_SWITCH OUT
my sqld 50/51 10.000001500:          1
{KERNEL}

my sqld 50/51 10.000001600: PERF_RECORD_SWITCH OUT preempt
my sqld 50/51 10.000001800: PERF_RECORD_SWITCH IN
postgres 40/40 10.000501000: PERF_RECORD_SWITCH IN
postgres 40/40 10.000502000: PERF_RECORD_SWITCH OUT
postgres 40/40 10.000503000: PERF_RECORD_SWITCH IN
postgres 40/40 10.000600000:          1
{KERNEL}

postgres 40/40 10.000601000: PERF_RECORD_SWITCH OUT
"""
STACK = ("XLogWrite", "fdatasync [libc]", "[kernel] fdatasync")


def test_a_wait_is_from_leaving_the_cpu_to_being_back_whether_it_was_sampled_or_not() -> None:
    second = 10 * 10**9
    assert list(waits_of(SCRIPT.splitlines())) == [
        Wait(51, second + 1600, second + 1800, preempted=True, stack=STACK),
        Wait(40, second + 1000, second + 501_000, preempted=False, stack=STACK),
        Wait(40, second + 502_000, second + 503_000, preempted=False),
    ]  # the last has not ended


def test_a_wait_is_named_by_its_call_and_the_function_that_it_is_made_for() -> None:
    assert waiting(STACK, preempted=False) == ("XLogWrite", "fdatasync [libc]", "fdatasync in XLogWrite")
    assert waiting(STACK, preempted=True)[-1] == RUN_QUEUE
    locked = (
        "main",
        "row_upd",
        "lock_wait_suspend_thread",
        "os_event_wait",
        "pthread_cond_wait [libc]",
        "[kernel] futex",
    )
    assert waiting(locked, preempted=False)[-1] == "futex in row_upd"
    assert waiting(("os_event_wait", "[kernel] futex"), preempted=False)[-1] == "futex in os_event_wait"
    assert waiting(("[kernel] page fault",), preempted=False) == ("page fault",)
