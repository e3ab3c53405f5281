"""The upgrade question: what gets slower with the newer version, which of its settings make it so, and what to set."""
