"""Throughput and memory, a line per target."""

from dbversus.report.formats.tables import matrix_table
from dbversus.report.parts.overview.matrix import build_matrix
from dbversus.report.views.registry import Shown
from dbversus.results.stored import Results


def show(results: Results) -> Shown:
    matrix = build_matrix(results)
    return Shown(*matrix_table.flat(matrix), lambda console: matrix_table.render(matrix, console))
