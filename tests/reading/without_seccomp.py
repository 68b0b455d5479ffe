"""Run a command whose prctl(PR_SET_SECCOMP) fails, as on a kernel or in a container that has no seccomp."""

import ctypes
import os
import platform
import struct
import sys

LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL_WITH_EINVAL = 0x7FFF0000, 0x00050016
PRCTL = {"x86_64": 157, "aarch64": 167}
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2

INSTRUCTIONS = (
    (LOAD, 0, 0, 0),  # the number of the call
    (JUMP_IF_EQUAL, 0, 3, PRCTL[platform.machine()]),
    (LOAD, 0, 0, 16),  # its first argument
    (JUMP_IF_EQUAL, 0, 1, SECCOMP),
    (RETURN, 0, 0, FAIL_WITH_EINVAL),
    (RETURN, 0, 0, ALLOW),
)


def main() -> None:
    libc = ctypes.CDLL(None)
    packed = b"".join(struct.pack("=HBBI", *each) for each in INSTRUCTIONS)
    code = ctypes.create_string_buffer(packed, len(packed))
    program = struct.pack("@HP", len(INSTRUCTIONS), ctypes.addressof(code))
    assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(SECCOMP, FILTER, ctypes.create_string_buffer(program, len(program)), 0, 0) == 0
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
