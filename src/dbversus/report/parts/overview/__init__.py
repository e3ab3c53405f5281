"""Parts that show all tests and targets at once."""
