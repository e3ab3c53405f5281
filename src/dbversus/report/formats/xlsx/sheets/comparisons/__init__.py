"""What is compared, and what came of it: a sheet per kind of table over all tests."""
