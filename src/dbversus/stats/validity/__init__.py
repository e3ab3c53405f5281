"""What a verdict may not be trusted for: a disturbed host, a test without a steady state."""
