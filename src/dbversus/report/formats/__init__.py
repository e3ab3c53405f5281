"""One module per form of a report, and the tables that several forms share."""
