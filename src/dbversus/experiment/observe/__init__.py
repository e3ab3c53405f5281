"""Evidence collected around the rows of a test, an observer per kind: a new one is a file, and a line in `every`."""
