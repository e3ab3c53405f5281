"""What is known to differ between a post's measurement and ours, in few words: it stands beside figures that are not found."""

from collections.abc import Iterable, Mapping

from dbversus.posts.claims import Post
from dbversus.posts.run import PostRun, RunTarget
from dbversus.units import show_count


def of_runs(post: Post, runs: Mapping[str, PostRun]) -> str:
    """Of all figures of an experiment: `1m rows for 10m, 2 cores for 4`; where there are several, of each by its name."""
    said = {name: _of_run(post, name, run) for name, run in runs.items()}
    return "; ".join(f"{words} ({name})" if len(runs) > 1 else words for name, words in said.items() if words)


def _of_run(post: Post, name: str, run: PostRun) -> str:
    rows, cores = run.header.table_size, run.cores
    of_run = [server for server in post.servers.values() if (server.experiment or post.name) == name]
    servers = of_run or list(post.servers.values())
    said = [
        _for("rows", show_count(rows) if rows else "", (show_count(each.rows) for each in servers)),
        _for("cores", str(cores or ""), (str(each.cores or "") for each in servers)),
    ]
    return ", ".join(filter(None, said))


def of_builds(post: Post, pairs: Iterable[tuple[str, RunTarget]]) -> str:
    """Of one figure; `pairs`: name of a build in the post, and what stands for it. `8.0.33 for 8.0.22, 5.6.24 for 5.6.49`."""
    pairs = list(pairs)
    said = []
    for name, target in pairs:
        there = post.version_of(name)
        if there and target.version and there != target.version:
            said.append(f"{target.version} for {there}")
        compiler = post.builds[name].compiler
        if compiler and target.compiler and compiler != target.compiler:
            said.append(f"{target.compiler} for {compiler}")
    return ", ".join(dict.fromkeys((*said, *_of_two_compilers(pairs))))


def _of_two_compilers(pairs: Iterable[tuple[str, RunTarget]]) -> list[str]:
    """Ours, where they differ between two versions of one DBMS."""
    targets = [target for _, target in pairs]
    compilers = list(dict.fromkeys(target.compiler for target in targets))
    if len({target.dbms for target in targets}) > 1 or len(compilers) < 2 or not all(compilers):
        return []
    return [f"{' and '.join(compilers)} here"]


def _for(what: str, here: str, there: Iterable[str]) -> str:
    others = list(dict.fromkeys(each for each in there if each and each != here))
    return f"{here} {what} for {' or '.join(others)}" if here and others else ""
