"""One module per table that `dbversus show` has, and the list of them."""
