import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cc_bot.domain.text import Locale
from cc_bot.texts import texts
from cc_bot.texts.proposal import ProposalTexts
from tests.end_to_end.stage import Stage, again_label, cut
from tests.loopback.discord import Channel, Message, Reply, Shown, User
from tests.loopback.model_server import Call, calls, says
from tests.loopback.tool_servers import calls_in

JA, EN = texts(Locale.JA), texts(Locale.EN)
DO = {"ja": JA[ProposalTexts].call.yes, "en-US": EN[ProposalTexts].call.yes}
DONT = JA[ProposalTexts].call.no
WHAT = "notes · write"
DONE = {
    "ja": JA[ProposalTexts].call_done.format(what=WHAT),
    "en-US": EN[ProposalTexts].call_done.format(what=WHAT),
}
CALLING = JA[ProposalTexts].call_running.format(what=WHAT)
IN_DOUBT = JA[ProposalTexts].call_unknown.format(what=WHAT)
STOPPED = JA[ProposalTexts].call_stopped.format(what=WHAT)
NOT_MADE = JA[ProposalTexts].declined.format(what=WHAT)
CLAIMED = "SELECT count(*) FROM proposals WHERE state <> 'open'"
ON_THEIR_WAY = "SELECT count(*) FROM turns WHERE state IN ('accepted', 'answered')"
LATE = "UPDATE proposals SET made_at = made_at - 601000 WHERE user_id = ?"
WRITE = Call("notes__write", {"text": "牛乳\n# 卵 *二つ*", "path": "買い物.txt"})
WRITE_EN = Call("notes__write", {"text": "milk\n# eggs *two*", "path": "shopping.txt"})
WRITES = {"ja": WRITE, "en-US": WRITE_EN}
POST = Call("notes__post", {"text": "犬"})
SEND = Call("notes__send", {"text": "全員へ"})


def made(stage: Stage) -> Sequence[dict[str, Any]]:
    return calls_in(stage.program.folder)


def answers(stage: Stage, **given: object) -> None:
    (stage.program.folder / "answers.json").write_text(json.dumps(given), "utf-8")


def hold_no_more(stage: Stage) -> None:
    (stage.program.folder / "hold").unlink(missing_ok=True)


def hold(stage: Stage) -> Path:
    """Have calls not end until this file is away."""
    (path := stage.program.folder / "hold").touch()
    return path


async def is_called(stage: Stage, count: int = 1, *, noted: str = "calls.jsonl") -> None:
    async with stage.patience():
        while len(calls_in(stage.program.folder, noted)) < count:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)


async def proposed(
    stage: Stage, user: User, channel: Channel, *wanted: Call, whole: bool = True, **options: bool | str
) -> Reply:
    answer = says("🙂") if whole else cut("🙂")
    stage.model.script(calls(*(wanted or (WRITES[user.locale],))), answer)
    reply = await stage.ask(user, channel, "書いておいて", **options)
    return await reply.until(lambda shown: whole or again_label(user) in shown.labels, "the buttons")


async def settled(stage: Stage, user: User) -> None:
    """Wait until the user knows of every call."""
    await stage.eventually(f"{CLAIMED} AND user_id = ?", user.id, gives=[(0,)])


async def agreed(stage: Stage, user: User, message: Message | Shown, answer: str, label: str = "") -> Reply:
    """A press of Do it, until the model has answered with what came of it."""
    stage.model.script(says(answer))
    pressed = await stage.discord.click(user, message, label or DO[user.locale])
    return await pressed.finished(lambda shown: any(answer in each.text for each in shown.messages))


async def told(stage: Stage, message: Message, text: str) -> Shown:
    async with stage.patience():
        while text not in message.shown.text:  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)
    return message.shown


async def whispers(pressed: Reply, sentence: str) -> None:
    await pressed.until(
        lambda shown: any(each.ephemeral and sentence in each.text for each in shown.messages), sentence
    )


async def denied(stage: Stage, user: User, message: Message | Shown, label: str) -> None:
    pressed = await stage.discord.click(user, message, label)
    pressed.any_language = True  # its message is for who asked
    await whispers(pressed, EN[ProposalTexts].not_yours)


def stored_results(stage: Stage, user: User) -> list[dict[str, Any]]:
    rows = stage.rows(
        "SELECT tool_calls FROM messages WHERE user_id = ? AND tool_calls <> '[]' ORDER BY id", user.id
    )
    return [json.loads(call["result"]) for (stored,) in rows for call in json.loads(stored)]


def last_request(stage: Stage) -> str:
    return str(stage.model.requests[-1].messages)


async def answered_again(stage: Stage, user: User, reply: Reply, answer: str) -> None:
    stage.model.script(says(answer))
    again = await stage.discord.click(user, reply.message, again_label(user))
    await again.finished(lambda _: answer in reply.text and again_label(user) in reply.labels)
