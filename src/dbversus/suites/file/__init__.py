"""A suite file as it stands: its text and lines, the shape of its tables, all definitions that it can use."""
