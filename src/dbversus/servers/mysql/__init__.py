"""MySQL, MariaDB and MyRocks."""
