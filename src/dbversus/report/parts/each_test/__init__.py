"""Parts about single tests."""
