"""Which figures are of one test and of one run, where several files tell of it."""

import duckdb

# what a file does not tell is known where all other files of the test, or of the test on that target, say the same
_CLIENTS = """
    CREATE TEMP TABLE clients_elsewhere AS
    WITH known AS (SELECT DISTINCT test, target, clients FROM all_places WHERE clients IS NOT NULL),
    of_test AS (SELECT test, min(clients) AS clients FROM known GROUP BY test HAVING count(DISTINCT clients) = 1),
    of_target AS (SELECT test, target, min(clients) AS clients FROM known GROUP BY ALL HAVING count(*) = 1)
    SELECT DISTINCT p.test, p.target, coalesce(of_test.clients, of_target.clients) AS clients
    FROM all_places p LEFT JOIN of_test USING (test)
    LEFT JOIN of_target ON of_target.test = p.test AND of_target.target = p.target
    WHERE p.clients IS NULL AND coalesce(of_test.clients, of_target.clients) IS NOT NULL
"""
_WITH_CLIENTS = """
    SELECT r.* REPLACE (coalesce(r.clients, e.clients) AS clients)
    FROM {read} r LEFT JOIN clients_elsewhere e ON r.clients IS NULL AND e.test = r.test AND e.target = r.target
"""
# files of one folder and of several formats tell of the same runs, in the same order; run 0 goes on with the one before
_RUNS = """
    CREATE TEMP TABLE runs AS
    WITH met AS (
        SELECT DISTINCT f.test, f.target, f.clients, f.file, f.run, files.position, files.format,
            regexp_replace(f.file, '[^/]*$', '') AS folder
        FROM figures_of_files f JOIN files ON files.file = f.file WHERE f.run IS NOT NULL
    ), in_folder AS (
        SELECT *, count(*) FILTER (run > 0)
                OVER (PARTITION BY test, target, clients, folder, format ORDER BY position, run) AS place,
            min(position) OVER (PARTITION BY test, target, clients, folder) AS first
        FROM met
    )
    SELECT test, target, clients, file, run, folder,
        dense_rank() OVER (PARTITION BY test, target, clients ORDER BY first, place) AS number
    FROM in_folder
"""
_NUMBERED = """
    CREATE VIEW figures AS
    SELECT f.* REPLACE (runs.number::INTEGER AS run) FROM figures_of_files f LEFT JOIN runs
        ON runs.file = f.file AND runs.run = f.run AND runs.test = f.test AND runs.target = f.target
        AND runs.clients IS NOT DISTINCT FROM f.clients
"""
_POOLED = """
    WITH folders AS (
        SELECT target, list(DISTINCT folder ORDER BY folder) AS folders FROM runs
        GROUP BY target HAVING count(DISTINCT folder) > 1
    ), of_folders AS (
        SELECT f.target, f.test, f.clients, f.metric, f.unit, r.folder, avg(f.value) AS rate
        FROM figures f JOIN (SELECT DISTINCT file, folder FROM runs) r USING (file)
        WHERE f.second IS NULL AND f.unit LIKE '%/s' AND f.value > 0 GROUP BY ALL
    ), spreads AS (
        SELECT target, test, max(rate) / min(rate) AS times FROM of_folders GROUP BY target, test, clients, metric, unit
    ), widest AS (SELECT target, arg_max(test, times) AS test, max(times) AS times FROM spreads GROUP BY target)
    SELECT DISTINCT target, folders, widest.test, widest.times
    FROM folders JOIN runs USING (target) LEFT JOIN widest USING (target) WHERE number > 1 ORDER BY target
"""


def tell_runs(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the views `figures` and `places` of what was read, with numbers of runs over all files."""
    connection.execute(_CLIENTS)
    connection.execute(f"CREATE VIEW places AS {_WITH_CLIENTS.format(read='all_places')}")
    connection.execute(f"CREATE VIEW figures_of_files AS {_WITH_CLIENTS.format(read='all_figures')}")
    connection.execute(_RUNS)
    connection.execute(_NUMBERED)


def files_of_runs(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Paths of files whose names say what they are of."""
    return [str(path) for (path,) in connection.execute("SELECT DISTINCT file FROM runs ORDER BY file").fetchall()]


def pooled(connection: duckdb.DuckDBPyConnection, most: int) -> list[str]:
    """Sentences on targets whose runs come from several folders of one name, with how far those differ at most."""
    return [
        f"{target} is the name of {len(folders)} folders ({', '.join(folders[:3])}{', …' if len(folders) > 3 else ''}): they are "
        f"taken for one target, and their runs of a test are averaged{_apart(test, times)}. Where they are not, "
        "--target-from '([^/]+/[^/]+)/[^/]*$' names targets by two folders."
        for target, folders, test, times in connection.execute(_POOLED).fetchmany(most)
    ]


def _apart(test: str | None, times: float | None) -> str:
    return f", which differ by {times:.2f} × at most ({test})" if test and times else ""
