"""From slots to block values, one per block × test × metric × target."""
