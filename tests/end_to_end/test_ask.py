"""`/ask` and the buttons below its answer: what happens to the answer, and who may press."""

import asyncio

import pytest

from cc_bot.domain.errors import ModelRefusedKey, NotNewest
from cc_bot.domain.text import Locale
from cc_bot.texts import explain, texts
from cc_bot.texts.answer import AnswerTexts
from tests.end_to_end.stage import Stage, again_label, answered, ended, stop_label, streaming
from tests.loopback.discord import Channel, Shown, User
from tests.loopback.model_server import (
    Call,
    CutConnection,
    End,
    Hang,
    Pause,
    Reply,
    Say,
    Wait,
    calls,
    fails,
    says,
)

JA, EN = texts(Locale.JA)[AnswerTexts], texts(Locale.EN)[AnswerTexts]


async def test_ask_is_streamed_and_then_stored(stage: Stage, aiko: User, channel: Channel) -> None:
    go_on = asyncio.Event()
    stage.model.script(Reply(Say("こんにちは。"), Wait(go_on), *says("お元気ですか。").steps))
    reply = await stage.begin(aiko, channel, "やあ")
    await streaming(reply, "こんにちは。")
    assert "お元気ですか。" not in reply.text
    go_on.set()
    await answered(reply)
    assert reply.text.startswith("こんにちは。お元気ですか。")
    assert not reply.ephemeral
    assert reply.labels == [JA.regenerate]
    assert stage.stored(channel) == [
        ("user", "やあ", "complete"),
        ("assistant", "こんにちは。お元気ですか。", "complete"),
    ]


async def test_stop_keeps_what_was_seen(stage: Stage, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("Once upon a time"), Hang()))
    reply = await streaming(await stage.begin(ben, channel, "A story"), "Once upon a time")
    await stage.discord.click(ben, reply.message, EN.stop)
    await reply.until(lambda shown: EN.stopped in shown.text, "that it was stopped")
    assert reply.text.startswith("Once upon a time")
    await answered(reply)
    assert stage.stored(channel)[-1] == ("assistant", "Once upon a time", "stopped")
    async with stage.patience():
        await stage.model.requests[0].disconnected.wait()


async def test_a_failure_is_told_in_ones_language(
    stage: Stage, aiko: User, ben: User, channel: Channel
) -> None:
    stage.model.responder = lambda _: fails(401)
    for user, locale in ((aiko, Locale.JA), (ben, Locale.EN)):
        reply = await ended(await stage.begin(user, channel, "?"))
        assert reply.text == explain(ModelRefusedKey(), texts(locale))
    assert stage.stored(channel) == []


