"""From block values to verdicts: estimates, looks, fresh blocks."""
