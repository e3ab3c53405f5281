"""dbversus with a wall clock that is as many seconds off as the file named in the environment says: `clocked.py WORDS…`."""

import os
import time
from pathlib import Path

VARIABLE = "DBVERSUS_SOAK_CLOCK"


def move_clock(file: Path) -> None:
    """Replaces Python's wall clock in this process; the file is read whenever somebody wants to know the time."""
    true_ns = time.time_ns

    def moved_ns() -> int:
        return true_ns() + int(file.read_text()) * 1_000_000_000

    def moved_s() -> float:
        return moved_ns() / 1e9

    time.time_ns, time.time = moved_ns, moved_s


if __name__ == "__main__":
    from dbversus.cli.main import main

    move_clock(Path(os.environ[VARIABLE]))
    main()
