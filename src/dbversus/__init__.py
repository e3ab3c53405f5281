"""Did my database get slower, where, by how much, and why?"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Cause",
    "Comparison",
    "DbversusError",
    "Experiment",
    "Finding",
    "Findings",
    "RunError",
    "Slots",
    "Target",
    "UsageError",
    "Verdict",
    "measure",
    "read",
]

if TYPE_CHECKING:
    from dbversus.api import (
        Cause,
        Comparison,
        DbversusError,
        Experiment,
        Finding,
        Findings,
        RunError,
        Slots,
        Target,
        UsageError,
        Verdict,
        measure,
        read,
    )
else:

    def __getattr__(name: str) -> Any:
        """What `dbversus.api` has, imported when it is first used: that takes seconds, which `--help` does not have."""
        if name not in __all__:
            raise AttributeError(f"module 'dbversus' has no attribute '{name}'; it has {', '.join(__all__)}")
        from dbversus import api

        return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
