"""Figures for the reference's summaries, in its columns and units, and by its names of builds and tests."""
