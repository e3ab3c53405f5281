"""Servers that had too little memory: they wait for pages of their own that the kernel has to read again."""

from collections.abc import Mapping, Sequence

from dbversus.results.stored import Results
from dbversus.units import show_memory

MOST_FAULTS_PER_S = 20.0
"""Servers with enough memory have less than one a second; one that outgrew its limit had 190 to 240."""

_QUERY = """
    SELECT test, target, sum(server_major_faults) / (sum(elapsed_ns) / 1e9)
    FROM slots WHERE elapsed_ns > 0 AND server_major_faults IS NOT NULL GROUP BY test, target ORDER BY target"""


def memory_notes(results: Results) -> Mapping[str, Sequence[str]]:
    """Test → `mariadb:10.11 had too little memory: …`, of each target that had.

    Nothing where the page cache is emptied: the servers' programs leave it too.
    """
    notes: dict[str, list[str]] = {}
    if results.header.cache == "warm":
        for test, target, faults_per_s in results.slot_rows(_QUERY):
            if faults_per_s > MOST_FAULTS_PER_S:
                notes.setdefault(test, []).append(_note(target, results.header.memory, faults_per_s))
    return notes


def _note(target: str, limit: int | None, faults_per_s: float) -> str:
    within = f" with a limit of {show_memory(limit)}" if limit else ""
    return (
        f"{target} had too little memory{within}: {faults_per_s:.0f} times a second it waited for a page of its program, or of "
        "what it keeps in memory, to be read from disk (major page faults); smaller caches or more memory would help"
    )
