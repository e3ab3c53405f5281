"""One module per verb, in the groups of `dbversus --help`."""
