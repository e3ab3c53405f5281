"""Who measures cells: this process, or workers that are processes of their own; and who hands cells out to them."""
