"""A hundred kills while people agree to calls. Each call is made once or not at all, and its message tells.

The calls are counted in a file that no kill takes back; what people see is compared with that.
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from signal import SIGKILL

import pytest

from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, running_stage
from tests.loopback.discord import Message, User
from tests.loopback.model_requests import last_user_text
from tests.loopback.model_server import Call, Json, Reply, calls, says
from tests.loopback.tool_servers import calls_in

CAMPAIGNS, KILLS, WAVE = 4, 25, 4
SLOW_S = 0.15
WITHIN_S = 0.6
"""From the first press: claim, call, what is shown of it and the turn that goes on all begin within that."""
DO = {"ja": "実行する", "en-US": "Do it"}
TOLD = {"ja": ("実行しました", "実行された可能性があります"), "en-US": ("🔧 Done", "It may have been done")}
CLAIMED = "SELECT count(*) FROM proposals WHERE state <> 'open'"


@dataclass(frozen=True, slots=True)
class Agreed:
    """A call that was proposed and agreed to."""

    text: str
    user: User
    message: Message

    @property
    def offers(self) -> bool:
        return DO[self.user.locale] in self.message.shown.labels

    @property
    def tells(self) -> bool:
        shown = self.message.shown.text
        return any(line in shown for line in TOLD[self.user.locale])


def answer(body: Json) -> Reply:
    asked = last_user_text(body).strip()
    if body["messages"][-1]["role"] == "user" and asked.startswith("W"):
        return calls(Call("notes__write", {"text": asked}))
    return says("🙂")


async def ask(stage: Stage, text: str, locale: str) -> Agreed:
    user = stage.discord.user("Somebody", locale=locale)
    reply = await stage.ask(user, stage.discord.guild_channel(), text)
    return Agreed(text, user, reply.stored[-1])


async def press(stage: Stage, agreed: Agreed) -> None:
    await stage.discord.click(agreed.user, agreed.message, DO[agreed.user.locale])


async def kill(stage: Stage) -> None:
    assert await stage.program.kill() == -SIGKILL, stage.program.output
    await stage.discord.gone()


@pytest.mark.parametrize("number", range(CAMPAIGNS))
async def test_killed_again_and_again_no_call_is_made_twice_and_each_is_told(
    seed: int, number: int, tmp_path: Path, database_settings: DatabaseSettings
) -> None:
    rng = Random(f"calls {seed} {number}")
    settings = database_settings()
    async with running_stage(tmp_path, settings, module="tests.loopback.tool_servers") as stage:
        stage.model.responder = answer
        (stage.program.folder / "slow.json").write_text(json.dumps(SLOW_S), "utf-8")
        everything: list[Agreed] = []
        for life in range(KILLS):
            names = [(f"W{life}-{each}", rng.choice([*DO])) for each in range(WAVE)]
            wave = await asyncio.gather(*(ask(stage, *name) for name in names))
            everything += wave
            dying = asyncio.create_task(asyncio.sleep(rng.uniform(0.0, WITHIN_S)))
            for agreed in wave:
                for _ in range(rng.choice([1, 1, 2])):
                    await press(stage, agreed)
                await asyncio.sleep(rng.uniform(0.0, 0.1))
            await dying
            await kill(stage)
            if rng.random() < 0.2:
                await stage.program.start("run")
                await asyncio.sleep(rng.uniform(0.3, 2.0))
                await kill(stage)
            await stage.start()
        await stage.eventually(CLAIMED, gives=[(0,)])
        await stage.discord.quiet(0.5)
        judge(stage, everything, f"seed {seed}, campaign {number}")
        again = [agreed for agreed in everything[-WAVE:] if agreed.offers]
        for agreed in again:
            await press(stage, agreed)
        async with stage.patience():
            while any(each.offers or not each.tells for each in again):  # noqa: ASYNC110 - Discord shows it
                await asyncio.sleep(0.02)
        judge(stage, everything, f"seed {seed}, campaign {number}, after another press")
        for locale in DO:
            seen = str([each.message.shown.text for each in everything if each.user.locale == locale])
            assert all(line in seen for line in TOLD[locale]), "the kills met no call"


def judge(stage: Stage, everything: list[Agreed], when: str) -> None:
    made = Counter(call["arguments"]["text"] for call in calls_in(stage.program.folder))
    left = {json.loads(text)["text"] for text in _open_ones(stage)}
    for agreed in everything:
        about = f"{when}: {agreed.text} made {made[agreed.text]}: {agreed.message.shown.text!r}"
        assert made[agreed.text] <= 1, about
        assert agreed.offers is not agreed.tells, about
        assert (agreed.text in left) is agreed.offers, about
        if made[agreed.text]:
            assert agreed.tells, about


def _open_ones(stage: Stage) -> list[str]:
    return [
        json.loads(content)["calls"][0]["arguments"]
        for (content,) in stage.rows("SELECT content FROM proposals WHERE state = 'open'")
    ]
