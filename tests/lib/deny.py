# SPDX-License-Identifier: Apache-2.0
"""Runs a program in a sandbox that answers some system calls with an error.

usage: deny.py NAME=ERROR... -- PROGRAM...   NAME: a key of CALLS below; ERROR: EPERM, ENOSYS, ...
"""
import ctypes
import errno
import os
import platform
import struct
import sys

X86 = platform.machine() == "x86_64"
ARCH = 0xC000003E if X86 else 0xC00000B7
# Number of each system call on this machine. If two more numbers follow, the call is denied only if
# the argument of this index has this value.
CALLS = {
    "renameat2": (316 if X86 else 276, None, None),
    "link": (265 if X86 else 37, None, None),
    "populate": (28 if X86 else 233, 2, 23),  # madvise(MADV_POPULATE_WRITE)
    "fallocate": (285 if X86 else 47, None, None),
    "wipe": (28 if X86 else 233, 2, 18),  # madvise(MADV_WIPEONFORK)
    "lock": (72 if X86 else 25, 1, 37),  # fcntl(F_OFD_SETLK)
    "pidfd": (434, None, None),
    "close_range": (436, None, None),
    "process_vm_readv": (310 if X86 else 270, None, None),
    "statx": (332 if X86 else 291, None, None),
    "clock_gettime": (228 if X86 else 113, None, None),
    "faccessat": (269 if X86 else 48, None, None),
    "fstat": (5 if X86 else 80, None, None),
    "ftruncate": (77 if X86 else 46, None, None),
    "getrusage": (98 if X86 else 165, None, None),
    "mkdirat": (258 if X86 else 34, None, None),
    "prctl": (157 if X86 else 167, None, None),
    "pwritev": (296 if X86 else 70, None, None),
    "readlinkat": (267 if X86 else 78, None, None),
    "symlinkat": (266 if X86 else 36, None, None),
}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


def code(operation, value, yes=0, no=0):
    return struct.pack("<HBBI", operation, yes, no, value)


def program(denied):
    text = code(LOAD, 4) + code(EQUAL, ARCH, 1, 0) + code(RETURN, ALLOW)
    for name, error in denied:
        number, argument, value = CALLS[name]
        text += code(LOAD, 0)
        if argument is None:
            text += code(EQUAL, number, 0, 1)
        else:
            text += code(EQUAL, number, 0, 3)
            text += code(LOAD, 16 + 8 * argument) + code(EQUAL, value, 0, 1)
        text += code(RETURN, ERRNO | error)
    return text + code(RETURN, ALLOW)


def main():
    at = sys.argv.index("--")
    denied = [(name, getattr(errno, error)) for name, _, error in
              (word.partition("=") for word in sys.argv[1:at])]
    text = program(denied)
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(text, len(text))
    filter_ = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(buffer))
    # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP with a filter
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter_, 0, 0):
        sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[at + 1], sys.argv[at + 1:])


main()
