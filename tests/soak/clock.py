"""A wall clock that jumps: Python's, in one controller, moved by what a file says (clocked.py). The monotonic one stays true.

Setting the host's clock is not for a test, a time namespace moves the monotonic clocks alone, and under libfaketime 0.9.10
Python 3.11 cannot sleep (EINVAL from clock_nanosleep, or for ever). The engine's stamps are therefore not moved.
"""

from pathlib import Path

from .clocked import VARIABLE

PROGRAM = Path(__file__).with_name("clocked.py")


class JumpingClock:
    """Runs true until `jump`; `folder` holds its file."""

    def __init__(self, folder: Path):
        self._file = folder / "clock.txt"
        self.jump(0)

    def jump(self, seconds: int) -> None:
        """From now on the clock is `seconds` off (negative: it went back)."""
        partial = self._file.with_suffix(".partial")
        partial.write_text(str(seconds))
        partial.rename(self._file)

    @property
    def environment(self) -> dict[str, str]:
        return {VARIABLE: str(self._file)}
