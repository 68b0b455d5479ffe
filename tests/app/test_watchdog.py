"""The watchdog in a process of its own; a hung loop is an end-to-end test."""

import asyncio
import os
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from cc_bot.app.core import keep_running, open_core, sweep
from cc_bot.app.watchdog import ServiceManager
from cc_bot.config import read_config
from cc_bot.domain.clock import utc_now

PROGRAM = """
import asyncio, sys, threading, time
from cc_bot.app import watchdog

async def main():
    dog = watchdog.Watchdog(watchdog.ServiceManager(""))
    dog.start()
    match sys.argv[1]:
        case "busy":
            await asyncio.to_thread(time.sleep, 4.0)
            for _ in range(8):
                time.sleep(0.5)
                await asyncio.sleep(0)
        case "leave":
            threading.Thread(target=time.sleep, args=(60,)).start()
            dog.limit_shutdown()
        case "end":
            dog.limit_shutdown()
            dog.stop()
            time.sleep(3.0)
            await asyncio.sleep(2.0)

asyncio.run(main())
"""


async def end_of(way: str) -> tuple[int | None, str]:
    """The exit code and the log of a program whose loop does this."""
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, way, stderr=PIPE)
    async with asyncio.timeout(60):
        _, log = await program.communicate()
    return program.returncode, log.decode()


class TestALoop:
    @pytest.mark.slow
    async def test_that_is_busy_is_left_alone_for_as_long_as_it_goes_on(self) -> None:
        assert await end_of("busy") == (0, "")


class TestAStop:
    @pytest.mark.slow
    async def test_that_a_thread_holds_up_is_ended_and_one_that_is_taken_back_bounds_nothing(self) -> None:
        (held_up, log), change_undone = await asyncio.gather(end_of("leave"), end_of("end"))
        assert (held_up, log.startswith("Timeout (")) == (1, True)
        assert change_undone == (0, "")


class TestServiceManager:
    @pytest.mark.parametrize("abstract", [False, True])
    def test_is_told_in_one_datagram_a_message(self, tmp_path: Path, *, abstract: bool) -> None:
        if abstract and sys.platform != "linux":
            abstract = False  # only Linux has such names
        address = f"@cc-bot-{os.getpid()}" if abstract else str(tmp_path / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind(address.replace("@", "\0", 1) if abstract else address)
            systemd.settimeout(5)
            manager = ServiceManager(address)
            manager.notify("READY=1")
            manager.notify("WATCHDOG=1")
            assert [systemd.recv(99), systemd.recv(99)] == [b"READY=1", b"WATCHDOG=1"]


class TestUpkeep:
    async def test_that_breaks_is_on_record_and_taken_up_again_until_it_is_cancelled(self) -> None:
        trouble, begun = [ValueError("何かが壊れた"), KeyError("again")], asyncio.Event()

        async def work() -> None:
            if trouble:
                raise trouble.pop()
            begun.set()
            await asyncio.Event().wait()

        with capture_logs() as records:
            task = asyncio.create_task(keep_running(work, pause_s=0))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert [record["event"] for record in records] == ["upkeep_broke", "upkeep_broke"]

    async def test_sweeps_once_for_each_change_of_processes(self, tmp_path: Path) -> None:
        changed = asyncio.Event()
        changed.set()
        config = read_config({"CC_BOT_DATABASE_URL": f"sqlite:///{tmp_path / 'sessions.db'}"})
        async with open_core(config, utc_now) as core, asyncio.timeout(60):
            sweeping = asyncio.create_task(sweep(core.stores, core.spending, changed))
            while changed.is_set():  # noqa: ASYNC110 - that it is not set is no event
                await asyncio.sleep(0.01)
            sweeping.cancel()
