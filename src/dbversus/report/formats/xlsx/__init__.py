"""report.xlsx: every table of the report on a sheet of its own. `table` is data, `sheets` fill it, `write` makes the file."""
