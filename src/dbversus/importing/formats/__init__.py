"""One module per format of results that `dbversus import` reads, and the list of them.

A module has `fits(name, head)`, whether a file of that name and beginning is of its format, and `read(source, text, sheet)`,
which enters all that the file says into the sheet and returns what is wrong with the file as a whole (empty: nothing).
"""
