"""A cell is the unit of work that can be handed out: one block of some cases, from an order to records."""
