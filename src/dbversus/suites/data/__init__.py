"""The user's own data, `[data.NAME]` of a suite: CSV and Parquet files as rows of tables and as values of parameters.

`file` is the file as it is, `scan` reads it through DuckDB, `columns` says what is in it, `forms` what a value of each type
looks like in a staged file, `staged` writes those, which the engine reads. `resolve` puts them into a suite.
"""
