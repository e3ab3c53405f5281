"""Names of tables and indexes: that of a schema other than `public` comes first, with a dot between."""

from psycopg import sql

# of pg_class c and pg_namespace n
NAME = "CASE WHEN n.nspname = 'public' AND strpos(c.relname, '.') = 0 THEN c.relname ELSE n.nspname || '.' || c.relname END"
USER_SCHEMA = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'"
# extensions' own tables are not the user's
NOT_OF_EXTENSION = "NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')"


def identifier(name: str) -> sql.Identifier:
    return sql.Identifier(*name.split(".", 1))
