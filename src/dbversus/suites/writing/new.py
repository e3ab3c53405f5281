"""A suite to start from: a commented file that runs as it is."""

from pathlib import Path

from dbversus.errors import UsageError
from dbversus.files import write_new

TEMPLATE = """\
# A suite of your own: docs/suites.md has all that may stand here. It runs as it is:
#   dbversus compare sqlite:bundled sqlite:bundled@wal --suite ./NAME --table-size 10k
title = "A shop"

[tables.customers]
rows = "table_size / 10"        # --table-size says how many rows the others have
primary_key = ["id"]
[tables.customers.columns]
id = { type = "int4", values = { gen = "sequence" } }
name = { type = "varchar(40)", values = { gen = "text", template = "@@@@@@@@ @@@@@@@@@" } }

[tables.orders]
primary_key = ["id"]
indexes = [{ name = "orders_customer", columns = ["customer"] }]
[tables.orders.columns]
id = { type = "int8", values = { gen = "sequence" } }
customer = { type = "int4", values = { gen = "zipfian", low = 1, high = "table_size / 10" } }
note = { type = "varchar(40)", values = { gen = "text", template = "#### @@@@@" } }

# Instead of generators, a table may have the rows of a file:
# [data.orders]
# file = "orders.csv"
# [tables.orders]
# data = "orders"
# And DDL of your own may make it:
# [setup]
# postgres = "schema.sql"
# [tables.orders]
# made_by = "scripts"
# data = "orders"

[tests.orders-of]
title = "The first orders of a customer"
group = "range"
[[tests.orders-of.statements]]
name = "orders"
sql = "SELECT o.id, c.name FROM customers c JOIN orders o ON o.customer = c.id WHERE c.id = :id ORDER BY o.id LIMIT 10"
params = { id = { gen = "uniform", low = 1, high = "table_size / 10" } }

[tests.note]
title = "Change the note of an order"
group = "write"
[[tests.note.statements]]
name = "note"
sql = "UPDATE orders SET note = :note WHERE id = :id"
params = { note = { gen = "text", template = "#### #####" }, id = { gen = "uniform", low = 1, high = "table_size" } }

[[phases]]
name = "all"
tests = ["orders-of", "note"]
"""


def write_template(path: Path) -> None:
    """Writes a suite to `path`; UsageError where there is a file already, or none can be written."""
    if path.suffix != ".toml":
        raise UsageError(f"{path} is no name of a suite; one that ends in .toml is accepted.")
    write_new(path, TEMPLATE.replace("NAME", path.name))
