"""Servers report what they served with a delay: it is waited for once, before all that is asked at one moment."""

from contextlib import suppress

from dbversus.errors import RunError
from dbversus.experiment.rig.rig import Rig


def await_counts(rig: Rig) -> None:
    """Returns once the counts of all servers have what clients that are gone were served.

    A wait for each question would be a third of the time of a comparison of PostgreSQL before 15, which reports twice a
    second (docs/performance.md). Who is gone is noticed by the next that needs it.
    """
    rig.thaw()
    for target in rig.alive:
        with suppress(RunError):
            target.server.await_counts()
