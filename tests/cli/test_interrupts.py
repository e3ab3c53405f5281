import signal
import subprocess
import sys

LOST = """
import time
from dbversus.cli.interrupts import heed_interrupts

class Result:
    def __del__(self):
        raise {error}

heed_interrupts()
Result()
time.sleep({seconds})
"""


def run(error: str, seconds: float) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", LOST.format(error=error, seconds=seconds)]
    return subprocess.run(words, capture_output=True, text=True, timeout=600)


def test_an_interrupt_in_a_finalizer_is_not_lost() -> None:
    done = run("KeyboardInterrupt", 600)
    assert done.returncode == -signal.SIGINT
    assert "Exception ignored" not in done.stderr


def test_other_errors_of_finalizers_are_told_as_ever() -> None:
    done = run("ValueError('odd')", 0)
    assert done.returncode == 0
    assert "Exception ignored" in done.stderr and "odd" in done.stderr


HELD = """
import signal, sys, time
from dbversus.cli.interrupts import heed_interrupts

signal.signal(signal.SIGHUP, signal.SIG_IGN if sys.argv[1:] else signal.SIG_DFL)
heed_interrupts()
try:
    print("ready", flush=True)
    signal.pthread_kill(__import__("threading").main_thread().ident, signal.SIGHUP)
    time.sleep(0.01)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_closed_terminal_ends_a_run_like_an_interrupt_and_nohup_keeps_it() -> None:
    said = [
        subprocess.run([sys.executable, "-c", HELD, *words], capture_output=True, text=True, timeout=60).stdout.split()
        for words in ([], ["nohup"])
    ]
    assert said == [["ready", "interrupted"], ["ready"]]
