"""How long a step takes."""

import time
from collections.abc import Callable


def timed(step: Callable[[], object]) -> float:
    """Seconds."""
    began = time.monotonic()
    step()
    return time.monotonic() - began
