import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

_PACKAGES: Final = ("cc_bot.app", "cc_bot.discord", "cc_bot.features", "cc_bot.llm", "cc_bot.terminal")
_NOT_LOADED: Final = ("cc_bot.features.documents.", "cc_bot.features.mcp.", ".web")
"""Needs a library that programs load when used, or is a program."""
_ON_THE_WAY: Final = ("cc_bot.log", "httpcore2", "anyio._backends._asyncio", "importlib.readers")
_LARGEST_ORDER: Final = 2**16
_STANDARD: Final = 3
"""Descriptors that every program has: stdin, stdout, stderr."""


@dataclass(frozen=True, slots=True)
class Order:
    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]
    module: str = "cc_bot"
    """The program; its `main` is run."""


class Nursery:
    def __init__(self, orders: socket.socket, process_id: int) -> None:
        self._orders = orders
        self._process_id = process_id

    def begin(self, order: Order, stdin: int, stdout: int, stderr: int) -> tuple[int, socket.socket]:
        """Start a program with these descriptors; its process id, and the socket that tells its exit code."""
        ours, theirs = socket.socketpair()
        with theirs:
            line = json.dumps([order.arguments, order.folder, dict(order.environment), order.module]).encode()
            socket.send_fds(self._orders, [line], [stdin, stdout, stderr, theirs.fileno()])
        return int(ours.recv(32)), ours

    def close(self) -> None:
        self._orders.close()
        os.waitpid(self._process_id, 0)


def open_nursery(environment: Mapping[str, str]) -> Nursery:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.set_inheritable(True)
        process_id = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            {**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(_STANDARD - 1)
            ],
        )
    return Nursery(ours, process_id)


def main() -> None:
    _load()
    order = _serve(socket.socket(fileno=int(sys.argv[1])))
    if order:
        _become(order)


def _load() -> None:
    importlib.import_module("cc_bot.app.cli")
    for name in _PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not any(part in module.name for part in _NOT_LOADED):
                importlib.import_module(module.name)
    for name in _ON_THE_WAY:
        importlib.import_module(name)
    # The lists of words, which each program would read: a tenth of a second of processor time.
    importlib.import_module("cc_bot.features.memory.search.terms").count_terms("猫")
    gc.collect()
    gc.freeze()  # shared by all programs, as long as nobody touches it


def _serve(orders: socket.socket) -> Order | None:
    """Returns in each program with its order, and in the nursery, without one, at its end."""
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    running = dict[int, socket.socket]()
    with orders, woken, wakes, _told_of_ends(wakes):
        while True:
            ready, _, _ = select.select([orders, woken], [], [])
            if woken in ready:
                woken.recv(_LARGEST_ORDER)
                _tell_ends(running)
            if orders not in ready:
                continue
            data, descriptors, _, _ = socket.recv_fds(orders, _LARGEST_ORDER, _STANDARD + 1)
            if not data:
                return None
            report = socket.socket(fileno=descriptors.pop())
            if not (process_id := os.fork()):
                for told in (report, *running.values()):
                    told.close()
                _take_over(descriptors)
                return Order(*json.loads(data))
            for given in descriptors:
                os.close(given)
            running[process_id] = report
            report.send(str(process_id).encode())


@contextmanager
def _told_of_ends(wakes: socket.socket) -> Iterator[None]:
    """Something is to be read from the other end when a program has ended."""
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler nobody is woken
    signal.set_wakeup_fd(wakes.fileno())
    try:
        yield
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _tell_ends(running: dict[int, socket.socket]) -> None:
    for process_id in list(running):
        ended, status = os.waitpid(process_id, os.WNOHANG)
        if ended:
            with running.pop(process_id) as report, suppress(OSError):  # nobody may be left to hear it
                report.send(str(os.waitstatus_to_exitcode(status)).encode())


def _take_over(descriptors: Sequence[int]) -> None:
    for number, given in enumerate(descriptors):
        os.dup2(given, number)
        os.close(given)
    # Made anew: what Python has of them was made for the nursery's own.
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - as long as the program
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - likewise
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - likewise


def _become(order: Order) -> None:
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    sys.argv = ["cc-bot", *order.arguments]
    program = importlib.import_module("cc_bot.app.cli" if order.module == "cc_bot" else order.module)
    sys.exit(program.main())


if __name__ == "__main__":
    main()
