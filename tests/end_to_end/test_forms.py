"""A server that asks back during a call: a form for who asked, on Discord."""

import json

import pytest

from cc_bot.domain.text import Locale
from cc_bot.features.mcp.texts import FormTexts
from cc_bot.texts import texts
from tests.end_to_end.stage import Stage, stop_label
from tests.end_to_end.tool_calls import whispers
from tests.loopback.discord import Channel, Message, Shown, User
from tests.loopback.discord import Reply as Interaction
from tests.loopback.model_server import Call, calls, says

JA, EN = texts(Locale.JA)[FormTexts], texts(Locale.EN)[FormTexts]
READ = Call("notes__read", {"text": "棚"})
FILL = {"ja": JA.fill, "en-US": EN.fill}
SKIP = {"ja": JA.skip, "en-US": EN.skip}
OVER = {"ja": JA.ended, "en-US": EN.ended}
ANSWERED = {"ja": JA.answered.format(server="notes"), "en-US": EN.answered.format(server="notes")}


@pytest.fixture
def one_of_the_stages(tool_stage: Stage) -> Stage:
    asks(tool_stage, 60)
    return tool_stage


def asks(stage: Stage, seconds: float) -> None:
    """Have each call ask back, and wait so long."""
    (stage.program.folder / "asks.json").write_text(json.dumps(seconds), "utf-8")


async def asked(stage: Stage, user: User, reply: Interaction) -> Shown:
    """The message with the form, of a turn or after a press."""
    label = FILL[user.locale]
    await reply.until(lambda shown: any(label in each.labels for each in shown.messages), "the form")
    return next(each for each in reply.messages if label in each.labels)


async def begun(stage: Stage, user: User, channel: Channel, answer: str, **options: bool) -> Interaction:
    """A turn whose tool asks back; with what came of it the model answers this."""
    stage.model.script(calls(READ), says(answer))
    return await stage.begin(user, channel, "どこ？" if user.locale == "ja" else "Where?", **options)


async def ended(reply: Interaction, answer: str) -> None:
    await reply.finished(lambda shown: any(answer in each.text for each in shown.messages))


def result(stage: Stage) -> str:
    [content] = [each["content"] for each in stage.model.requests[-1].messages if each["role"] == "tool"][-1:]
    return str(json.loads(content)["result"])


async def opened(stage: Stage, user: User, form: Shown | Message) -> Interaction:
    pressed = await stage.discord.click(user, form, FILL[user.locale])
    return await pressed.until(lambda shown: shown.modal, "the fields")


async def filled_in(stage: Stage, user: User, form: Shown | Message, count: str) -> Interaction:
    return await stage.discord.submit_modal(await opened(stage, user, form), **{"0": "Ｂ", "1": count})


async def shows(reply: Interaction, text: str) -> None:
    await reply.until(lambda shown: any(text in each.text for each in shown.messages), text)


async def test_a_form_is_for_who_asked(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    for user, other, private in ((aiko, ben, False), (ben, aiko, True)):
        reply = await begun(stage, user, channel, "🙂 42", private=private)
        form = await asked(stage, user, reply)
        assert form.ephemeral is private
        assert "> 🗄️ A / B?" in form.text
        assert "\\*\\*!\\*\\*" in form.text
        assert "<https://evil.invalid/>" in form.text
        if not private:
            for label in (FILL["ja"], SKIP["ja"]):
                pressed = await stage.discord.click(other, form, label)
                pressed.any_language = True  # its message is for who asked
                await whispers(pressed, EN.not_yours)
                assert pressed.modal is None
        await filled_in(stage, user, form, "３")
        await ended(reply, "🙂 42")
        assert json.loads(result(stage)) == {"shelf": "b", "count": 3}
        await shows(reply, ANSWERED[user.locale])
        assert not any(FILL[user.locale] in each.labels for each in reply.messages)


async def test_a_wrong_entry_is_told_and_asked_again(stage: Stage, aiko: User, channel: Channel) -> None:
    reply = await begun(stage, aiko, channel, "置きました。")
    form = await asked(stage, aiko, reply)
    wrong = await filled_in(stage, aiko, form, "たくさん")
    await wrong.until(lambda shown: shown.messages, "a sentence")
    again = wrong.messages[-1]
    assert again.text.startswith("「🔢」は整数で書いてください。")
    assert again.ephemeral
    fields = await opened(stage, aiko, again)
    assert "たくさん" in str(fields.modal)
    await stage.discord.submit_modal(fields, **{"1": "4"})
    await ended(reply, "置きました。")
    assert json.loads(result(stage)) == {"shelf": "b", "count": 4}


async def test_a_form_ends_with_its_call(stage: Stage, aiko: User, channel: Channel) -> None:
    asks(stage, 1)
    reply = await begun(stage, aiko, channel, "もう遅いです。")
    fields = await opened(stage, aiko, await asked(stage, aiko, reply))
    await ended(reply, "もう遅いです。")
    assert result(stage) == "too late"
    await stage.discord.submit_modal(fields, **{"0": "a"})
    await shows(reply, OVER["ja"])
    asks(stage, 60)
    stage.model.script(calls(READ))
    reply = await stage.begin(aiko, channel, "どこ？")
    await asked(stage, aiko, reply)
    await stage.discord.click(aiko, reply.message, stop_label(aiko))
    await shows(reply, OVER["ja"])
    await shows(reply, "止めました")


async def test_a_restart_ends_a_form(stage: Stage, ben: User, channel: Channel) -> None:
    reply = await begun(stage, ben, channel, "?", private=True)
    form = await asked(stage, ben, reply)
    await stage.restart()
    await stage.discord.click(ben, form, FILL["en-US"])
    await reply.until(
        lambda shown: any(OVER["en-US"] in each.text and not each.labels for each in shown.messages),
        "that it is over",
    )
