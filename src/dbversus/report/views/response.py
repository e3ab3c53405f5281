"""Response times in the fixed buckets of the Insert Benchmark."""

from dbversus.report.formats.tables import response_table
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    return Shown(*response_table.flat(results))
