"""Tables that several formats show: each is made once, as titles and cells."""
