"""What has to be known to read a figure: what else changed, how the host and the servers were, on what data it was measured."""