async def test_an_answer_pings_nobody(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(says(f"@everyone {ben.mention} さん、", "こんにちは。", delay_s=0.1))
    reply = await stage.ask(aiko, channel, "みんなに挨拶して")
    assert "@everyone" in reply.text
    assert stage.discord.pings == []


async def test_an_answer_speaks_ones_language(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    chloe = stage.discord.user("Chloé", locale="fr")
    for user, answer, words in ((aiko, "はい。", JA), (ben, "Yes.", EN), (chloe, "Oui.", EN)):
        first = await stage.ask_in_words(user, channel, answer)
        assert first.labels == [words.regenerate]
        assert ("/ヘルプ で" if user is aiko else "/help") in first.text
        system = stage.model.requests[-1].messages[0]["content"]
        assert ("アシスタント" in system) is (user is aiko)
        second = await stage.ask_in_words(user, stage.discord.dm(user), answer)
        assert second.text == answer
    asked = len(stage.model.requests)
    reply = await stage.begin(ben, channel, " \n ")
    await reply.finished(lambda shown: "empty" in shown.text)
    assert len(stage.model.requests) == asked


async def test_buttons_refuse_others_and_old(stage: Stage, aiko: User, ben: User, channel: Channel) -> None:
    stage.model.script(Reply(Say("Once upon"), CutConnection()))
    reply = await stage.ask(ben, channel)
    for label in (EN.continue_, EN.regenerate):
        press = await stage.discord.click(aiko, reply.message, label)
        await press.finished()
        assert press.ephemeral
        assert "質問した人だけ" in press.text
    stage.model.script(says("Newer."))
    await stage.ask(ben, channel)
    refusal = texts(Locale.EN).for_error(NotNewest).partition("</")[0]
    for label in (EN.continue_, EN.regenerate):
        press = await stage.discord.click(ben, reply.message, label)
        await press.until(lambda shown: any(refusal in each.text for each in shown.messages), refusal)
        assert reply.text.startswith("Once upon")
    assert len(stage.model.requests) == 2


@pytest.mark.slow
async def test_text_and_tools_are_shown_as_they_come(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(
        Reply(
            *(Pause(0.3), Say("調べます:\n```python\nprint(1)\n"), Pause(1.5), Say("```\n")),
            *calls(Call("recall", {"query": "誕生日"})).steps,
        ),
        Reply(Pause(1.5), Say("見つかりませんでした。"), Pause(2.6), End()),
    )
    reply = await stage.begin(aiko, channel, "誕生日は？")
    await streaming(reply, "print(1)")
    assert reply.text.count("```") == 2  # a fence that is still open is closed
    await streaming(reply, "-# 🔎 メモリを探しています…")
    assert "調べます" in reply.text
    await streaming(reply, "見つかりませんでした。")
    await answered(reply)
    assert "-# 🔎" not in reply.text


SENTENCE = "これは長い話の一文で、句点までが一つのまとまりです。"


def long_text(characters: int) -> str:
    """Numbered sentences, so that a lost or doubled one is noticed."""
    return "".join(f"{number}番目。{SENTENCE}" for number in range(characters // len(SENTENCE)))[:characters]


def own_words(message: Shown) -> str:
    """A message without what the bot states under it."""
    return message.content


def file_of(message: Shown) -> str:
    [attachment] = message.attachments
    assert attachment.file.name.endswith(".md")
    return attachment.file.data.decode()


@pytest.mark.slow
async def test_an_answer_moves_while_it_streams_and_takes_few_requests(
    stage: Stage, aiko: User, channel: Channel
) -> None:
    steps = [step for number in range(20) for step in (Say(f"{number}番目の文です。"), Pause(0.3))]
    stage.model.script(*[Reply(*steps, *says("おわり。").steps)] * 2)
    reply, message = await asyncio.gather(
        stage.begin(aiko, channel, "お話をして"), stage.write(aiko, channel, "お話をして")
    )
    await asyncio.gather(answered(reply), stage.says(message, "おわり。"))
    await stage.discord.quiet()
    webhook = stage.discord.calls("PATCH /webhooks/{application}/{token}/messages/@original")
    asked = [call for call in webhook if call.params["token"] == reply.interaction.token]
    mentioned = stage.discord.calls("PATCH /channels/{channel}/messages/{message}", channel=channel)
    assert len(asked) <= 5, "and the one that accepts the question"
    assert len(mentioned) >= 5


@pytest.mark.slow
async def test_any_length_takes_the_location_of_any(stage: Stage, aiko: User, channel: Channel) -> None:
    stage.model.script(Reply(Say(long_text(2500)), Hang()))
    reply = await stage.begin(aiko, channel)
    await reply.until(lambda shown: len(shown.messages) == 2, "a second message")
    await stage.discord.click(aiko, reply.messages[1], stop_label(aiko))
    await answered(reply)
    assert "".join(own_words(message) for message in reply.messages) == long_text(2500)
    last: Shown = reply.messages[-1]
    for length, count in ((30, 1), (8000, 5), (12000, 1), (3000, 2), (12000, 1), (30, 1)):
        stage.model.script(says(long_text(length)))
        await answered(await stage.discord.click(aiko, last, again_label(aiko)))
        await stage.discord.wait(
            lambda count=count: len(stage.discord.messages(channel)) == count,  # type: ignore[misc]
            f"{count} messages",
        )
        *above, last = stage.discord.messages(channel)
        assert [message.labels for message in above] == [[]] * len(above)
        assert last.labels == [again_label(aiko)]
        if length == 12000:
            assert file_of(last) == long_text(length)
            assert "全文をファイルで" in last.text
            assert long_text(length).startswith(own_words(last))
            assert len(own_words(last)) > 1000
        else:
            assert "".join(map(own_words, (*above, last))) == long_text(length)
            assert last.attachments == ()
