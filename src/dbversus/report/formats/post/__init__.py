"""A post in Markdown, in the manner of the reference's: sentences by group of tests, lists of ratios, charts, tables."""
