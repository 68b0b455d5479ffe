import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.end_to_end.program import Program
from tests.end_to_end.stage import Stage, answered, ended, streaming
from tests.loopback.discord import Channel, User
from tests.loopback.model_server import Hang, Pause, Reply, Say, says

STAGE = "new_stage"
pytestmark = pytest.mark.slow


def caught(program: Program) -> bool:
    told = Path(f"/proc/{program.process_id}/status").read_text()
    [mask] = [line.split()[1] for line in told.splitlines() if line.startswith("SigCgt:")]
    return bool(int(mask, 16) >> (signal.SIGTERM - 1) & 1)


async def test_a_signal_ends_an_idle_or_loading_program(stage: Stage, tmp_path: Path) -> None:
    seen = {"DISCORD_TOKEN": "x", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    folder = tmp_path / "loading"
    folder.mkdir()
    for number in (signal.SIGTERM, signal.SIGINT):
        assert await stage.program.stop(number) == 0
        assert "Traceback" not in stage.program.output
        await stage.discord.gone()
        await stage.start()
        program = Program(folder, seen, from_nothing=True)
        await program.start("run")
        async with asyncio.timeout(60):
            while not caught(program):  # noqa: ASYNC110 - no event comes out of a process
                await asyncio.sleep(0.001)
        assert await program.stop(number) == 0
        assert program.output == ""
        assert not any(os.scandir(folder))


async def test_a_signal_lets_a_turn_finish(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("もうすぐ"), Pause(2.0), *says("終わります。").steps))
    running = await stage.begin(aiko, channel)
    await streaming(running, "もうすぐ")
    stage.program.send(signal.SIGTERM)
    late = await stage.begin(ben, channel, "Too late?")
    await late.finished(lambda shown: "about to restart" in shown.text)
    await answered(running)
    assert running.text.startswith("もうすぐ終わります。")
    assert await stage.program.ended() == 0
    assert [row[:2] for row in stage.stored(channel)][1] == ("assistant", "もうすぐ終わります。")
    assert stage.rows("SELECT state FROM turns") == [("interrupted",)], "which may be asked again"


async def test_a_signal_cuts_what_takes_long(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("終わらない話です。"), Hang()), Reply(Hang()), Reply(Hang()))
    begun = await stage.begin(aiko, channel)
    await streaming(begun, "終わらない話です。")
    silent = await stage.begin(ben, channel)
    await stage.model.arrived(2)
    everybodys = await stage.write(stage.discord.user("Carl", locale="ja"), channel, "質問")
    await stage.model.arrived(3)
    waiting = await stage.begin(ben, channel)
    await streaming(waiting, "Waiting for an earlier question")
    stage.program.send(signal.SIGTERM)
    await ended(waiting)
    assert waiting.text == "I'm about to restart. Please ask again in a moment."
    await begun.finished(lambda shown: "続ける" in shown.labels, timeout_s=60)
    await silent.finished(lambda shown: "about to restart" in shown.text)
    await stage.says(everybodys, "戻りしだい、ここでお答えします")
    assert await stage.program.ended() == 0
    assert stage.stored(channel)[-1] == ("assistant", "終わらない話です。", "cut")
    await stage.discord.gone()
    stage.model.script(says("お待たせしました。"))
    await stage.start()
    reply = await stage.says(everybodys, "お待たせしました。")
    assert len(reply.messages) == 1
