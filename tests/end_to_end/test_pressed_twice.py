"""Every button and menu, pressed twice as phones do: it looks as if it was pressed once, and is done once.

Each is pressed once by one user, and twice by others, now faster and now slower. What each
reads, and what the database and the model have of them, must be the same.
"""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import pytest

from cc_bot.discord.pages.custom_ids import parse_custom_id
from cc_bot.discord.pages.memory import PAGE_SIZE
from tests.end_to_end.kills import EDIT, RETRY, offers_to_ask_again, pull_the_plug
from tests.end_to_end.memories import form, keep, menu_id, press, row_of, run, signed_in, submitted
from tests.end_to_end.reminders import called, comes_due, reminder, says_by_itself
from tests.end_to_end.stage import Stage, streaming
from tests.end_to_end.test_old_buttons import kinds
from tests.end_to_end.test_receipts import LOOKS, UNTELL, forgot, remembered
from tests.loopback.discord import Channel, File, Reply, Shown, User
from tests.loopback.model_server import Call, CutConnection, Hang, Say, calls, says
from tests.loopback.model_server import Reply as Answer

STATE = (
    "SELECT content, status, audience, supersedes IS NULL FROM memories WHERE user_id = ? ORDER BY id",
    "SELECT content, pinned FROM memories WHERE user_id = ? ORDER BY id",
    "SELECT text, status FROM schedules WHERE user_id = ? ORDER BY id",
    "SELECT role, content, status FROM messages WHERE user_id = ? ORDER BY id",
    "SELECT content FROM summaries WHERE user_id = ?",
    "SELECT count(*) FROM web_sessions WHERE user_id = ?",
    "SELECT count(*) FROM proposals WHERE user_id = ?",
    "SELECT count(*) FROM turns WHERE user_id = ?",
)
FACT = "合鍵は植木鉢の下"


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be pressed or chosen in a message."""

    message: Shown
    what: str
    """A label, or a custom id."""
    values: tuple[str, ...] = ()


Scene = Callable[[Stage, User, Channel], Awaitable[Offer]]
SCENES: dict[str, Scene] = {}


def leads_to(name: str) -> Callable[[Scene], Scene]:
    """Notes how it comes to this kind of button."""

    def noted(scene: Scene) -> Scene:
        SCENES[name] = scene
        return scene

    return noted


def name_of(custom_id: str) -> str:
    """The kind of a custom id, and what it does if there are several."""
    made = parse_custom_id(custom_id)
    assert made is not None
    does = getattr(made, "action", getattr(made, "decision", ""))
    return f"{type(made).__name__} {does}".rstrip()


def all_names() -> set[str]:
    found = set()
    for name, kind in kinds().items():
        hints = get_type_hints(kind)
        does = get_args(hints.get("action", hints.get("decision")))
        found |= {f"{name} {each}" for each in does} or {name}
    forms = {"EditForm", "AskForm", "FormSheet"}  # a form is gone when it is sent
    return found - forms - {"FormButton fill", "FormButton skip"}  # in test_forms, where servers ask


@leads_to("StopButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    stage.model.script(Answer(Say("書きかけ"), Hang()))
    return Offer((await streaming(await stage.begin(user, channel), "書きかけ")).message, "止める")


@leads_to("AnswerButton again")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    reply = await stage.ask_in_words(user, channel, "はじめの答え")
    stage.model.script(says("あとの答え", delay_s=0.1))
    return Offer(reply.message, "もう一度答える")


@leads_to("AnswerButton more")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    stage.model.script(Answer(Say("途中"), CutConnection()))
    reply = await stage.ask(user, channel)
    stage.model.script(says("つづき", delay_s=0.1))
    return Offer(reply.message, "続ける")


@leads_to("RetryButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    stage.model.script(Answer(Say("書きかけ"), Hang()))
    reply = await streaming(await stage.begin(user, channel), "書きかけ")
    await pull_the_plug(stage)
    await stage.start()
    await offers_to_ask_again(stage, reply)
    stage.model.script(says("今度は最後まで。", delay_s=0.1))
    return Offer(reply.message, RETRY["ja"])


@leads_to("SummaryButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    await stage.ask_in_words(user, channel, "はい。")
    stage.change(
        "INSERT INTO summaries (user_id, channel_id, agent, visibility, session_id, content,"
        " first_message_id, last_message_id, created_at)"
        " SELECT user_id, channel_id, agent, 'public', id, '- 猫の話', 1, 1, 1"
        f" FROM sessions WHERE user_id = {user.id}"
    )
    return Offer(
        (await (await stage.discord.slash(user, channel, "summary")).finished()).message, "要約を消す"
    )


@leads_to("UndoButton added")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await remembered(stage, user, channel, "会議は金曜")).message, "取り消す")


async def _changed(stage: Stage, user: User, channel: Channel, tool: str, **more: str) -> Offer:
    number = await keep(stage, user, channel, "会議は金曜")
    stage.model.script(LOOKS, calls(Call(tool, {"id": number} | more)), says("はい。"))
    return Offer((await stage.ask(user, channel, "会議のこと")).message, "取り消す")


@leads_to("UndoButton updated")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _changed(stage, user, channel, "update_memory", content="会議は木曜")


@leads_to("UndoButton deleted")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _changed(stage, user, channel, "forget")


@leads_to("UntellButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await forgot(stage, user, channel, "会議は金曜")).message, UNTELL)


@leads_to("UsedMemoriesButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    await keep(stage, user, channel, "会議は金曜")
    stage.model.script(LOOKS, says("金曜です。"))
    return Offer((await stage.ask(user, channel, "会議は？")).message, "🧠 使ったメモリ（1）")


async def _proposed(stage: Stage, user: User, channel: Channel, content: str, label: str) -> Offer:
    stage.model.script(calls(Call("remember", {"content": content})), says("🙂"))
    file = File("手紙.txt", "覚えて".encode(), "text/plain")
    return Offer((await stage.ask(user, channel, "要約して", attachment=file)).message, label)


@leads_to("ProposalButton do")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _proposed(stage, user, channel, "鍵は玄関", "覚える")


@leads_to("ProposalButton dont")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _proposed(stage, user, channel, "鍵は玄関", "覚えない")


async def _called(stage: Stage, user: User, channel: Channel, label: str) -> Offer:
    """This program has no servers: to agree says so. What is made once is in test_approved_calls."""
    offer = await _proposed(stage, user, channel, "鍵" * 3000, "確認待ちを見る（1件）")
    call = {"kind": "call", "server": "notes", "tool": "write", "arguments": "{}", "called": "notes__write"}
    stage.change("UPDATE proposals SET change = ? WHERE user_id = ?", json.dumps(call), user.id)
    seen = await stage.discord.click(user, offer.message, offer.what)
    return Offer((await seen.finished(lambda shown: label in shown.labels)).message, label)


@leads_to("CallButton do")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _called(stage, user, channel, "実行する")


@leads_to("CallButton dont")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _called(stage, user, channel, "実行しない")


@leads_to("SeeProposalsButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _proposed(stage, user, channel, "鍵" * 3000, "確認待ちを見る（1件）")


async def _listed(stage: Stage, user: User, channel: Channel, command: str, **options: str) -> Reply:
    for number in range(PAGE_SIZE + 1):
        await keep(stage, user, channel, f"メモ{number}")
    return await run(stage, user, channel, command, **options)


@leads_to("ListButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await _listed(stage, user, channel, "list")).message, "次へ ▶")


@leads_to("SearchButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await _listed(stage, user, channel, "search", query="メモ")).message, "次へ ▶")


@leads_to("OpenMenu")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    number = await keep(stage, user, channel, FACT)
    listed = await run(stage, user, channel, "list")
    return Offer(listed.message, menu_id(listed), (str(row_of(stage, user, number)),))


async def _card(stage: Stage, user: User, channel: Channel, label: str) -> Offer:
    number = await keep(stage, user, channel, FACT)
    return Offer((await run(stage, user, channel, "show", id=number)).message, label)


@leads_to("MemoryButton edit")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _card(stage, user, channel, "編集")


@leads_to("MemoryButton delete")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _card(stage, user, channel, "削除")


@leads_to("MemoryButton private")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _card(stage, user, channel, "自分だけの回答でだけ使う")


@leads_to("MemoryButton pin")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _card(stage, user, channel, "📌 ピン留め")


@leads_to("MemoryButton unpin")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    number = await keep(stage, user, channel, FACT)
    return Offer((await run(stage, user, channel, "pin", id=number)).message, "ピンを外す")


@leads_to("MemoryButton anywhere")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    number = await keep(stage, user, channel, FACT)
    card = await run(stage, user, channel, "show", id=number)
    return Offer((await press(stage, user, card, "自分だけの回答でだけ使う")).message, "どこでも使う")


async def _edited(stage: Stage, user: User, channel: Channel) -> tuple[int, Reply]:
    number = await keep(stage, user, channel, "会議は金曜")
    return number, await submitted(stage, await form(stage, user, channel, number), content="会議は木曜")


@leads_to("MemoryButton undo-edit")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    _, told = await _edited(stage, user, channel)
    return Offer(told.message, "元に戻す")


@leads_to("MemoryButton restore")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    number, _ = await _edited(stage, user, channel)
    card = await run(stage, user, channel, "show", id=number)
    [(version,)] = stage.rows(
        "SELECT supersedes FROM memories WHERE user_id = ? AND number = ?", user.id, number
    )
    return Offer(card.message, menu_id(card), (str(version),))


async def _deleted(stage: Stage, user: User, channel: Channel, *, told: bool) -> Reply:
    number = await keep(stage, user, channel, FACT)
    if told:
        await stage.ask_in_words(user, channel, f"{FACT}ですね。")
    return await run(stage, user, channel, "delete", id=number)


@leads_to("MemoryButton undelete")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await _deleted(stage, user, channel, told=False)).message, "元に戻す")


@leads_to("MemoryButton erase")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return Offer((await _deleted(stage, user, channel, told=False)).message, "今すぐ完全に消す")


async def _asked_how_far(stage: Stage, user: User, channel: Channel, label: str) -> Offer:
    deleted = await _deleted(stage, user, channel, told=True)
    return Offer((await press(stage, user, deleted, "今すぐ完全に消す")).message, label)


@leads_to("MemoryButton erase-alone")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _asked_how_far(stage, user, channel, "メモリだけ完全に消す")


@leads_to("MemoryButton erase-said")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _asked_how_far(stage, user, channel, "会話の記録からも消す")


async def _all_asked(stage: Stage, user: User, channel: Channel, label: str) -> Offer:
    await keep(stage, user, channel, FACT)
    await stage.ask_in_words(user, channel, f"{FACT}ですね。")
    return Offer((await run(stage, user, channel, "delete-all")).message, label)


@leads_to("ConfirmButton erase")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _all_asked(stage, user, channel, "1件をすべて消す")


@leads_to("ConfirmButton erase-said")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _all_asked(stage, user, channel, "会話の記録からも消す")


@leads_to("ConfirmButton cancel")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _all_asked(stage, user, channel, "やめる")


@leads_to("ConfirmButton import")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    file = File("メモ.txt", "大阪に住んでいる\nお茶が好き\n猫がいる".encode(), "text/plain")
    return Offer((await run(stage, user, channel, "import", file=file)).message, "3件を取り込む")


@leads_to("UnscheduleButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    stage.model.script(calls(Call("schedule", {"when": "2027-11-23T09:00", "text": "薬"})), says("はい。"))
    reply = await stage.ask(user, channel, "明日の9時に薬って知らせて")
    return Offer(reply.message, "お知らせを取り消す")


@leads_to("SnoozeButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    await comes_due(stage, user, await reminder(stage, user, channel, "薬"))
    rung = await says_by_itself(stage, channel, "薬")
    called(stage)
    return Offer(rung, "10分後にもう一度")


@leads_to("RemindersButton")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    for number in range(9):
        await reminder(stage, user, channel, f"予定{number}")
    return Offer(
        (await (await stage.discord.slash(user, channel, "remind list")).finished()).message, "次へ ▶"
    )


async def _privacy(stage: Stage, user: User, channel: Channel, label: str) -> Offer:
    await stage.ask_in_words(user, channel, "はい。")
    asked = await (await stage.discord.slash(user, channel, "privacy erase")).finished()
    return Offer(asked.message, label)


@leads_to("BrowserMenu")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    signed_in(stage, user)
    reply = await (await stage.discord.slash(user, channel, "web")).finished()
    return Offer(reply.message, menu_id(reply), ("all",))


@leads_to("PrivacyButton erase")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _privacy(stage, user, channel, "すべて消す")


@leads_to("PrivacyButton keep")
async def _(stage: Stage, user: User, channel: Channel) -> Offer:
    return await _privacy(stage, user, channel, "やめる")


async def outcome(stage: Stage, name: str, user: User, apart_s: float | None) -> dict[str, Any]:
    """What is read and stored once a button was pressed, and pressed again so much later."""
    channel = stage.discord.guild_channel()
    offer = await SCENES[name](stage, user, channel)
    asked = len(stage.model.requests)
    labels = {button.label: button.custom_id or "" for button in offer.message.buttons}
    custom_id = labels.get(offer.what, offer.what)
    assert name_of(custom_id) == name
    presses = await stage.discord.press(user, offer.message, offer.what, *offer.values, apart_s=apart_s)
    for each in presses:
        await each.acknowledged()
    await presses[0].until(lambda shown: shown.history or shown.modal, "what comes of it")
    for each in presses:  # what is only acknowledged has no text yet
        await each.until(lambda shown: all(map(_read, shown.messages)), "its text")
    await stage.eventually("SELECT count(*) FROM turns WHERE user_id = ?", user.id, gives=[(0,)])
    await stage.discord.quiet(0.15)
    return {
        "public": [_read(each) for each in stage.discord.messages(channel) if not each.ephemeral],
        "private": sorted({_read(each) for reply in presses for each in reply.messages if each.ephemeral}),
        "forms": {repr(reply.modal is None) for reply in presses} if "edit" in name else set(),
        "stored": [stage.rows(statement, user.id) for statement in STATE],
        "asked": len(stage.model.requests) - asked,
    }


def _read(shown: Shown) -> str:
    """The text and the buttons of a message, without numbers and moments."""
    return re.sub(r"\d+", "0", "\n".join((shown.text, *shown.labels)))


class TestEveryButton:
    async def test_is_here(self) -> None:
        assert SCENES.keys() == all_names()

    @pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=pytest.mark.restarts if name == "RetryButton" else ())
            for name in sorted(SCENES)
        ],
    )
    async def test_pressed_twice_is_pressed_once(self, stage: Stage, name: str) -> None:
        expected = await outcome(stage, name, stage.discord.user("Aiko", locale="ja"), None)
        for apart_s in (0.0, 0.05, 0.25):
            twice = stage.discord.user("Aiko", locale="ja")
            assert (apart_s, await outcome(stage, name, twice, apart_s)) == (apart_s, expected)


class TestAnotherPress:
    async def test_that_came_too_late_is_accepted_in_time_and_changes_nothing(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await keep(stage, aiko, channel, FACT)
        asked = await run(stage, aiko, channel, "delete-all")
        stage.discord.fail_next(EDIT, 200, delay_s=3.5)
        erase = await stage.discord.click(aiko, asked.message, "1件をすべて消す")
        await erase.acknowledged()
        cancel = await stage.discord.click(aiko, asked.message, "やめる")
        await cancel.acknowledged()
        await asked.until(lambda shown: "完全に消しました" in shown.text, "the erasure")
        await stage.discord.quiet(0.5)
        assert "完全に消しました" in asked.text

    async def test_of_another_user_does_not_wait(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await remembered(stage, aiko, channel, "会議は金曜")
        stage.discord.fail_next(EDIT, 200, delay_s=1.0)
        await stage.discord.click(aiko, reply.message, "取り消す")
        denied = await stage.discord.click(ben, reply.message, "取り消す")
        await denied.finished()
        assert "Only the owner" in denied.text
        assert "取り消す" in reply.labels
        await reply.until(lambda shown: "取り消す" not in shown.labels, "the undo")
