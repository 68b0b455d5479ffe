"""The limits that the reading process sets itself before it looks at a file, and can't take back.

A file may make the libraries that read it do anything, so nothing here trusts their code. On Linux the kernel
itself refuses every call that is not listed (seccomp), and every file but those of the interpreter (Landlock,
where there is that). An audit hook refuses the same in Python, on every system: on macOS and Windows that, an
empty environment and the bot's clock are all there is, on macOS also a bound of the processor's time;
neither has a bound of memory that holds.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator

MEMORY_BYTES = 512 * 2**20
CPU_S = 15
OPEN_FILES = 64

_PERMITTED_OF_OS = frozenset({"os.listdir", "os.scandir"})
_REFUSED = (
    *(
        "os.",
        "shutil.",
        "subprocess.",
        "socket.",
        "pty.",
        "signal.pthread_kill",
        "mmap.",
        "sqlite3.",
        "winreg.",
    ),
    *(
        "tempfile.",
        "ctypes.dlopen",
        "urllib.",
        "http.",
        "ftplib.",
        "smtplib.",
        "_winapi.",
        "_posixsubprocess.",
    ),
)
"""What begins so reaches out of the process."""


def enter(*, memory_bytes: int = MEMORY_BYTES, cpu_s: int = CPU_S) -> None:
    """Give up what a reader does not need, for good. What this system can't refuse is left out."""
    sys.dont_write_bytecode = True
    _limit_resources(memory_bytes, cpu_s)
    readable = _readable_folders()
    if sys.platform == "linux":
        _be_ended_first()
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        _confine_files(libc, readable)
        _confine_calls(libc)
    _refuse_in_python(readable)


