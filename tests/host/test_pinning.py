import os

import pytest

from dbversus.errors import UsageError
from dbversus.host.cpus import Core, allowed_cores, device_interrupts, parse_cpu_list
from dbversus.host.pinning import place

TWO = [Core((0,), 500), Core((1,), 9000)]
FOUR_SMT = [Core((0, 4), 0), Core((1, 5), 70), Core((2, 6), 10), Core((3, 7), 30)]


def test_one_client_shares_a_core_with_its_server() -> None:
    plan = place(1, "together", TWO)
    assert (plan.mode, plan.server_cpus, plan.client_cpus, plan.controller_cpus) == ("together", (0,), (0,), (1,))
    assert place(1, "auto", TWO).mode == "split"


def test_with_more_cores_cpu_0_and_the_siblings_thread_stay_out_of_it() -> None:
    plan = place(1, "together", FOUR_SMT)
    assert plan.server_cpus == plan.client_cpus == (2,)
    assert plan.controller_cpus == (0, 4, 1, 5, 3, 7)


def test_split_gives_the_background_of_servers_the_other_cores() -> None:
    plan = place(1, "split", FOUR_SMT)
    assert (plan.mode, plan.client_cpus, plan.serving_cpus, plan.server_cpus) == ("split", (2,), (2,), (0, 1, 3))
    two = place(1, "split", TWO)
    assert (two.serving_cpus, two.server_cpus, two.controller_cpus) == ((0,), (1,), (1,))
    assert place(1, "split", TWO[:1]).mode == "together"


@pytest.mark.parametrize(("clients", "client_cpus"), [(2, (0,)), (40, (0,))])
def test_more_clients_get_cores_of_their_own(clients: int, client_cpus: tuple[int, ...]) -> None:
    plan = place(clients, "auto", FOUR_SMT)
    assert (plan.mode, plan.client_cpus, plan.server_cpus) == ("apart", client_cpus, (1, 2, 3))
    sixteen = [Core((number,)) for number in range(16)]
    assert len(place(40, "apart", sixteen).client_cpus) == 4
    assert len(place(2, "apart", sixteen).client_cpus) == 2


def test_one_core_is_shared_whatever_was_asked() -> None:
    plan = place(8, "apart", [Core((3,))])
    assert (plan.mode, plan.server_cpus, plan.client_cpus, plan.controller_cpus) == ("together", (3,), (3,), (3,))
    assert "one core" in plan.note


def test_the_foreground_is_where_clients_and_what_serves_them_run() -> None:
    assert place(1, "split", FOUR_SMT).foreground_cpus == place(1, "together", FOUR_SMT).foreground_cpus == (2,)
    assert place(2, "apart", FOUR_SMT).foreground_cpus == (0, 1, 2, 3)
    assert place(1, "none", FOUR_SMT).foreground_cpus == ()


def test_none_pins_nothing_and_unknown_modes_are_refused() -> None:
    assert place(1, "none", TWO).server_cpus == ()
    with pytest.raises(UsageError, match="'near' is unknown; accepted: auto, split, together, apart, none"):
        place(1, "near", TWO)


def test_our_own_affinity_is_respected() -> None:
    before = os.sched_getaffinity(0)
    only = max(before)
    try:
        os.sched_setaffinity(0, {only})
        assert [core.cpus for core in allowed_cores()] == [(only,)]
        assert place(1).server_cpus == (only,)
    finally:
        os.sched_setaffinity(0, before)


def test_the_kernels_lists() -> None:
    assert parse_cpu_list("0-2,5\n") == (0, 1, 2, 5)
    assert parse_cpu_list("") == ()
    text = "           CPU0       CPU2\n 36:  10  200  MSI  virtio1\n 37: 1 2 MSI x\nLOC:  9999  9999  timer\n"
    assert device_interrupts(text) == {0: 11, 2: 202}
