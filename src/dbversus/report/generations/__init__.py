"""Two generations of two DBMSs: read from results, and shown."""
