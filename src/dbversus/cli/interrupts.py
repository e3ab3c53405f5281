"""Requests to end (Ctrl-C, SIGTERM, a closed terminal), of which none is lost."""

import signal
import sys
import threading

AGAIN_AFTER_S = 0.05


def heed_interrupts() -> None:
    """Takes SIGTERM and SIGHUP like Ctrl-C, and raises again what would be lost of any. `nohup` keeps us from SIGHUP.

    Python raises KeyboardInterrupt between any two instructions. Where these are of a finalizer (`__del__`), which a library
    may have for every result of a query, it is printed and forgotten, and a run would go on to its end.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    sys.unraisablehook = _raise_again


def _raise_again(lost: "sys.UnraisableHookArgs") -> None:
    if issubclass(lost.exc_type, KeyboardInterrupt):
        # later, since here it would be lost again; as SIGTERM, since a shell may have us ignore SIGINT
        threading.Timer(AGAIN_AFTER_S, signal.pthread_kill, [threading.main_thread().ident, signal.SIGTERM]).start()
    else:
        sys.__unraisablehook__(lost)
