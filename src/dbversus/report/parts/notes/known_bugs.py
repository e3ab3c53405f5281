"""What is known of a test's targets by their versions and configs, for its notes."""

from collections.abc import Sequence

from dbversus.explain.known_bugs import KnownBug, known_bugs
from dbversus.names import split_names
from dbversus.results.stored import Target
from dbversus.stats.across.clients import case_of


def bug_notes(targets: Sequence[Target], case: str) -> list[str]:
    """`mysql:8.0.22 has MySQL bug 102037: …`, one for each that is known."""
    of_clients = case_of(case)
    test = of_clients[0] if of_clients else case
    notes = []
    for bug in known_bugs():
        labels = [
            target.label
            for target in targets
            if bug.concerns(test, target.dbms, target.version, split_names(target.config))
        ]
        if labels:
            notes.append(_words(bug, labels))
    return notes


def _words(bug: KnownBug, labels: Sequence[str]) -> str:
    kind = "known bug" if bug.is_bug else "known, and no bug"
    return f"{kind}, {bug.name}, on {', '.join(labels)}: {bug.effect}"
