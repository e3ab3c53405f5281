"""Suite files written from what people have: scripts of pgbench, statistics of statements, slow logs."""
