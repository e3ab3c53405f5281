"""Names that agree between builds: without clones, versions and parameters, with the library; system calls of the kernel."""

import pytest

from dbversus.profiling.symbols import Frame, in_server, library_name, named, parts_of, plain, shortened

KERNEL = 0xFFFFFFFF81000130


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("pg_mblen", "pg_mblen"),
        ("foo.constprop.0", "foo"),
        ("foo.isra.0.cold", "foo"),
        ("foo.part.12.lto_priv.3", "foo"),
        ("__libc_start_main@@GLIBC_2.34", "__libc_start_main"),
        ("row_search_mvcc(unsigned char*, page_cur_mode_t)", "row_search_mvcc"),
        ("std::map<int, void (*)(int)>::find(int const&)", "std::map<int, void (*)(int)>::find"),
        ("(anonymous namespace)::run(int)", "(anonymous namespace)::run"),
        ("Key::operator()(int)", "Key::operator()"),
        ("odd;name", "odd:name"),
    ],
)
def test_one_function_has_one_name(symbol: str, name: str) -> None:
    assert plain(symbol) == name


def test_functions_of_libraries_name_them_without_their_version() -> None:
    frames = [
        Frame(1, "malloc", "/opt/libjemalloc.so.2"),
        Frame(2, "[unknown]", "/opt/bin/mariadbd (deleted)"),
    ]
    assert named(frames) == ("[mariadbd]", "malloc [libjemalloc]")


@pytest.mark.parametrize(
    ("symbols", "name"),
    [
        (["finish_task_switch", "schedule", "__x64_sys_epoll_wait", "do_syscall_64"], "[kernel] epoll_wait"),
        (["try_charge", "do_user_addr_fault", "exc_page_fault", "asm_exc_page_fault"], "[kernel] page fault"),
        (["_raw_spin_unlock", "sysvec_apic_timer_interrupt", "asm_sysvec_apic_timer_interrupt"], "[kernel] interrupts"),
        (["sysvec_apic_timer_interrupt", "__arm64_sys_pread64", "el0_svc"], "[kernel] pread64"),
        (["finish_task_switch"], "[kernel]"),
    ],
)
def test_kernel_time_is_that_of_its_system_call(symbols: list[str], name: str) -> None:
    frames = [Frame(KERNEL, symbol, "[kernel.kallsyms]") for symbol in symbols]
    assert named([*frames, Frame(5, "pread", "/lib/libc.so.6"), Frame(6, "main", "/bin/x")]) == (
        "main",
        "pread [libc]",
        name,
    )


def test_the_end_of_a_stack_that_could_not_be_followed_is_no_function_and_no_kernel() -> None:
    frames = [Frame(1, "work", "/opt/bin/x"), Frame(2**64 - 1, "[unknown]", "[unknown]")]
    assert named(frames) == ("work",)
    assert named([Frame(KERNEL, "[unknown]", "[kernel.kallsyms]"), *frames]) == ("work", "[kernel]")


def test_functions_of_sqlite_have_one_name_in_its_library_and_linked_in() -> None:
    library = Frame(1, "sqlite3_step", "/usr/lib/libsqlite3.so.0.8.6")
    assert named([library]) == named([Frame(1, "sqlite3_step", "/opt/dbversus-engine")]) == ("sqlite3_step",)


def test_functions_of_two_builds_of_a_library_have_the_same_names_whatever_their_files_are_called() -> None:
    frames = [
        Frame(1, "step", "/opt/a-1.2.so"),
        Frame(2, "malloc", "/lib/libc.so.6"),
        Frame(3, "[unknown]", "/opt/a-1.2.so"),
    ]
    stack = named(frames)
    assert stack == ("[a]", "malloc [libc]", "step [a]")
    assert in_server(stack, library_name("a-1.2.so")) == ("[libsqlite3]", "malloc [libc]", "step")


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        ("DsMrr_impl::dsmrr_close", ("DsMrr_impl", "dsmrr_close")),
        ("std::map<A::B, C::D<E> >::swap", ("std::map", "swap")),
        ("get<A::B>", ("", "get")),
        ("malloc [libc]", ("", "malloc")),
        ("[libfoo]", ("", "[libfoo]")),
        ("A::operator<<", ("A", "operator<<")),
    ],
)
def test_a_function_has_a_class_and_a_name_of_its_own(function: str, parts: tuple[str, str]) -> None:
    assert parts_of(function) == parts


def test_a_long_name_is_shown_without_the_arguments_of_its_templates() -> None:
    long = "std::_Hashtable<std::basic_string<char, std::char_traits<char> >, std::pair<int, A> >::find<true>"
    assert shortened(long) == "std::_Hashtable<…>::find<…>"
    assert shortened("Buf_fetch<Buf_fetch_normal>::single_page") == "Buf_fetch<Buf_fetch_normal>::single_page"
    assert shortened(f"A::operator<< {'x' * 60}") == f"A::operator<< {'x' * 60}"
