"""Tables made of the records of a journal, a file each; `read` offers them to statistics, reports and SQL."""
