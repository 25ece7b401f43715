"""The filter of system calls, run step by step as the kernel does, and loaded for real."""

from __future__ import annotations

import errno
import os
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.sandbox.inside import bpf
from tests.support.processes import exit_code_of

X86, ARM = 0xC000003E, 0xC00000B7
ALLOW, KILL = 0x7FFF0000, 0x80000000
NUMBERS = {True: {"read": 0, "clone": 56, "clone3": 435, "socket": 41, "ioctl": 16, "prlimit": 302}, False: {"read": 63, "clone": 220, "clone3": 435, "socket": 198, "ioctl": 29, "prlimit": 261}}  # fmt: skip


def verdict(number: int, *arguments: int, x86: bool = True, arch: int | None = None, own: bool = True, cut_by_name: bool = True) -> int:  # fmt: skip
    """What the filter returns for a call: a machine of five instructions."""
    families = (1,) if own else ()
    program = bpf.program(x86=x86, own_ipc=own, families=families, cut_by_name=cut_by_name)
    return run(program, number, *arguments, arch=arch or (X86 if x86 else ARM))


def run(program: bytes, number: int, *arguments: int, arch: int, caller: int = 0) -> int:
    """What a filter returns for a call; `caller` is the address after the instruction."""
    steps = [struct.unpack("=HBBI", program[at : at + 8]) for at in range(0, len(program), 8)]
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, arch, caller, *words)
    at, value = 0, 0
    while True:
        code, yes, no, k = steps[at]
        at += 1
        if code == 0x20:
            value = struct.unpack_from("=I", data, k)[0]
        elif code == 0x06:
            return int(k)
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            at += yes if holds else no


BOTH = pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
REFERRED = 0x7FC00000
VDSO, OURS = (0x7FFF_F7FC_1000, 0x7FFF_F7FC_3000), (0x7F00_0000, 0x7F00_2000)
SYSCALL = 0x7FFF_F7D0_1234


def referred(x86: bool, number: int, *arguments: int, caller: int = 0) -> bool:
    """Whether the filter of calls that are referred does so, where addresses are known."""
    program = bpf.referring(x86=x86, clocks=[VDSO, OURS], by_number=SYSCALL)
    found = run(program, number, *arguments, arch=X86 if x86 else ARM, caller=caller)
    return found == REFERRED


@BOTH
def test_what_signals_or_counts_is_referred_and_nothing_else(x86: bool) -> None:
    program, arch = bpf.referring(x86=x86), X86 if x86 else ARM
    kinds = bpf.reached(x86=x86)
    always = {number for number, kind in kinds.items() if kind == bpf.SIGNAL}
    always |= {98, 100, 73} if x86 else {165, 153, 32}
    found = {n: run(program, n, arch=arch) for n in range(bpf.NEWEST_KNOWN + 1)}
    assert {n for n, result in found.items() if result == REFERRED} == always
    assert {n for n, result in found.items() if result == refused(errno.EPERM)} == {424}
    control = 72 if x86 else 25
    assert run(program, control, 5, 8, arch=arch) == refused(errno.EPERM)
    assert run(program, control, 5, 3, arch=arch) == ALLOW
    assert run(program, NUMBERS[x86]["ioctl"], 5, 0x8901, arch=arch) == refused(errno.EPERM)


@BOTH
def test_what_copies_would_share_is_referred(x86: bool) -> None:
    memory, control = (9, 72) if x86 else (222, 25)
    assert not referred(x86, memory, 0, 4096, 3, 0x22)
    for flags in (1, 3, 0x21, 0x4021, 0x100001):
        assert referred(x86, memory, 0, 4096, 0, flags), "it may be made writable later"
    assert [f for f in range(46) if referred(x86, NUMBERS[x86]["socket"], f)] == [2, 10]
    assert [c for c in range(1100) if referred(x86, control, 3, c)] == [5, 6, 7, 36, 37, 38]
    assert referred(x86, control, 0, 4) and not referred(x86, control, 4, 4), "flags of a file"
    assert referred(x86, NUMBERS[x86]["ioctl"], 0, 0x5421)
    kinds = bpf.reached(x86=x86)
    assert kinds[bpf.by_request(control, 5)] == bpf.HELD and kinds[control] == bpf.LOCKS


