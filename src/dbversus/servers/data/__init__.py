"""Data directories: snapshots, what is in their tables, the room they take."""
