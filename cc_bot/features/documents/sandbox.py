"""Irreversible limits that the reading process sets before it reads a file.

On Linux seccomp refuses unlisted system calls: opening files, starting processes, the network, signals. An
audit hook refuses the same in Python on every system. Linux and macOS allow no new descriptors and processes;
only Linux limits memory. Modules can't be imported afterwards.
"""

import ctypes
import platform
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress

MEMORY_BYTES = 124 * 2**20  # a scan of 20 MB needs it: with less, PDFium silently draws white pages
CPU_S = 15

_PERMITTED_EVENTS = frozenset({"os.listdir", "os.scandir"})  # raised by failing imports
_REFUSED_EVENTS = (
    *("open", "os.", "shutil.", "subprocess.", "socket.", "pty.", "signal.pthread_kill", "mmap."),
    *("sqlite3.", "winreg.", "tempfile.", "ctypes.dlopen", "urllib.", "http.", "ftplib.", "smtplib."),
    *("_winapi.", "_posixsubprocess."),
)
"""Prefixes of audit events: actions that affect more than the process."""


class NotConfined(Exception):
    """The kernel does not filter system calls."""


def enter_sandbox(*, memory_bytes: int = MEMORY_BYTES, cpu_s: int = CPU_S) -> None:
    """Set all limits. Raises NotConfined, after setting the others, if system calls can't be filtered."""
    sys.dont_write_bytecode = True
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if libc:
        _prefer_for_oom_killer()
    _limit_resources(memory_bytes, cpu_s)
    sys.addaudithook(_refuse_event)
    if libc is None or not _filter_system_calls(libc):
        raise NotConfined


def _prefer_for_oom_killer() -> None:
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - pathlib loads slowly
        score.write("1000")


def _limit_resources(memory_bytes: int, cpu_s: int) -> None:
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - Windows has none

    limits = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for kind, maximum in limits.items():
        hard = resource.getrlimit(kind)[1]
        limit = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
        with suppress(ValueError, OSError):  # macOS refuses limits below the used address space
            resource.setrlimit(kind, (limit, limit))


def _refuse_event(event: str, _: tuple[object, ...]) -> None:
    if event.startswith(_REFUSED_EVENTS) and event not in _PERMITTED_EVENTS:
        raise PermissionError(event)


# Unlisted calls fail with EPERM. fcntl and ioctl are not listed: they could send signals. Without tgkill,
# abort() ends the process by an illegal instruction.

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_ALLOW, _FAIL_WITH_EPERM, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_CALL_OFFSET, _MACHINE_OFFSET = 0, 4  # in the kernel's seccomp_data

_SYSTEM_CALLS: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        (
            *(0, 1, 3, 4, 5, 6, 8, 9),  # read write close stat fstat lstat lseek mmap
            *(10, 11, 12, 13, 14, 15),  # mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn
            *(17, 19, 20, 21, 24, 25),  # pread64 readv writev access sched_yield mremap
            *(28, 39, 60, 63, 79),  # madvise getpid exit uname getcwd
            *(96, 97, 98, 99),  # gettimeofday getrlimit getrusage sysinfo
            *(131, 158, 186, 201, 202),  # sigaltstack arch_prctl gettid time futex
            *(204, 219, 228, 229),  # sched_getaffinity restart_syscall clock_gettime clock_getres
            *(231, 262, 273, 318),  # exit_group newfstatat set_robust_list getrandom
            *(324, 332, 334, 439),  # membarrier statx rseq faccessat2
        ),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(17, 48, 57, 62),  # getcwd faccessat close lseek
            *(63, 64, 65, 66, 67),  # read write readv writev pread64
            *(79, 80, 93, 94, 98, 99),  # newfstatat fstat exit exit_group futex set_robust_list
            *(113, 114, 123, 124),  # clock_gettime clock_getres sched_getaffinity sched_yield
            *(128, 132, 134, 135, 139),  # restart_syscall sigaltstack rt_sigaction -procmask -return
            *(160, 163, 165, 169, 172, 178),  # uname getrlimit getrusage gettimeofday getpid gettid
            *(179, 214, 215, 216, 222, 226),  # sysinfo brk munmap mremap mmap mprotect
            *(233, 278, 283, 291, 293, 439),  # madvise getrandom membarrier statx rseq faccessat2
        ),
    ),
}
"""Each machine's number in the kernel (AUDIT_ARCH_…), and the numbers of the allowed calls."""


def _filter_system_calls(libc: ctypes.CDLL) -> bool:
    """Return False on failure, and if this machine's calls are not listed."""
    machine_and_calls = _SYSTEM_CALLS.get(platform.machine()) if sys.maxsize > 2**32 else None
    if machine_and_calls is None or libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    instructions = b"".join(_filter_program(*machine_and_calls))
    code = ctypes.create_string_buffer(instructions, len(instructions))
    sock_fprog = struct.pack("@HP", len(instructions) // 8, ctypes.addressof(code))
    argument = ctypes.create_string_buffer(sock_fprog, len(sock_fprog))
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, argument, 0, 0) == 0)


def _filter_program(machine: int, calls: tuple[int, ...]) -> Iterator[bytes]:
    """Yield BPF instructions. A call in another machine's convention kills the process."""
    yield _instruction(_LOAD, _MACHINE_OFFSET)
    yield _instruction(_JUMP_IF_EQUAL, machine, 1, 0)
    yield _instruction(_RETURN, _KILL)
    yield _instruction(_LOAD, _CALL_OFFSET)
    for distance, call in zip(range(len(calls), 0, -1), calls, strict=True):
        yield _instruction(_JUMP_IF_EQUAL, call, distance, 0)
    yield _instruction(_RETURN, _FAIL_WITH_EPERM)
    yield _instruction(_RETURN, _ALLOW)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
