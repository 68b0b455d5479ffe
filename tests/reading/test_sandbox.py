"""Attacks from within the reading process, in Python and by system calls."""

import subprocess
import sys
from pathlib import Path

import pytest

ON_LINUX = sys.platform == "linux"

ENTERED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
from cc_bot.features.documents.sandbox import NotConfined, enter_sandbox
try:
    enter_sandbox({})
except NotConfined:
    assert sys.platform != "linux"
"""


def attack(source: str, limits: str = "") -> subprocess.CompletedProcess[str]:
    """Run an attacker's code in a process that has entered the sandbox."""
    code = ENTERED.format(limits) + source
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=Path.cwd()
    )


def outcomes(*expressions: str) -> list[str]:
    """Return the result of each expression in one process, or the name of its error."""
    source = "".join(
        f"try:\n    print({each})\nexcept BaseException as error:\n    print(type(error).__name__)\n"
        for each in expressions
    )
    told = attack(source)
    assert told.returncode == 0, told.stderr
    return told.stdout.splitlines()


REFUSED_BY_PYTHON = [
    "os.fork()",
    "os.system('true')",
    "os.execv('/bin/sh', ['sh'])",
    "__import__('subprocess').run(['true'])",
    "os.posix_spawn('/bin/true', ['true'], {})",
    "__import__('socket').socket()",
    "__import__('socket').getaddrinfo('localhost', 80)",
    "open('/etc/passwd').read()",
    "open(os.__file__).read()",
    "open('data/sessions.db', 'rb').read()",
    "open(os.__file__, 'a')",
    "os.open(os.__file__, os.O_RDWR)",
    "os.remove(os.__file__)",
    "os.rename(os.__file__, os.__file__ + 'x')",
    "os.mkdir('/tmp/x')",
    "ctypes.CDLL('libm.so.6')",
    "open(os.path.dirname(os.__file__) + '/../../../../../../../../etc/passwd').read()",
]
REFUSED_BY_THE_KERNEL = [
    "libc.fork()",
    "libc.socket(2, 1, 0)",
    "libc.kill(parent, 0)",
    "libc.tgkill(parent, parent, 0)",
    "libc.fcntl(0, 8, parent)",  # F_SETOWN: who is sent SIGIO, or what F_SETSIG says
    "libc.ioctl(0, 0x5452, ctypes.byref(ctypes.c_int(1)))",  # FIOASYNC: have it sent
    "libc.open(os.__file__.encode(), 0)",
    "libc.openat(-100, os.__file__.encode(), 0)",
    "libc.open(b'/etc/passwd', 0)",
    "libc.open(b'/proc/self/environ', 0)",
    "libc.open(b'/tmp/planted', 0o101, 0o600)",
    "libc.unlink(b'/tmp/planted')",
    "libc.ptrace(16, 1, 0, 0)",
    "libc.execl(b'/bin/true', b'true', None)",
]


class TestPython:
    def test_is_refused(self) -> None:
        told = dict(zip(REFUSED_BY_PYTHON, outcomes(*REFUSED_BY_PYTHON), strict=True))
        assert told == dict.fromkeys(REFUSED_BY_PYTHON, "PermissionError")


@pytest.mark.skipif(not ON_LINUX, reason="the kernel's own refusals are Linux's")
class TestKernel:
    """System calls, which no audit hook sees, as from a library that a file has taken over."""

    def test_refuses_too(self) -> None:
        told = dict(zip(REFUSED_BY_THE_KERNEL, outcomes(*REFUSED_BY_THE_KERNEL), strict=True))
        assert told == dict.fromkeys(REFUSED_BY_THE_KERNEL, "-1")

    def test_refuses_two_gigabytes(self) -> None:
        assert outcomes("bytearray(2 * 2**30)", "libc.calloc(2 * 2**15, 2**15)") == ["MemoryError", "0"]

    def test_ends_it_first_where_memory_is_out(self) -> None:
        code = ENTERED.format("") + "print(flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert Path(f"/proc/{process.pid}/oom_score_adj").read_text().strip() == "1000"

    @pytest.mark.slow
    def test_ends_an_endless_loop(self) -> None:
        assert attack("while True: pass", "cpu_s=1").returncode == -9

    def test_lets_a_library_abort(self) -> None:
        assert attack("libc.abort()").returncode < 0
