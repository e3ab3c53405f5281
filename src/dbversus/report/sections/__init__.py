"""The sections of a report, one file each: `section(judged)` gives what all formats show of it (registry.py lists them)."""
