"""The watchdog over a loop of its own, in a process of its own: it ends the process that it is in."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from cc_bot.app.watchdog import EXIT_STOOD, ServiceManager, Watchdog

PROGRAM = """
import asyncio, re, sys, threading, time
from cc_bot.app.watchdog import ServiceManager
from cc_bot.app.watchdog import Watchdog
from cc_bot.log import configure_logging

def stand_in_python():
    while True:
        pass

def stand_in_a_call():
    time.sleep(60)

def stand_in_a_pattern():
    re.match(r"(a+)+$", "a" * 60 + "geheim")

def stand_in_c():
    sum(range(10**12))

async def main():
    dog = Watchdog(ServiceManager(""), limit_s=2.0, leave_s=1.0)
    dog.begin()
    match sys.argv[1]:
        case "thread":
            await asyncio.to_thread(time.sleep, 4.0)
        case "steps":
            for _ in range(8):
                time.sleep(0.5)
                await asyncio.sleep(0)
        case "leave":
            threading.Thread(target=time.sleep, args=(60,)).start()
            dog.leave()
        case "end":
            dog.leave()
            dog.end()
            time.sleep(3.0)
            await asyncio.sleep(2.0)
        case name:
            await asyncio.sleep(0.1)
            globals()[name]()

configure_logging("info", "json")
asyncio.run(main())
"""


async def end_of(way: str) -> tuple[int | None, str]:
    """The exit code and the log of a program whose loop does this."""
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, way, stderr=PIPE)
    async with asyncio.timeout(60):
        _, log = await program.communicate()
    return program.returncode, log.decode()


class TestALoopThatStands:
    @pytest.mark.slow
    @pytest.mark.parametrize("way", ["stand_in_python", "stand_in_a_call"])
    async def test_is_ended_with_its_stack_in_the_log(self, way: str) -> None:
        code, log = await end_of(way)
        assert code == EXIT_STOOD
        [record] = map(json.loads, log.splitlines())
        assert (record["event"], record["level"]) == ("loop_stood", "critical")
        assert record["stack"][0].startswith("<string>:")
        assert record["stack"][0].endswith(f" {way}")
        assert any(line.startswith("base_events.py:") for line in record["stack"])

    @pytest.mark.slow
    @pytest.mark.parametrize("way", ["stand_in_a_pattern", "stand_in_c"])
    async def test_is_ended_by_the_kernel_where_no_python_can_run(self, way: str) -> None:
        code, log = await end_of(way)
        assert code == EXIT_STOOD
        assert f"in {way}" in log
        assert "geheim" not in log


class TestALoopThatIsBusy:
    @pytest.mark.parametrize("way", ["thread", "steps"])
    async def test_is_left_alone_for_as_long_as_it_goes_on(self, way: str) -> None:
        assert await end_of(way) == (0, "")


class TestAStop:
    async def test_that_a_thread_holds_up_is_ended(self) -> None:
        code, _ = await end_of("leave")
        assert code == EXIT_STOOD

    async def test_that_is_of_a_run_that_is_begun_anew_bounds_nothing_after_it(self) -> None:
        assert await end_of("end") == (0, "")

    def test_that_is_not_for_good_is_not_the_service_managers_to_know(self) -> None:
        told = list[str]()

        class Listening(ServiceManager):
            def tell(self, message: str) -> None:
                told.append(message)

        for for_good in (False, True):
            dog = Watchdog(Listening(""), leave_s=60)
            dog.leave(for_good=for_good)
            dog.end()
            assert (dog.leaving, told) == (for_good, ["STOPPING=1"] * for_good)


class TestServiceManager:
    @pytest.mark.parametrize("abstract", [False, True])
    async def test_is_told_in_one_datagram_a_message(self, tmp_path: Path, abstract: bool) -> None:
        if abstract and sys.platform != "linux":
            abstract = False  # only Linux has such names
        address = f"@cc-bot-{os.getpid()}" if abstract else str(tmp_path / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            systemd.bind(address.replace("@", "\0", 1) if abstract else address)
            systemd.settimeout(5)
            manager = ServiceManager(address)
            manager.tell("READY=1")
            manager.tell("WATCHDOG=1")
            assert [systemd.recv(99), systemd.recv(99)] == [b"READY=1", b"WATCHDOG=1"]

    @pytest.mark.parametrize("address", ["", "@nobody-is-there", "/nowhere/at/all"])
    async def test_that_is_not_there_is_no_trouble(self, address: str) -> None:
        ServiceManager(address).tell("READY=1")
