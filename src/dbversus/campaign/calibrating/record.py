"""From the results of a calibration to the record that is kept of it."""

from collections.abc import Callable
from datetime import UTC, datetime

from dbversus.calibration.model import Calibration, host_of
from dbversus.dbms.known import find_dbms
from dbversus.experiment.folder import read_folder
from dbversus.experiment.plan.margins import rows_per_block
from dbversus.results.stored import Results
from dbversus.results.write import safe_name


def make_record(results: Results, suites: int, seed: int, say: Callable[[str], None]) -> Calibration:
    """Evaluates `results` by `suites` virtual suites; raises UsageError when they are not those of a calibration."""
    from dbversus.stats.calibration.evaluate import evaluate  # statistics take seconds to import

    figures = evaluate(results, suites, seed, say)
    header, base = results.header, results.base
    spec = read_folder(results.directory)
    began_s = header.at_unix_ns / 1e9
    return Calibration(
        id=f"{datetime.fromtimestamp(began_s, UTC):%Y%m%d-%H%M%S}-{safe_name(f'{base.dbms}-{base.version}')}",
        at_unix_s=began_s,
        took_s=max(record.at_unix_ns for record in results.records) / 1e9 - began_s,
        dbversus=header.dbversus,
        host=host_of(results.host),
        dbms=base.dbms,
        dbms_title=find_dbms(base.dbms).title,
        version=base.version,
        target=base.written,
        profile=spec.profile,
        suite=spec.suite,
        clients=spec.clients,
        table_size=spec.table_size,
        tables=spec.tables,
        rows_per_block=rows_per_block(spec),
        slot_ms=spec.slot_ms,
        seed=spec.seed,
        command=header.command,
        directory=str(results.directory.absolute()),
        figures=figures,
    )
