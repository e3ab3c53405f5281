"""Sequential looks: after some blocks, judge what there is and retire the tests that are decided."""

from dbversus.experiment.session import Session
from dbversus.results.read import open_results


def take_look(session: Session, blocks: int) -> None:
    """Judges all tests after `blocks` finished blocks; journals which are decided and need no more blocks.

    A regression or improvement is decided only once fresh blocks have measured it again (stats.judge), so it stays in
    the run for one look more.
    """
    from dbversus.stats.judge import judge, settled_tests  # takes seconds to import; a run has begun by now

    session.display.doing(f"judging {blocks} blocks")
    results = open_results(session.journal.directory)
    newly = sorted(settled_tests(judge(results)) - session.progress.retired)
    session.note("look", blocks=blocks, retired=newly)
    session.progress.looks[blocks] = newly
