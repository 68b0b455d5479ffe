import pytest

from cc_bot.discord.pages.custom_ids import KINDS, OpenButton, RetryButton, parse_custom_id
from cc_bot.domain.text import Locale
from cc_bot.features import modules
from cc_bot.features.memory.service import PAGE_SIZE
from cc_bot.texts import texts
from cc_bot.texts.answer import UnfinishedTexts
from tests.end_to_end.memories import choose, controls, keep, menu_id, run, signed_in
from tests.end_to_end.reminders import called, comes_due, reminder, says_by_itself
from tests.end_to_end.stage import Stage, again_label
from tests.end_to_end.test_receipts import UNTELL, forgot, remembered
from tests.loopback.discord import Channel, ChannelReply, File, Reply, Shown, User
from tests.loopback.model_server import Call, calls, says

ELSEWHERE = {
    "StopButton": "test_restart.py",
    "AnswerButton": "test_restart.py",
    "RetryButton": "test_kills.py",
    "SummaryButton": "test_summary.py",
    "EditForm": "test_memory_control.py",
    "AskForm": "test_menu.py",
    "AgentButton": "test_agents.py",
    "ShowButton": "test_settings.py",
    "SettingsButton": "test_settings.py",
    "TimezoneForm": "test_settings.py",
}
"""Kinds whose press after a restart is tested with all else of them."""


def kinds() -> set[str]:
    """The names of all values that make a custom id."""
    list(modules("commands"))  # features have their own
    return {kind.__name__ for kind in KINDS.values()}


def kind_of(custom_id: str) -> str:
    made = parse_custom_id(custom_id)
    assert made is not None
    return type(made).__name__


class Pressing:
    """Presses, and notes what kinds of custom ids were pressed."""

    def __init__(self, stage: Stage, user: User) -> None:
        self._stage = stage
        self._user = user
        self.kinds: set[str] = set()

    async def button(self, shown: Reply | ChannelReply | Shown, label: str, says: str) -> Reply:
        """Until this can be read: in the message, or in a new one."""
        message = shown if isinstance(shown, Shown) else shown.message
        [custom_id] = [
            button.custom_id or "" for button in message.buttons if label in (button.label, button.custom_id)
        ]
        self.kinds.add(kind_of(custom_id))
        press = await self._stage.discord.click(self._user, message, label)
        return await press.finished(lambda told: any(says in each.text for each in told.messages))

    async def choice(self, shown: Reply, value: int | str, says: str) -> None:
        self.kinds.add(kind_of(menu_id(shown)))
        chosen = await choose(self._stage, self._user, shown, value)
        assert says in chosen.text


@pytest.mark.restarts
async def test_every_kind_works_after_a_restart(stage: Stage, aiko: User, channel: Channel) -> None:
    kept = [await keep(stage, aiko, channel, f"メモ{number}") for number in range(PAGE_SIZE + 1)]
    page = await run(stage, aiko, channel, "list", order="oldest")
    menu = await run(stage, aiko, channel, "list", order="oldest")
    found = await run(stage, aiko, channel, "search", query="メモ")
    deleted = await run(stage, aiko, channel, "delete", id=kept[-1])
    all_of_them = await run(stage, aiko, channel, "delete-all")
    forgotten = await forgot(stage, aiko, channel, "犬の名前はポチ")
    receipt = await remembered(stage, aiko, channel, "猫の名前はモチ")
    stage.model.script(calls(Call("recall", {"query": "猫の名前"})), says("モチです。"))
    used = await stage.ask(aiko, channel, "猫の名前は？")
    file = File("x.txt", "鍵は玄関と覚えて".encode(), "text/plain")
    stage.model.script(calls(Call("remember", {"content": "鍵は玄関"})), says("はい。"))
    proposed = await stage.ask(aiko, channel, "要約して", attachment=file)
    stage.model.script(calls(Call("remember", {"content": "*鍵" * 1500})), says("はい。"))
    long = await stage.ask(aiko, channel, "要約して", attachment=file)
    for number in range(9):
        await reminder(stage, aiko, channel, f"予定{number}")
    reminders = await (await stage.discord.slash(aiko, channel, "remind list")).finished()
    due = await reminder(stage, aiko, channel, "薬")
    await comes_due(stage, aiko, due)
    rung = await says_by_itself(stage, channel, "薬")
    called(stage)
    set_now = await stage.discord.slash(aiko, channel, "remind add", when="30分後", text="散歩")
    await set_now.finished()
    privacy = await (await stage.discord.slash(aiko, channel, "privacy erase")).finished()
    signed_in(stage, aiko)
    browsers = await (await stage.discord.slash(aiko, channel, "web")).finished()
    await stage.restart()

    pressed = Pressing(stage, aiko)
    await pressed.button(page, "次へ ▶", "2/2ページ")
    await pressed.button(menu, OpenButton(aiko.id, kept[0]).custom_id(), "メモ0")
    await pressed.button(deleted, "元に戻す", "元に戻しました")
    await pressed.button(found, "次へ ▶", "2/2ページ")
    await pressed.button(all_of_them, "やめる", "何も変わっていません")
    await pressed.button(receipt.messages[-1], "取り消す", "取り消しました")
    await pressed.button(forgotten.messages[-1], UNTELL, "犬の名前はポチ")
    await pressed.button(used, "🧠 使ったメモリ（1）", "残っていません")
    assert used.labels[-1] == again_label(aiko)
    await pressed.button(proposed.messages[-1], "覚える", "覚えました: 鍵は玄関")
    await pressed.button(long.messages[-1], "確認待ちを見る（1件）", "メモリに覚える")
    await pressed.button(reminders, "次へ ▶", "予定8")
    await pressed.button(rung, "10分後にもう一度", "にもう一度お知らせします")
    await pressed.button(set_now, "取り消す", "お知らせを取り消しました: 散歩")
    await pressed.choice(browsers, "all", "サインアウトしました")
    await pressed.button(privacy, "すべて消す", "すべて消しました")
    assert pressed.kinds | ELSEWHERE.keys() == kinds()


async def refused(press: Reply, says: str = "コマンドからやり直してください") -> None:
    """One sentence for who pressed, in time."""
    await press.acknowledged()
    await press.finished(lambda told: says in told.text)
    assert press.messages[-1].ephemeral


async def test_of_another_version_say_one_sentence(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    number = await keep(stage, aiko, channel, "猫が好き")
    reply = await run(stage, aiko, channel, "show", id=number)
    button = controls(reply)[0]
    button["custom_id"] = RetryButton(aiko.id, "0" * 16).custom_id()
    asked_already = texts(Locale.JA)[UnfinishedTexts].cannot_ask_again
    await refused(await stage.discord.click(aiko, reply.message, button["label"]), asked_already)
    for custom_id in ("vote:1:up", "memory:1:fold:2:3", "fact:0", ":", "取り消し"):
        button["custom_id"] = custom_id
        await refused(await stage.discord.click(aiko, reply.message, button["label"]))
    reply.stored[0].flags = 0  # as if others could see it
    await refused(
        await stage.discord.click(ben, reply.message, button["label"]), "Please start again with a command"
    )
    signed_in(stage, aiko)
    browsers = await (await stage.discord.slash(aiko, channel, "web")).finished()
    [menu] = controls(browsers)
    menu["custom_id"] = "themes:1"
    await refused(await stage.discord.select(aiko, browsers.message, "themes:1", "all"))
    form = await (await stage.discord.slash(aiko, channel, "memory edit", id=number)).acknowledged()
    assert form.modal is not None
    form.modal["custom_id"] = "rewrite:1"
    await refused(await stage.discord.submit_modal(form))
