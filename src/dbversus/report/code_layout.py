"""What every report of builds that differ in code says of the luck of layout: which question a ratio answers."""

from collections.abc import Iterable

from dbversus.dbms.null import NULL
from dbversus.results.records.experiment import TargetFacts

# docs/evidence/layout.md has the figure
_NOTE = (
    "The builds differ in code, so luck of layout is in each ratio: where functions lie in memory made CPU per operation "
    "differ by more than 2\u00a0% in a third of cases between builds of one source (SQLite, docs/trust.md). For whoever will run "
    "these very binaries the difference is real; for whoever asks what a change of source costs, part of it is luck. More blocks "
    "do not make that smaller, and calibration, which compares copies of one build, cannot see it."
)


def layout_note(targets: Iterable[TargetFacts]) -> str:
    """Empty where all are the same binary, and of binaries that are not known, as those of imports are."""
    binaries = {one.binary for one in targets if one.checksum is not None and one.dbms != NULL.name}
    return _NOTE if len(binaries) > 1 else ""
