"""Buttons and menus, pressed twice as phones do: it looks as if they were pressed once, and is done once.

Each is pressed once by one user, and twice by others, now faster and now slower. What each reads, and what
the database and the model have of them, must be the same.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.end_to_end.memories import keep, run
from tests.end_to_end.reminders import called, comes_due, reminder, says_by_itself
from tests.end_to_end.stage import Stage, streaming
from tests.end_to_end.test_receipts import remembered
from tests.loopback.discord import Channel, File, Shown, User
from tests.loopback.model_server import Call, Hang, Say, calls, says
from tests.loopback.model_server import Reply as Answer

pytestmark = pytest.mark.slow

STATE: Final = (
    "SELECT content, status, audience, supersedes IS NULL FROM memories WHERE user_id = ? ORDER BY id",
    "SELECT text, status FROM schedules WHERE user_id = ? ORDER BY id",
    "SELECT role, content, status FROM messages WHERE user_id = ? ORDER BY id",
    "SELECT count(*) FROM proposals WHERE user_id = ?",
    "SELECT count(*) FROM turns WHERE user_id = ? AND state <> 'shown'",
)
FACT: Final = "合鍵は植木鉢の下"


@dataclass(frozen=True, slots=True)
class Offer:
    message: Shown
    what: str
    """A label, or a custom id."""
    values: tuple[str, ...] = ()


async def stop(stage: Stage, user: User, channel: Channel) -> Offer:
    stage.model.script(Answer(Say("書きかけ"), Hang()))
    return Offer((await streaming(await stage.begin(user, channel), "書きかけ")).message, "止める")


async def again(stage: Stage, user: User, channel: Channel) -> Offer:
    reply = await stage.ask_in_words(user, channel, "はじめの答え")
    stage.model.script(says("あとの答え", delay_s=0.1))
    return Offer(reply.message, "もう一度答える")


async def undo(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await remembered(stage, user, channel, "会議は金曜")).messages[-1], "取り消す")


async def decide(stage: Stage, user: User, channel: Channel) -> Offer:
    stage.model.script(calls(Call("remember", {"content": "鍵は玄関"})), says("🙂"))
    file = File("手紙.txt", "覚えて".encode(), "text/plain")
    return Offer((await stage.ask(user, channel, "要約して", attachment=file)).messages[-1], "覚える")


async def edit(stage: Stage, user: User, channel: Channel) -> Offer:
    number = await keep(stage, user, channel, FACT)
    return Offer((await run(stage, user, channel, "show", id=number)).message, "編集")


async def import_them(stage: Stage, user: User, channel: Channel) -> Offer:
    file = File("メモ.txt", "大阪に住んでいる\nお茶が好き\n猫がいる".encode(), "text/plain")
    return Offer((await run(stage, user, channel, "import", file=file)).message, "3件を取り込む")


async def snooze(stage: Stage, user: User, channel: Channel) -> Offer:
    await comes_due(stage, user, await reminder(stage, user, channel, "薬"))
    rung = await says_by_itself(stage, channel, "薬")
    called(stage)
    return Offer(rung, "10分後にもう一度")


async def erase(stage: Stage, user: User, channel: Channel) -> Offer:
    await stage.ask_in_words(user, channel, "はい。")
    asked = await (await stage.discord.slash(user, channel, "privacy erase")).finished()
    return Offer(asked.message, "すべて消す")


Scene = Callable[[Stage, User, Channel], Awaitable[Offer]]
SCENES: Final[tuple[Scene, ...]] = (stop, again, undo, decide, edit, import_them, snooze, erase)


async def outcome(stage: Stage, scene: Scene, apart_s: float | None) -> dict[str, Any]:
    user, channel = stage.discord.user("Aiko", locale="ja"), stage.discord.guild_channel()
    offer = await scene(stage, user, channel)
    asked = len(stage.model.requests)
    presses = await stage.discord.press(user, offer.message, offer.what, *offer.values, apart_s=apart_s)
    for each in presses:
        await each.acknowledged()
    await presses[0].until(lambda shown: shown.history or shown.modal, "what comes of it")
    for each in presses:  # what is only acknowledged has no text yet
        await each.until(lambda shown: all(map(_read, shown.messages)), "its text")
    await stage.eventually(
        "SELECT count(*) FROM turns WHERE user_id = ? AND state <> 'shown'", user.id, gives=[(0,)]
    )
    await stage.discord.quiet(0.15)
    return {
        "public": [_read(each) for each in stage.discord.messages(channel) if not each.ephemeral],
        "private": sorted({_read(each) for reply in presses for each in reply.messages if each.ephemeral}),
        "forms": {repr(reply.modal is None) for reply in presses} if scene is edit else set(),
        "stored": [stage.rows(statement, user.id) for statement in STATE],
        "asked": len(stage.model.requests) - asked,
    }


def _read(shown: Shown) -> str:
    """The text and the buttons of a message, without numbers and moments."""
    return re.sub(r"\d+", "0", "\n".join((shown.text, *shown.labels)))


async def same_once_or_twice(stage: Stage, scene: Scene) -> None:
    expected = await outcome(stage, scene, None)
    for apart_s in (0.0, 0.05, 0.25):
        twice = await outcome(stage, scene, apart_s)
        assert (scene.__name__, apart_s, twice) == (scene.__name__, apart_s, expected)


async def test_a_button_pressed_twice_is_pressed_once(stage: Stage) -> None:
    for scene in SCENES:
        await same_once_or_twice(stage, scene)
