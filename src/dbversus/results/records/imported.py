"""Record of an import of what other tools measured."""

from dbversus.results.records.base import Record


class Imported(Record, frozen=True, kw_only=True):
    """What was read of files of other tools, in place of rows; the figures are in `imported.parquet`.

    files: that were read
    left_out: files that were not, with the reasons in `imported-files.parquet`
    damaged: files that are cut off or end with an error; what they say was read
    figures: in them
    kept_lines: lines that were kept as they are
    unknown_lines: of these, those that nobody could tell
    ratios_same: ratios that are those of the absolute figures printed with them
    ratios_within_rounding: ratios that are, as far as the rounding of these figures allows
    ratios_other: ratios that are not
    ratios_alone: ratios without absolute figures
    others: the first ratios that are not, in words
    """

    files: int
    figures: int
    left_out: int = 0
    damaged: int = 0
    kept_lines: int = 0
    unknown_lines: int = 0
    ratios_same: int = 0
    ratios_within_rounding: int = 0
    ratios_other: int = 0
    ratios_alone: int = 0
    others: list[str] = []
