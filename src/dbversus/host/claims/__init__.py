"""Who has what: the host, builds and snapshots in use, and what a dead controller left behind."""
