"""Servers: one module per DBMS, behind the `Server` protocol of `base`."""

from dbversus.servers.create import create_server

__all__ = ["create_server"]
