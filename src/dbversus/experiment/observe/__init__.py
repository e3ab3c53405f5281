"""Evidence collected around the rows of a test, a module per kind."""
