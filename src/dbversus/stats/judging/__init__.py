"""From block values to verdicts: estimates, looks, all the work."""
