"""What is said in SQL, in words that hold for every DBMS: tables, types, literals, settings of a session."""
