"""Settings that a test's connections have of their own, for its notes."""

from collections.abc import Sequence

from dbversus.dbms.known import KNOWN
from dbversus.results.records import Experiment


def settings_notes(header: Experiment, test: str) -> Sequence[str]:
    """One sentence for each DBMS: `connections to PostgreSQL have work_mem = 64MB`."""
    titles = {dbms.name: dbms.title for dbms in KNOWN}
    return [
        f"connections to {titles.get(dbms, dbms)} have {', '.join(f'{name} = {value}' for name, value in given.items())}"
        for dbms, given in header.settings.get(test, {}).items()
    ]
