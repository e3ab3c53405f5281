"""The ready experiments that repeat published posts, in both their forms; nothing is fetched or started."""

from collections import defaultdict
from pathlib import Path

import pytest

from dbversus.builds.target import parse_target
from dbversus.dbms.sizes import BYTES_PER_ROW
from dbversus.errors import UsageError
from dbversus.experiment.asked.bundled import POSTS, find_experiment, ready_experiments
from dbversus.experiment.asked.spec import ExperimentSpec, read_choices, read_spec
from dbversus.experiment.plan.estimate import check_time_budget, estimate
from dbversus.posts.reading import list_posts
from dbversus.servers.config.load import LIMITED, load_config
from dbversus.servers.config.sizing import Sizing
from dbversus.suites.profiles import profile_defaults

READY = [name for name in ready_experiments() if name.startswith(f"{POSTS}/")]
OF_POSTS = [f"{POSTS}/{name}" for name in list_posts()]
BESIDE = sorted(set(READY) - set(OF_POSTS))
"""Experiments that ask more of a post's claims than its own can: other sizes, other builds, longer steps."""
IO_BOUND = [name for name in READY if "-io" in name]
SCALED_AT_MOST_S = 3600
HOST_BYTES = 24 * 2**30


def forms(name: str) -> tuple[ExperimentSpec, ExperimentSpec]:
    """As in the post, and scaled."""
    path = find_experiment(name)
    full, scaled = (read_spec(path, profile_defaults, scaled=form) for form in (False, True))
    return full, scaled


def test_every_post_has_its_experiment() -> None:
    assert len(OF_POSTS) == 18
    assert all(read_choices(find_experiment(name))["posts"] == [name.removeprefix(f"{POSTS}/")] for name in OF_POSTS)


def test_an_experiment_beside_has_the_name_of_a_post_and_leaves_scoring_to_that() -> None:
    """The newest results that name a post are what its claims are scored by."""
    assert BESIDE
    for name in BESIDE:
        assert any(name.startswith(f"{post}-") for post in OF_POSTS), name
        assert "posts" not in read_choices(find_experiment(name)), name


@pytest.mark.parametrize("name", READY)
def test_the_head_of_a_file_says_what_is_as_there_and_what_differs(name: str) -> None:
    lines = find_experiment(name).read_text().split("\n\n")[0].splitlines()
    assert lines[2] == f"#   dbversus run {name} --scaled" and lines[1] == lines[3] == "#"
    assert lines[4].startswith("# The post: ")
    for word in ("# Builds: ", "# Scaled: "):
        assert any(line.startswith(word) for line in lines[5:]), word


@pytest.mark.parametrize("name", READY)
def test_the_full_form_is_one_long_pass_and_the_scaled_one_ends_within_the_hour(name: str) -> None:
    full, scaled = forms(name)
    assert (full.order, full.looks) == ("sequential", [1])
    assert full.read_suite().tests
    assert [parse_target(text).text.partition("@")[0] for text in scaled.targets] == [
        parse_target(text).text.partition("@")[0] for text in full.targets
    ]
    assert scaled.order == "interleaved" and scaled.time_budget_s
    expected = estimate(scaled, scaled.read_suite())
    assert scaled.time_budget_s <= SCALED_AT_MOST_S and expected.first_verdict_s < SCALED_AT_MOST_S
    assert check_time_budget(scaled, scaled.read_suite()) == ""


def rendered(spec: ExperimentSpec) -> dict[str, list[dict[str, str]]]:
    """DBMS → settings of its targets, those of creation too, in their order, on a host that is large enough."""
    sizing = Sizing(
        HOST_BYTES, spec.servers_up, 2, spec.usual_rows() * BYTES_PER_ROW, lambda name: Path(f"/lib/{name}.so")
    ).limited_to(spec.memory)
    found = defaultdict(list)
    for target in map(parse_target, spec.targets):
        version = target.selector.rpartition("/")[2].removeprefix("mariadb-")
        config = load_config(target.dbms, version, target.configs, sizing)
        found[target.dbms].append({**config.init_options, **config.settings})
    return found


POOLS = {
    "mysql": "innodb_buffer_pool_size",
    "postgres": "shared_buffers",
    "myrocks": "rocksdb_block_cache_size",
}


@pytest.mark.parametrize(
    "name", [name for name in READY if read_choices(find_experiment(name), scaled=True).get("memory")]
)
def test_caches_are_the_same_in_all_versions_where_memory_is_limited(name: str) -> None:
    scaled = forms(name)[1]
    for dbms, settings in rendered(scaled).items():
        assert len({one[POOLS[dbms]] for one in settings}) == 1, dbms
    # caches by the reference's share of a host's memory leave such a server no room for itself
    assert all(LIMITED in text for text in scaled.targets if not text.startswith("postgres"))


@pytest.mark.parametrize("name", IO_BOUND)
def test_io_bound_data_is_several_times_the_memory(name: str) -> None:
    scaled = forms(name)[1]
    assert scaled.memory and scaled.usual_rows() * BYTES_PER_ROW > 2.8 * scaled.memory
    assert not scaled.read_suite().ages  # in so large a table no test changes more than a small part


def test_pools_of_postgres_and_mysql_are_the_same_where_they_are_compared() -> None:
    found = rendered(forms(f"{POSTS}/2021-01-20-pg-vs-mysql-io")[1])
    assert {one["innodb_buffer_pool_size"] for one in found["mysql"]} == {"192M"}
    assert {one["shared_buffers"] for one in found["postgres"]} == {"192MB"}


def test_read_ahead_is_asked_of_the_file_system() -> None:
    settings = rendered(forms(f"{POSTS}/2017-11-21-myrocks-io")[1])["myrocks"]
    assert {one["rocksdb_use_direct_reads"] for one in settings} == {"OFF"}
    assert [one.get("rocksdb_advise_random_on_open") for one in settings].count("OFF") == 2


@pytest.mark.parametrize("name", [name for name in OF_POSTS if "take" in name or "-mem" in name])
def test_writes_in_memory_run_on_fresh_tables_for_seconds(name: str) -> None:
    full, scaled = forms(name)
    for spec in (full, scaled):
        kinds = [kind for kind, _ in spec.read_suite().stretches]
        later = spec.read_suite().stretches[2:]
        assert kinds[:2] == ["empty", "loaded"]  # of the judged load, then all else
        assert all(test.name.endswith(".aged") for _, phases in later for phase in phases for test in phase.tests)
    assert scaled.write_slot_ms >= 1000 and scaled.lead_in_s >= 2


def test_the_two_rounds_of_myrocks_differ_by_settling_alone() -> None:
    second, third = (forms(f"{POSTS}/{name}")[1] for name in ("2021-01-05-myrocks-take2", "2021-01-08-myrocks-take3"))
    assert not any(phase.settle for phase in second.read_suite().phases)
    assert any(phase.settle for phase in third.read_suite().phases)
    assert (second.drain_s, second.targets) == (0, third.targets)
    (options, _) = (one["rocksdb_override_cf_options"] for one in rendered(second)["myrocks"])
    assert options == "default={write_buffer_size=49M;target_file_size_base=12M;max_bytes_for_level_base=198M}"


def test_a_file_without_a_short_form_says_so() -> None:
    with pytest.raises(UsageError, match=r"versions\.toml has no table \[scaled\]; --scaled is for"):
        read_choices(find_experiment("versions"), ["sqlite"], scaled=True)
    assert "scaled" not in read_choices(find_experiment(READY[0]))
