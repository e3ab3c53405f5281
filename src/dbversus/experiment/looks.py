"""Sequential looks: after some blocks, judge what there is and retire the tests that are decided."""

from dbversus.experiment.rig.session import Session
from dbversus.results.read import open_results
from dbversus.results.records import Look


def take_look(session: Session, blocks: int) -> None:
    """Judges all tests after `blocks` finished blocks; journals which are decided and need no more blocks.

    A regression or improvement is decided only once fresh blocks have measured it again (stats.judge), so it stays in
    the run for one look more. Targets of which no more blocks will tell anything hold up no test.
    """
    from dbversus.stats.judge import judge, settled_tests  # takes seconds to import; a run has begun by now

    session.display.doing(f"judging {blocks} blocks")
    measured = _measured(session)
    findings = [
        finding
        for finding in judge(open_results(session.journal.directory))
        if (finding.test, finding.target) in measured
    ]
    newly = sorted(settled_tests(findings) - session.progress.retired)
    session.note(Look(blocks, newly))
    session.progress.looks[blocks] = newly


def _measured(session: Session) -> set[tuple[str, str]]:
    """Test and target's label, of all that are still measured."""
    return {(case.name, session.by_name(name).label) for case in session.all_cases for name in session.measured(case)}
