"""Parts about an experiment as a whole."""
