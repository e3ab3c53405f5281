"""Functions as causes of a change in CPU time: with their share, in its direction, and none without a change."""

from dataclasses import replace

import numpy as np

from dbversus.explain.cause import Explanation, Kind
from dbversus.explain.functions import function_causes, wait_causes
from dbversus.profiling.figures import profile_of
from dbversus.profiling.perf import SWITCHES
from dbversus.profiling.stored import Profiled
from dbversus.report.parts.notes.cause_words import brief, likely_cause, told, why

from ..profiling.samples import MOVED_FROM, MOVED_TO, Cost, drawn


def _profiled(base: Cost, mine: Cost) -> Profiled:
    profile = profile_of(drawn(base, 1), drawn(mine, 2))
    assert profile
    return Profiled("scan", "new", "old", "cpu-clock", "unwind tables", 48000, profile)


def test_what_moved_is_one_cause_with_the_share_of_the_sum() -> None:
    (cause,) = function_causes(_profiled(MOVED_FROM, MOVED_TO))
    assert (cause.kind, cause.tested, cause.unit) == (Kind.FUNCTION, False, "µs/op")
    assert cause.share is not None and 0.85 < cause.share < 1.2
    explanation = Explanation("scan", "new", "old", "server_cpu_us_per_op", 1.22, 0.2, (cause,))
    assert likely_cause(explanation) == "lead: mblen and utf_mblen → mblen_with_len and utf_private, under count"
    assert "the CPU time went to mblen and utf_mblen → mblen_with_len" in " ".join(why(explanation))
    assert "µs/op of CPU [+" in told(cause) and "of the change" in told(cause)
    assert explanation.explained is not None and explanation.explained > 0.85


def test_of_an_improvement_what_costs_less_is_the_cause() -> None:
    (cause,) = function_causes(_profiled(MOVED_TO, MOVED_FROM))
    assert cause.share is not None and cause.share > 0.85
    assert "µs/op of CPU [−" in told(cause)
    explanation = Explanation("scan", "new", "old", "server_cpu_us_per_op", 0.8, 0.1, (cause,))
    assert "Measured: the CPU time that is saved went to" in " ".join(why(explanation))


def test_a_profile_that_shows_the_opposite_of_the_verdict_blames_no_function() -> None:
    profiled = _profiled(MOVED_FROM, MOVED_TO)
    assert function_causes(profiled, 1.2) == function_causes(profiled) != []
    assert function_causes(profiled, 0.9) == []


def test_equal_targets_have_none() -> None:
    assert function_causes(_profiled(MOVED_FROM, MOVED_FROM)) == []


def test_the_kernel_is_blamed_by_its_system_call() -> None:
    base: Cost = {"main;run": 100, "main;run;pread [libc];[kernel] pread64": 20}
    causes = function_causes(_profiled(base, {**base, "main;run;pread [libc];[kernel] pread64": 60}))
    assert [likely_cause(Explanation("t", "new", "old", "cpu", 1.3, None, (one,))) for one in causes] == [
        "lead: the kernel, in pread64"
    ]


def test_of_many_functions_the_caller_is_named_and_the_costliest_of_them() -> None:
    """The share is that of all."""
    rest: Cost = {"main;Run": 100, "main;Run;Sort": 100}
    base = {**rest, **{f"main;Run;Sort;put{n}": 20.0 + 3 * n for n in range(12)}}
    (cause,) = function_causes(
        _profiled(base, {**rest, "main;Run;Sort;std::map<std::string, std::pair<a, b> >::swap": 9})
    )
    assert cause.what == "under Sort: put11, put10, put9, put8 and 9 more"
    assert len(str(cause.facts["names"]).splitlines()) == 13
    assert cause.share is not None and 0.95 < cause.share < 1.05
    explanation = Explanation("scan", "new", "old", "server_cpu_us_per_op", 0.4, 0.1, (cause,))
    assert likely_cause(explanation) == "lead: functions under Sort: put11, put10, put9 and 10 more"
    gone = function_causes(_profiled(base, rest))
    assert [brief(one) for one in gone] == ["functions under Sort (gone): put11, put10, put9 and 9 more"]


def test_what_operations_wait_for_is_a_cause_and_their_time_on_a_cpu_is_none() -> None:
    base: Cost = {"main;run;fdatasync in XLogWrite": 2, "on a CPU": 50, "main;read;epoll_wait in secure_read": 60}
    mine: Cost = {
        "main;run;fdatasync in XLogWrite": 900,
        "on a CPU": 90,
        "main;read;epoll_wait in secure_read": 60,
        "main;run queue": 70,
    }
    profile = profile_of(drawn(base, 1), drawn(mine, 2), moves=False)
    assert profile
    (cause,) = wait_causes(Profiled("update", "new", "old", SWITCHES, "unwind tables", 48000, profile))
    assert cause.kind is Kind.WAIT and cause.share is not None and cause.share > 0.85
    explanation = Explanation("update", "new", "old", "throughput_ops_per_s", 0.11, 0.8, (cause,))
    assert likely_cause(explanation) == "lead: waiting for fdatasync in XLogWrite"
    assert "Measured: operations take longer waiting for fdatasync in XLogWrite, 2" in " ".join(why(explanation))
    assert "µs/op [+" in told(cause) and explanation.explained == cause.share


def test_beside_io_that_varies_functions_have_their_share_of_the_change_in_the_verdict() -> None:
    """The sum of all is not shown to differ."""
    rest: Cost = {"main;run": 200, "main;run;fsync [libc];[kernel] fsync": 300}
    sides = [drawn(rest, 1), drawn({**rest, "main;run;make_dirty": 16}, 2)]
    for side, seed in zip(sides, (3, 4), strict=True):
        chance = np.random.default_rng(seed)
        for block, one in side.items():
            side[block] = replace(one, cpu_us=one.cpu_us * chance.normal(1, 0.2))
    profile = profile_of(*sides)
    assert profile and not profile.whole.is_shown
    profiled = Profiled("update", "new", "old", "cpu-clock", "unwind tables", 48000, profile)
    (cause,) = function_causes(profiled, 1.07, 17.0)
    assert cause.what == "make_dirty" and cause.share is not None and 0.7 < cause.share < 1.3
    assert function_causes(profiled) == []