@BOTH
def test_who_asks_for_another_process_is_referred_and_who_asks_for_itself_is_not(x86: bool) -> None:
    asked = {n for n, kind in bpf.reached(x86=x86).items() if kind == bpf.PROCESS}
    priority = 140 if x86 else 141
    assert asked == {121, 124, 143, 145, 148, 204, 434, 140} if x86 else priority in asked
    for number in asked:
        assert not referred(x86, number)
        assert referred(x86, number, *((0, 7) if number == priority else (7,)))
    options = (55, 54) if x86 else (209, 208)
    for number in options:
        assert [o for o in range(99) if referred(x86, number, 3, 1, o)] == [16, 17, 59, 76, 77]


@BOTH
def test_a_clock_is_read_only_where_the_system_reads_it(x86: bool) -> None:
    clocks = {n for n, kind in bpf.reached(x86=x86).items() if kind == bpf.CLOCK}
    assert clocks == ({228, 96, 201} if x86 else {113, 169})
    for clock in clocks:
        for caller in (VDSO[0], VDSO[0] + 0x123, VDSO[1] - 1, OURS[0], OURS[1] - 1):
            assert not referred(x86, clock, caller=caller)
        for caller in (
            0,
            VDSO[0] - 1,
            VDSO[1],
            VDSO[1] + 0x1000,
            VDSO[0] ^ 1 << 40,
            VDSO[0] & 0xFFFFFFFF,
            OURS[0] - 1,
            OURS[1],
        ):
            assert referred(x86, clock, caller=caller)
    own = [n for n in range(12) if not referred(x86, 228 if x86 else 113, n)]
    assert own == [2, 3], "the time that a process or thread has worked"
    unknown = bpf.referring(x86=x86)
    assert all(run(unknown, n, arch=X86 if x86 else ARM) == ALLOW for n in clocks)


@BOTH
def test_a_call_by_number_is_referred_but_for_what_libraries_need(x86: bool) -> None:
    quiet = {n for n in range(bpf.NEWEST_KNOWN + 1) if not referred(x86, n, caller=SYSCALL)}
    libraries = (
        {56, 202, 186, 318, 324, 217, 436, 326} if x86 else {220, 98, 178, 278, 283, 61, 436, 285}
    )
    assert quiet == libraries | {424}, "and the one that is refused"
    stat, other = (4 if x86 else 80), SYSCALL ^ 1 << 33
    assert not any(
        referred(x86, stat, caller=caller) for caller in (SYSCALL - 1, SYSCALL + 1, other)
    )


@pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
def test_nothing_starts_where_that_is_shut_and_nothing_else_changes(x86: bool) -> None:
    arch = X86 if x86 else ARM
    calls = range(bpf.NEWEST_KNOWN + 1)
    usual, shut = (
        {n: run(program, n, arch=arch) for n in calls}
        for program in (
            bpf.program(x86=x86, own_ipc=False, families=(), starts=starts)
            for starts in (True, False)
        )
    )
    changed = {n: result for n, result in shut.items() if usual[n] != result}
    assert changed == dict.fromkeys((56, 57, 58) if x86 else (220,), refused(errno.EAGAIN))
    assert usual[435] == refused(errno.ENOSYS), "or `clone3` would start them"
    shut_in = bpf.program(x86=x86, own_ipc=False, families=(), starts=False)
    clone = NUMBERS[x86]["clone"]
    kinds = {"a copy": 0x8011, "a thread": 0x3D0F00, "a thread beside": 0x3D8F00, "vfork": 0xC111}
    found = {kind: run(shut_in, clone, flags, arch=arch) for kind, flags in kinds.items()}
    assert found.pop("a copy") == ALLOW and set(found.values()) == {refused(errno.EAGAIN)}


def refused(code: int) -> int:
    return 0x00050000 | code


@pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
@pytest.mark.parametrize("name", bpf.DENIED)
def test_denied_calls_are_refused(name: str, x86: bool) -> None:
    number = bpf.DENIED[name][0 if x86 else 1]
    if number is not None:
        assert verdict(number, x86=x86) == refused(errno.EPERM)


@pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
def test_calls_that_depend_on_an_argument(x86: bool) -> None:
    n = NUMBERS[x86]
    assert verdict(n["read"], x86=x86) == ALLOW
    assert verdict(n["clone"], 17, x86=x86) == ALLOW
    assert verdict(n["clone"], 0x10000000 | 17, x86=x86) == refused(errno.EPERM)
    assert verdict(n["clone3"], x86=x86) == refused(errno.ENOSYS)
    assert verdict(n["socket"], 1, x86=x86) == ALLOW
    assert verdict(n["socket"], 1, x86=x86, own=False) == refused(errno.EAFNOSUPPORT)
    for family in (2, 10, 16, 17, 38, 40):
        assert verdict(n["socket"], family, x86=x86) == refused(errno.EAFNOSUPPORT)
    assert verdict(n["ioctl"], 0, 0x5401, x86=x86) == ALLOW
    assert verdict(n["ioctl"], 0, 0xFFFFFFFF_00005412, x86=x86) == refused(errno.EPERM)
    assert verdict(n["prlimit"], 0, x86=x86) == ALLOW
    assert verdict(n["prlimit"], 1, x86=x86) == refused(errno.EPERM)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_another_architecture_is_killed(number: int, arch: int) -> None:
    if arch not in (0, X86):
        assert verdict(number, arch=arch) == KILL


@given(st.integers(bpf.NEWEST_KNOWN + 1, 2**32 - 1))
def test_newer_calls_and_x32_are_not_there(number: int) -> None:
    assert verdict(number) == refused(errno.ENOSYS)


@pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
def test_pairs_but_of_streams_are_refused_where_sockets_with_names_are(x86: bool) -> None:
    pair, flags = 53 if x86 else 199, os.O_CLOEXEC | os.O_NONBLOCK
    for kind in (1, 1 | flags):
        assert verdict(pair, 1, kind, x86=x86, own=False) == ALLOW
    for kind in (2, 3, 4, 5, 2 | flags, 5 | flags):
        assert verdict(pair, 1, kind, x86=x86, own=False) == refused(errno.EPERM)
        assert verdict(pair, 1, kind, x86=x86) == ALLOW


@pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
def test_cutting_files_by_name_is_refused_on_request(x86: bool) -> None:
    number = bpf.CUT_BY_NAME[0 if x86 else 1]
    assert verdict(number, x86=x86) == ALLOW
    assert verdict(number, x86=x86, cut_by_name=False) == refused(errno.EPERM)


@pytest.mark.parametrize("x86", [True, False], ids=["x86_64", "aarch64"])
def test_only_its_own_priority_is_set(x86: bool) -> None:
    column = 0 if x86 else 1
    for number, own in (((141, 140), 0), ((251, 30), 1)):
        for kind in (0, 1, 2, 3):
            for pid in (0, 1234):
                allowed = kind == own and pid == 0
                said = verdict(number[column], kind, pid, x86=x86)
                assert said == (ALLOW if allowed else refused(errno.EPERM))


def test_memory_that_is_mapped_nowhere_is_not_to_be_had() -> None:
    for name in ("memfd_create", "memfd_secret", "shmget", "shmat"):
        assert verdict(bpf.DENIED[name][0] or 0) == refused(errno.EPERM)


def test_shared_ipc_is_refused_without_a_namespace_for_it() -> None:
    for numbers in bpf.SHARED_IPC.values():
        assert verdict(numbers[0] or 0) == ALLOW
        assert verdict(numbers[0] or 0, own=False) == refused(errno.EPERM)


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
def test_the_kernel_takes_it_and_refuses() -> None:
    from quizlog_tui.sandbox.inside import confine, kernel

    column = 0 if kernel.X86 else 1

    def tries_all() -> int:
        """How many calls did not fail as they should."""
        kernel.prctl(kernel.SET_NO_NEW_PRIVS, 1)
        confine.load_filter(own_namespaces=True)
        wrong = 0
        for numbers in bpf.DENIED.values():
            number = numbers[column]
            if number is not None:
                try:
                    kernel.syscall(number, 0, 0, 0, 0, 0, 0)
                    wrong += 1
                except OSError as error:
                    wrong += error.errno != errno.EPERM
        return wrong

    assert exit_code_of(tries_all) == 0
