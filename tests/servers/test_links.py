"""Root does nothing through links that the servers' user puts into a directory of theirs."""

import ast
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dbversus.servers
from dbversus.builds.model import Build
from dbversus.errors import RunError
from dbversus.host.user import ServerUser, server_user
from dbversus.servers.base import Placement, ServerConfig
from dbversus.servers.data import snapshot
from dbversus.servers.mysql import create
from dbversus.servers.mysql.files import Installation
from dbversus.servers.postgres.server import PostgresServer
from dbversus.servers.process.sockets import make_socket_dir

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root acts in directories of another user")
SECRET = "root's own"
BUILD = Build("mysql", "8.0.1", "path", Path("/nowhere"), "abc")


@pytest.fixture
def work_dir() -> Iterator[Path]:
    """One that every user may enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="dbv-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def user() -> ServerUser:
    return server_user()


@pytest.fixture
def data_dir(work_dir: Path, user: ServerUser) -> Path:
    user.make_dir(work_dir / "data")
    return work_dir / "data"


@pytest.fixture
def precious(work_dir: Path) -> Path:
    path = work_dir / "precious"
    path.write_text(SECRET)
    path.chmod(0o600)
    return path


def is_untouched(path: Path) -> bool:
    found = path.stat()
    return (path.read_text(), found.st_uid, stat.S_IMODE(found.st_mode)) == (SECRET, os.getuid(), 0o600)


def place(user: ServerUser) -> Installation:
    return Installation(BUILD, user, {})


def mark(user: ServerUser, data_dir: Path) -> None:
    user.write(data_dir / create.MARKER, "mysql 8.0.1\n")


def read_mark(user: ServerUser, data_dir: Path) -> None:
    (data_dir / "ibdata1").touch()
    create.check_data_dir(BUILD, data_dir, user)


def copy_template(user: ServerUser, data_dir: Path) -> None:
    template = data_dir.parent / "build/data/mysql"
    template.mkdir(parents=True)
    (template / "user.frm").touch()
    (template / "db.frm").symlink_to(data_dir.parent / "precious")
    copied = Installation(Build("mysql", "5.5.1", "path", data_dir.parent / "build", "abc"), user, {})
    create._copy_template(copied, data_dir)


# what root does, and the name in the data directory under which a link stands in its way
IN_DATA: list[tuple[Callable[[ServerUser, Path], object], str]] = [
    (mark, create.MARKER),
    (read_mark, create.MARKER),
    (read_mark, "mysql_upgrade_info"),
    (copy_template, "mysql"),
    (lambda user, data: user.make_dir(data / "s"), "s"),
    (lambda user, data: make_socket_dir(data / "s", user, "sock"), "s"),
    (lambda user, data: snapshot.keep(data, {"seed": 1}, root=data.parent / "kept"), "base.conf"),
    (lambda user, data: snapshot.copy_tree(data, data.parent / "copy"), "pg_tblspc"),
]


@root_only
@pytest.mark.parametrize(("act", "name"), IN_DATA)
@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_in_a_data_directory_is_refused(
    act: Callable[[ServerUser, Path], object],
    name: str,
    dangling: bool,
    user: ServerUser,
    data_dir: Path,
    precious: Path,
    work_dir: Path,
) -> None:
    target = work_dir / "absent" if dangling else precious
    (data_dir / name).symlink_to(target)
    with pytest.raises((RunError, OSError)):
        act(user, data_dir)
    assert is_untouched(precious)
    assert not (work_dir / "absent").exists()
    assert not (work_dir / "kept").exists() or not list((work_dir / "kept").glob("*/data"))


@root_only
def test_a_pipe_in_a_data_directory_stops_nobody(user: ServerUser, data_dir: Path) -> None:
    os.mkfifo(data_dir / create.MARKER, 0o666)
    user.give(data_dir / create.MARKER)
    for act in (mark, read_mark):
        with pytest.raises(RunError, match="is not what a server leaves there"):
            act(user, data_dir)


@root_only
def test_rights_are_those_of_the_servers_user_and_come_back(
    user: ServerUser, data_dir: Path, precious: Path, work_dir: Path
) -> None:
    groups = os.getgroups()
    with user.rights():
        with pytest.raises(PermissionError):
            precious.read_text()
        with pytest.raises(PermissionError):
            (work_dir / "new").touch()
        (data_dir / "theirs").touch()
    assert (data_dir / "theirs").stat().st_uid == user.uid
    assert precious.read_text() == SECRET
    assert os.getgroups() == groups
    with pytest.raises(ZeroDivisionError), user.rights():
        _ = 1 / 0
    assert precious.read_text() == SECRET


@root_only
def test_what_is_given_away_is_the_link_and_not_what_it_leads_to(
    user: ServerUser, work_dir: Path, precious: Path
) -> None:
    (work_dir / "link").symlink_to(precious)
    user.give(work_dir / "link")
    assert is_untouched(precious)
    assert (work_dir / "link").lstat().st_uid == user.uid


@pytest.mark.parametrize("target", ["/etc", "../outside", "inner/../../outside", "inner/../..", "short/../..", ".."])
def test_a_link_out_of_the_data_is_not_kept(data_dir: Path, target: str) -> None:
    (data_dir / "inner/deep").mkdir(parents=True)
    (data_dir / "inner/deep/short").symlink_to("../..")
    (data_dir / "short").symlink_to(".")
    (data_dir / "link").symlink_to(target)
    with pytest.raises(RunError, match=r"is a link to .*, outside of the data directory"):
        snapshot.keep(data_dir, {"seed": 1}, root=data_dir.parent / "kept")


def test_a_link_within_the_data_is_kept_as_it_is(data_dir: Path) -> None:
    (data_dir / "inner").mkdir()
    (data_dir / "inner/link").symlink_to("../file")
    (data_dir / "file").write_text("text")
    made = snapshot.keep(data_dir, {"seed": 1}, root=data_dir.parent / "kept")
    assert (made / "data/inner/link").readlink() == Path("../file")
    assert (made / "data").stat().st_uid == data_dir.stat().st_uid


FOLLOWING = {"chown", "lchown", "chmod", "write_text", "write_bytes", "touch", "copyfile", "copytree", "symlink_to"}


def test_servers_write_where_it_is_known_whose_directory_it_is() -> None:
    """Whoever adds a write says here why it is safe: in a directory of ours, or with the rights of the servers' user."""
    known = {
        ("create.py", "refused_of"): "a folder of ours in /tmp",
        ("data/snapshot.py", "keep"): "beside the data",
        ("injection.py", "__init__"): "the work directory",
        ("mysql/check.py", "check_config"): "a folder of ours in the work directory",
        ("mysql/create.py", "_copy_template"): "with rights()",
        ("mysql/files.py", "write_config"): "the work directory",
        ("postgres/files.py", "ask"): "a folder of ours in the work directory",
        ("postgres/files.py", "check_config"): "a folder of ours in the work directory",
        ("postgres/files.py", "write_config"): "the work directory",
    }
    servers = Path(dbversus.servers.__file__).parent
    found = set()
    for path in servers.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                called = {call.func.attr for call in ast.walk(function) if _is_method(call)}  # type: ignore[attr-defined]
                if called & FOLLOWING:
                    found.add((str(path.relative_to(servers)), function.name))
    assert found == set(known)


def _is_method(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


@root_only
@pytest.mark.e2e
def test_sql_takes_over_no_file_of_root(
    postgres_build: Build, postgres_config: ServerConfig, work_dir: Path, precious: Path
) -> None:
    """A superuser's SQL runs programs as the servers' user: it puts links where root used to write."""
    server = PostgresServer(postgres_build, postgres_config, work_dir)
    server.initialise()
    names = ["dbversus.conf", "../postgresql.conf", "dbversus.build"]
    server.start(Placement())
    try:
        with server.connect() as connection:
            for name in names:
                connection.execute(f"COPY (SELECT 1) TO PROGRAM 'ln -sf {precious} {name} || true'")
        server.stop()
        server.start(Placement())
    finally:
        server.stop()
    assert is_untouched(precious)
    with pytest.raises(RunError, match="outside of the data directory"):
        snapshot.keep(server.data_dir, {"seed": 1}, root=work_dir / "kept")
