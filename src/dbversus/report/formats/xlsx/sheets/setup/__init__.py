"""What the figures stand on: data, settings, servers and the host."""
