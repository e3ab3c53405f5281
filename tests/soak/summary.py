"""What a soak came to, as a table."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from .plan import Kind
from .trial import Outcome


def show(outcomes: Sequence[Outcome], skipped: Sequence[str], console: Console) -> None:
    """Experiments, then faults by kind, then what was skipped and all that was wrong."""
    console.print(_experiments(outcomes))
    console.print(_faults(outcomes))
    for words in skipped:
        console.print(f"not done: {words}", markup=False)
    for outcome in outcomes:
        for words in outcome.violations:
            console.print(f"WRONG in {outcome.trial.title}: {words}", markup=False)


def violations(outcomes: Sequence[Outcome]) -> int:
    return sum(len(outcome.violations) for outcome in outcomes)


def _experiments(outcomes: Sequence[Outcome]) -> Table:
    table = Table("DBMS", *("experiments", "rows", "faults", "resumed", "given up", "violations", "minutes"))
    for dbms in dict.fromkeys(outcome.trial.dbms for outcome in outcomes):
        table.add_row(dbms, *_sums([outcome for outcome in outcomes if outcome.trial.dbms == dbms]))
    table.add_row("all", *_sums(outcomes))
    return table


def _sums(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        str(len(outcomes)),
        str(sum(outcome.rows for outcome in outcomes)),
        str(sum(len(outcome.injections) for outcome in outcomes)),
        str(sum(outcome.resumes for outcome in outcomes)),
        str(sum(outcome.gave_up for outcome in outcomes)),
        str(violations(outcomes)),
        f"{sum(outcome.seconds for outcome in outcomes) / 60:.1f}",
    ]


def _faults(outcomes: Sequence[Outcome]) -> Table:
    """`felt` is known of kills of engines and servers: rows followed while the process was needed."""
    table = Table("fault", "happened", "felt", "came too late")
    for kind in Kind:
        happened = sum(injection.kind is kind for outcome in outcomes for injection in outcome.injections)
        felt = sum(injection.kind is kind for outcome in outcomes for injection in outcome.felt)
        late = sum(fault.kind is kind for outcome in outcomes for fault in outcome.late)
        if happened or late:
            table.add_row(kind, str(happened), str(felt) if felt else "", str(late) if late else "")
    return table
