"""Landlock: restricts files, TCP, signals and abstract sockets, without bubblewrap.

It needs version 6 of the interface (Linux 6.12), as older ones do not restrict signals.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from .kernel import syscall

WANTED_VERSION = 6
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _DEVICE_IOCTL = 1 << 14, 1 << 15
_ALL_FILES = (1 << 16) - 1
_MAKE_DEVICES = 1 << 6 | 1 << 11
_ALL_NETWORK = 3
_ALL_SCOPES = 3
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_IOCTL
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OWN = _ALL_FILES & ~(_MAKE_DEVICES | _DEVICE_IOCTL)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def version() -> int:
    """The kernel's version of the interface; 0 if it has none."""
    try:
        return syscall(_CREATE, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def restrict(readable: list[str], own: list[str]) -> None:
    """Allow this process and its children to read and run `readable`, and also to write `own`.

    Raises:
        OSError: The kernel refused.
    """
    ruleset = _buffer(struct.pack("=QQQ", _ALL_FILES, _ALL_NETWORK, _ALL_SCOPES))
    fd = syscall(_CREATE, ruleset, ctypes.sizeof(ruleset), 0)
    try:
        for path in readable:
            _allow(fd, path, _READ)
        for path in own:
            _allow(fd, path, _OWN)
        for path in _DEVICES:
            _allow(fd, path, _READ_FILE | _WRITE_FILE)
        _allow(fd, "/proc/self", _READ_FILE | _READ_DIR)
        syscall(_RESTRICT, fd, 0)
    finally:
        os.close(fd)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _ON_FILES
        rule = _buffer(struct.pack("=Qi", rights, fd))
        syscall(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def _buffer(data: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(data, len(data))
