"""One module per kind of table. Each makes a sheet of an assessment, or None where there is nothing to show."""
