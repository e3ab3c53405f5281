"""What of a suite is sent to the engine."""
