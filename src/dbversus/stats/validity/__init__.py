"""What a verdict may not be trusted for: targets that did nothing, a test without a steady state."""
