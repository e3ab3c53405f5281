"""Published posts: their claims as data, and what became of these in results."""
