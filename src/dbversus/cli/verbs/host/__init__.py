"""What there is to measure with: the host, builds, suites, configs."""