def _be_ended_first() -> None:
    """Have the kernel end this process, and not the bot, where the machine is out of memory."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 - pathlib is slow to load
            score.write("1000")
    except OSError:  # a system that does not let it: the bound of memory holds anyhow
        return


def _limit_resources(memory_bytes: int, cpu_s: int) -> None:
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - Windows has none

    limits = (
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
        (resource.RLIMIT_CPU, cpu_s, cpu_s + 1),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    )
    for which, soft, hard in limits:
        try:
            resource.setrlimit(which, (soft, hard))
        except (ValueError, OSError):  # macOS knows no bound of address space below what is in use
            continue


def _readable_folders() -> tuple[str, ...]:
    """The folders of the interpreter, its packages and of cc_bot, beside which nothing can be opened."""
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120 - pathlib is slow to load
    packages = (path for path in sys.path if path.rstrip("/\\").endswith(("site-packages", "dist-packages")))
    system = ("/usr/lib", "/usr/lib64", "/lib", "/lib64") if sys.platform == "linux" else ()
    found = (sys.prefix, sys.base_prefix, own, os.path.dirname(os.__file__), *packages, *system)  # noqa: PTH120
    there = [folder for folder in found if os.path.isdir(folder)]  # noqa: PTH112
    # As they are written too: an environment may stand behind a link, and files are opened by either.
    return tuple(dict.fromkeys((*there, *map(os.path.realpath, there))))


# ---- in Python -------------------------------------------------------------------------------------------


def _refuse_in_python(readable: Iterable[str]) -> None:
    beginnings = tuple(folder.rstrip(os.sep) + os.sep for folder in readable)

    def refuse(event: str, details: tuple[object, ...]) -> None:
        if event == "open":
            _check_open(details, beginnings)
        elif event.startswith(_REFUSED) and event not in _PERMITTED_OF_OS:
            raise PermissionError(event)

    sys.addaudithook(refuse)


def _check_open(details: tuple[object, ...], beginnings: tuple[str, ...]) -> None:
    """Raise PermissionError unless a file of the interpreter is opened to be read."""
    path, mode, flags = details
    writes = isinstance(mode, str) and not set("wax+").isdisjoint(mode)
    by_flags = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if (
        writes
        or by_flags
        or not isinstance(path, str | bytes)
        or not os.fsdecode(path).startswith(beginnings)
    ):
        raise PermissionError("open")


# ---- files: Landlock -------------------------------------------------------------------------------------
# linux/landlock.h. The numbers of the three calls are the same on every architecture.

_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ALL_OF_FIRST_VERSION = (1 << 13) - 1
_READ_FILE, _READ_DIRECTORY = 1 << 2, 1 << 3
_PATH_BENEATH = 1


def _confine_files(libc: ctypes.CDLL, readable: Iterable[str]) -> None:
    """Let nothing be opened but what is beneath these folders, and that only to be read."""
    handled = ctypes.create_string_buffer(struct.pack("=Q", _ALL_OF_FIRST_VERSION), 8)
    ruleset = libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(8), 0)
    if ruleset < 0:  # an older kernel, or a container that keeps it from us
        return
    for folder in readable:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", _READ_FILE | _READ_DIRECTORY, opened), 12)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        os.close(opened)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


# ---- calls of the kernel: seccomp ------------------------------------------------------------------------
# What is not listed fails with EPERM. None of these starts a process, reaches a network or changes a file.

_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_ALLOW, _FAIL_WITH_EPERM, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06

_CALLS: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        (
            *(0, 1, 2, 3, 4, 5, 6, 8, 9),  # read write open close stat fstat lstat lseek mmap
            *(10, 11, 12, 13, 14, 15),  # mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn
            *(16, 17, 19, 20, 21, 24),  # ioctl pread64 readv writev access sched_yield
            *(25, 28, 32, 39, 60, 63, 72),  # mremap madvise dup getpid exit uname fcntl
            *(79, 89, 96, 97, 98, 99),  # getcwd readlink gettimeofday getrlimit getrusage sysinfo
            *(131, 158, 186, 201, 202),  # sigaltstack arch_prctl gettid time futex
            *(
                204,
                217,
                219,
                228,
                229,
            ),  # sched_getaffinity getdents64 restart_syscall clock_gettime clock_getres
            *(231, 234, 257, 262, 267),  # exit_group tgkill openat newfstatat readlinkat
            *(273, 318, 324, 332, 334, 439),  # set_robust_list getrandom membarrier statx rseq faccessat2
        ),
    ),
    "aarch64": (
        0xC00000B7,
        (
            *(17, 23, 25, 29, 48, 56, 57),  # getcwd dup fcntl ioctl faccessat openat close
            *(61, 62, 63, 64, 65, 66, 67),  # getdents64 lseek read write readv writev pread64
            *(78, 79, 80, 93, 94, 98),  # readlinkat newfstatat fstat exit exit_group futex
            *(
                99,
                113,
                114,
                123,
                124,
            ),  # set_robust_list clock_gettime clock_getres sched_getaffinity sched_yield
            *(
                128,
                131,
                132,
                134,
                135,
                139,
            ),  # restart_syscall tgkill sigaltstack rt_sigaction -procmask -return
            *(160, 163, 165, 169, 172, 178),  # uname getrlimit getrusage gettimeofday getpid gettid
            *(179, 214, 215, 216, 222, 226),  # sysinfo brk munmap mremap mmap mprotect
            *(233, 278, 283, 291, 293, 439),  # madvise getrandom membarrier statx rseq faccessat2
        ),
    ),
}
"""By machine: what the kernel calls it, and the numbers of its calls."""


def _confine_calls(libc: ctypes.CDLL) -> None:
    """Have the kernel refuse every call that is not listed. Of other machines nobody listed them."""
    known = _CALLS.get(platform.machine()) if sys.maxsize > 2**32 else None
    if known is None:
        return
    instructions = b"".join(_filter(*known))
    code = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("@HP", len(instructions) // 8, ctypes.addressof(code))
    handed = ctypes.create_string_buffer(program, len(program))
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, handed, 0, 0)


def _filter(machine: int, calls: tuple[int, ...]) -> Iterator[bytes]:
    """Yield the instructions: another machine's calls end the process; those listed pass."""
    yield _instruction(_LOAD, 4)
    yield _instruction(_JUMP_IF_EQUAL, machine, 1, 0)
    yield _instruction(_RETURN, _KILL)
    yield _instruction(_LOAD, 0)
    for left, call in zip(range(len(calls), 0, -1), calls, strict=True):
        yield _instruction(_JUMP_IF_EQUAL, call, left, 0)
    yield _instruction(_RETURN, _FAIL_WITH_EPERM)
    yield _instruction(_RETURN, _ALLOW)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
