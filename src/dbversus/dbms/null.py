"""The engine's own echo server: the floor of one request."""

from dbversus.dbms.model import Dbms, Disk, Family, Settings

NULL = Dbms(
    name="null",
    title="null (the engine's floor)",
    family=Family.NULL,
    settings=Settings(),
    disk=Disk(lambda _: 0.0, lambda _, __: 0.0),
    always_here=("",),
)
