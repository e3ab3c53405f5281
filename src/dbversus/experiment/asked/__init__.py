"""What the user asks for: choices, matrices, demands, known slowdowns; no server, no clock."""
