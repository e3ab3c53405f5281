"""The texts of the reference's summaries, as its scripts print them (docs/reference-layouts.md)."""
