"""What PostgreSQL's log tells of checkpoints, autovacuum and autoanalyze, in the words of old and new versions."""

from dbversus.servers.postgres.events import events_in

S = 10**9
AT = 1_795_453_920 * S
"""2026-11-23 17:12:00 UTC."""


def line(second: float, text: str) -> str:
    return f"2026-11-23 17:12:{second:06.3f} GMT [9] LOG:  {text}\n"


def test_a_checkpoint_has_a_beginning_and_an_end() -> None:
    (one,) = events_in(
        line(1.001, "checkpoint starting: wal")
        + line(2, "database system is ready to accept connections")
        + line(
            4.501,
            "checkpoint complete: wrote 3451 buffers (21.1%), wrote 3 SLRU buffers; 0 WAL file(s) added; total=3.5 s",
        )
    )
    assert (one.what, one.began_unix_ns, one.ended_unix_ns) == ("checkpoint", AT + 1_001_000_000, AT + 4_501_000_000)
    assert one.words == "wal, wrote 3451 buffers (21.1%)"


def test_a_checkpoint_of_which_one_end_is_not_in_the_log() -> None:
    complete, open_end = events_in(
        line(4.5, "checkpoint complete: wrote 12 buffers (0.1%); write=0.1 s, sync=0.001 s, total=1.250 s")
        + line(9, "checkpoint starting: time")
    )
    assert (complete.began_unix_ns, complete.ended_unix_ns) == (AT + 3_250_000_000, AT + 4_500_000_000)
    assert (open_end.began_unix_ns, open_end.ended_unix_ns, open_end.words) == (AT + 9 * S, None, "time")


def test_a_crash_lasts_until_connections_are_taken_again() -> None:
    killed = "server process (PID 6288) was terminated by signal 9: Killed"
    began = line(1, killed) + "2026-11-23 17:12:01.000 GMT [9] DETAIL:  Failed process was running: COMMIT\n"
    ended = line(1.2, "all server processes terminated; reinitializing") + line(
        1.5, "database system is ready to accept connections"
    )
    (whole,), (open_end,) = events_in(began + ended), events_in(began)
    assert (whole.what, whole.words) == ("crash", killed)
    assert (whole.began_unix_ns, whole.ended_unix_ns) == (AT + S, AT + S * 3 // 2)
    assert (open_end.what, open_end.ended_unix_ns) == ("crash", None)
    assert events_in(line(2, "database system is ready to accept connections")) == []


def test_autovacuum_took_what_it_says_in_the_words_of_all_versions() -> None:
    found = events_in(
        line(1, 'automatic vacuum of table "d.public.t1": index scans: 0')
        + "\tpages: 0 removed, 6 remain\n\tsystem usage: CPU: user: 0.00 s, system: 0.00 s, elapsed: 0.25 s\n"
        + line(2, 'automatic analyze of table "d.public.t1" system usage: CPU 0.00s/0.02u sec elapsed 0.50 sec')
        + line(3, 'automatic aggressive vacuum to prevent wraparound of table "d.public.t2": index scans: 0')
    )
    assert [(one.what, one.words) for one in found] == [
        ("autovacuum", "table d.public.t1"),
        ("autoanalyze", "table d.public.t1"),
        ("autovacuum", "table d.public.t2"),
    ]
    assert [one.began_unix_ns for one in found] == [AT + 750_000_000, AT + 1_500_000_000, None]


def test_other_lines_and_other_clocks_are_no_events() -> None:
    assert events_in("") == []
    assert (
        events_in("2026-11-23 17:12:01.001 CET [9] LOG:  checkpoint starting: wal\nLOG:  checkpoint starting: wal\n")
        == []
    )
