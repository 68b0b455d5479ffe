from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cc_bot.domain.text import Locale
from cc_bot.features.admin.texts import AdminTexts, ConsoleTexts
from cc_bot.texts import texts
from tests.end_to_end.memories import keep
from tests.end_to_end.reminders import said
from tests.end_to_end.stage import Stage, again_label, ended, stop_label, streaming
from tests.loopback.discord import Channel, Reply, User
from tests.loopback.model_server import Hang, Say
from tests.loopback.model_server import Reply as Answer

SHUT = {"ja": "お使いいただけない設定", "en-US": "set up not to answer here"}


@pytest.fixture
def owner(stage: Stage) -> User:
    return stage.discord.owner


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def open_afterwards(stage: Stage) -> AsyncIterator[None]:
    """Rules are everybody's: other tests use the same program."""
    yield
    stage.change("DELETE FROM access_rules")


async def decide(stage: Stage, owner: User, channel: Channel, ruling: str, **subject: str) -> str:
    return await stage.told(owner, channel, f"admin access {ruling}", **subject)


async def is_closed_to_users(reply: Reply) -> None:
    await reply.finished()
    assert reply.ephemeral
    assert SHUT[reply.locale] in reply.text


async def test_a_denied_user_is_told_by_all(stage: Stage, aiko: User, owner: User, channel: Channel) -> None:
    discord = stage.discord
    answer = await stage.ask_in_words(aiko, channel, "はい")
    number = await keep(stage, aiko, channel, "猫が好き")
    form = await discord.slash(aiko, channel, "memory edit", id=number)
    await form.finished()
    note = await discord.post(aiko, channel, "会議は3時")
    requests = len(stage.model.requests)
    assert f"<@{aiko.id}>" in await decide(stage, owner, channel, "deny", subject=aiko.mention)
    await is_closed_to_users(await discord.slash(aiko, channel, "ask", question="ねえ"))
    await is_closed_to_users(await discord.slash(aiko, discord.dm(aiko), "memory list"))
    await is_closed_to_users(await discord.message_command(aiko, channel, "Remember this", note))
    await is_closed_to_users(await discord.click(aiko, answer.message, again_label(aiko)))
    await is_closed_to_users(await discord.submit_modal(form, content="犬が好き"))
    assert await discord.autocomplete(aiko, channel, "memory delete", id="猫") == []
    assert "件" in await stage.told(aiko, channel, "privacy show")
    assert len(stage.model.requests) == requests
    assert stage.rows("SELECT content FROM memories WHERE user_id = ? AND number = ?", aiko.id, number) == [
        ("猫が好き",)
    ]
    here = f"<#{channel.id}>"
    await decide(stage, owner, channel, "allow", subject=here)
    listed = await decide(stage, owner, channel, "list")
    words = texts(Locale.from_tag(owner.locale))[AdminTexts]
    for line in (
        words.allowed.format(subject=here),
        words.denied.format(subject=aiko.mention),
        texts(Locale.from_tag(owner.locale))[ConsoleTexts].access_hint,
        words.access_owners.format(owners=owner.mention),
    ):
        assert line in listed
    await decide(stage, owner, channel, "remove", subject=here)
    await decide(stage, owner, channel, "remove", subject=aiko.mention)
    await stage.ask_in_words(aiko, channel, "また、どうぞ")


async def test_a_denied_user_is_told_in_dms_alone_and_can_stop_an_answer(
    stage: Stage, ben: User, owner: User
) -> None:
    channel, other = stage.discord.guild_channel(), stage.discord.guild_channel()
    stage.model.script(Answer(Say("Once upon a time"), Hang()))
    reply = await streaming(await stage.begin(ben, channel, "A story"), "Once upon")
    await decide(stage, owner, channel, "deny", subject=str(ben.id), kind="user")
    await stage.discord.click(ben, reply.message, stop_label(ben))
    assert "Stopped here" in (await ended(reply)).text
    await stage.write(ben, other, "Hello?")
    written = await stage.write(ben, stage.discord.dm(ben), "Hello?", mention=False)
    await stage.says(written, SHUT["en-US"])
    assert said(stage, other) == []
    assert len(stage.model.requests) == 1
    assert stage.stored(other) == []
