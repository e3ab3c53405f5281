"""What operations wait for, in tests of which that was recorded: as functions are told (functions.py)."""

from dbversus.report.judged import Judged
from dbversus.report.section import Section
from dbversus.report.sections.functions import Words, section_of, sentence_of

LACKS = (
    "has nothing for --table waits: no waits were recorded. `dbversus explain DIR --measure --only waits` does that "
    "(docs/explain.md)."
)
_WORDS = Words(
    "What operations wait for",
    "of time",
    "waits for",
    "parts",
    "Waits",
    "Recorded",
    "waits and operations",
    "Of the threads that serve the clients, from the moment one leaves the CPU until it is back on one, and in which function. "
    "The time that is left is that on a CPU. A server that has done its work waits for the client: recvfrom, poll or epoll_wait.",
)


def section(judged: Judged) -> Section | None:
    waits = list(judged.measured.waits.values())
    return section_of(waits, _WORDS, [sentence_of(one, _WORDS) for one in waits]) if waits else None
