"""pgbench's scripts as tests of a suite. What a script may hold: PostgreSQL's manual, pgbench, Custom Scripts."""
