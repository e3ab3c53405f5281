"""One module per section of a report: figures from stored results alone."""
