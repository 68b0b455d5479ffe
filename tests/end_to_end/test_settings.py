"""`/settings`, `/help` and `/clear`: what each user decides and reads."""

import re

import pytest

from cc_bot.discord.pages.custom_ids import ShowButton
from cc_bot.domain.errors import UnknownTimezone
from cc_bot.domain.text import Locale
from cc_bot.features.canvas.texts import CanvasTexts
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts import explain, texts
from cc_bot.texts.replies import UsageTexts
from cc_bot.texts.web import WebCommandTexts
from tests.end_to_end.stage import Stage
from tests.loopback.discord import Channel, Permission, User
from tests.loopback.discord.refusals import invalid_form
from tests.loopback.model_server import says

EN = texts(Locale.EN)


async def test_a_language_is_that_of_every_reply(stage: Stage, ben: User, channel: Channel) -> None:
    assert "English (default)" in await stage.told(ben, channel, "settings")
    for permission, location, told in (
        (None, channel, EN[UsageTexts].managers_only),
        (Permission.MANAGE_GUILD, stage.discord.dm(ben), EN[UsageTexts].servers_only),
        (Permission.MANAGE_GUILD, channel, EN[UsageTexts].server_title),
    ):
        if permission is not None:
            stage.discord.permit(ben, permission)
        assert told in await stage.told(ben, location, "usage", server=True)
    assert await stage.told(ben, channel, "web") == EN[WebCommandTexts].not_served
    reply = await stage.discord.slash(ben, channel, "settings", language="ja")
    reply.any_language = True
    await reply.finished(lambda shown: "設定を保存しました" in shown.text)
    assert "Asia/Tokyo（既定）" in reply.text
    stage.model.script(says("はい。"))
    answer = await stage.discord.slash(ben, channel, "ask", question="?")
    answer.any_language = True
    await answer.finished(lambda shown: "もう一度答える" in shown.labels)
    assert "/help で、できること" in answer.text  # as Ben's own Discord shows the command
    assert "アシスタント" in stage.model.requests[0].messages[0]["content"]


async def test_settings_have_a_button_beside_each_and_help_leads_on(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    words = texts(Locale.JA)[SessionTexts]
    help_ = await (await stage.discord.slash(aiko, channel, "help")).finished()
    assert help_.labels == [*words.help_buttons.values(), words.help_all]
    for command, told in {
        "memory": "まだありません",
        "remind": "ありません",
        "canvas": texts(Locale.JA)[CanvasTexts].empty,
        "privacy": "保存",
        "help": "/キャンバス 空にする",
    }.items():
        button = ShowButton(aiko.id, command).custom_id()
        shown = await (await stage.discord.click(aiko, help_.message, button)).finished()
        assert told in shown.text
        assert shown.ephemeral
    card = await stage.discord.click(aiko, help_.message, words.help_buttons["settings"])
    await card.finished()
    assert card.labels == [words.change_language, words.change]
    form = await (await stage.discord.click(aiko, card.message, words.change)).acknowledged()
    await stage.discord.submit_modal(form, timezone="ロンドン")
    await card.until(lambda shown: "Europe/London・" in shown.text, "the new zone")
    form = await (await stage.discord.click(aiko, card.message, words.change)).acknowledged()
    refused = await stage.discord.submit_modal(form, timezone="アトランティス")
    unknown = explain(UnknownTimezone(), texts(Locale.JA))
    await refused.until(lambda told: unknown in [each.text for each in told.messages], "the refusal")
    card = await (await stage.discord.slash(aiko, channel, "settings")).finished()
    press = await stage.discord.click(aiko, card.message, words.change_language)
    card.any_language = press.any_language = True
    await card.until(lambda shown: texts(Locale.EN)[SessionTexts].change in shown.labels, "the English card")
    assert "Europe/London, now " in card.text


async def test_a_refused_card_is_plain_text(stage: Stage, ben: User, channel: Channel) -> None:
    edit = "PATCH /webhooks/{application}/{token}/messages/@original"
    refusal = invalid_form(["components"], "BASE_TYPE_INVALID", "Invalid component")
    stage.excused.add(refusal.code)
    stage.discord.refuse(edit, refusal, times=1)
    shown = await stage.told(ben, channel, "settings")
    assert "**Time zone**" in shown
    await stage.logs("card_refused")


async def test_commands_work_everywhere_that_discord_has_under_japanese_names(stage: Stage) -> None:
    for command in stage.discord.commands:
        assert re.search(r"[ぁ-んァ-ヶ一-龠]", command.names["ja"])
        everywhere = ({0}, {0}) if command.name == "reset" else ({0, 1, 2}, {0, 1})
        assert (command.contexts, command.integration_types) == everywhere


def sent(stage: Stage) -> str:
    """All that the bot sent, as it sent it."""
    return str([entry.body for entry in stage.discord.transcript])


def mention(stage: Stage, name: str) -> str:
    [command] = [each for each in stage.discord.commands if each.name == name.split(maxsplit=1)[0]]
    return f"</{name}:{command.id}>"


@pytest.mark.restarts
async def test_a_mention_has_its_readers_words(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    await stage.restart()
    assert "/メモリ 追加" in await stage.told(aiko, channel, "memory list")
    assert "/memory add" in await stage.told(ben, channel, "memory list")
    assert "/リマインド 一覧" in await stage.told(aiko, channel, "remind delete", id=987654321)
    assert "/キャンバス 表示" in await stage.told(aiko, channel, "help")
    for name in ("memory add", "remind list", "canvas show"):
        assert mention(stage, name) in sent(stage)
