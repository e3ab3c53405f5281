"""What this host can and cannot measure, and how steady it is."""
