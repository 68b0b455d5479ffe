"""A server that asks back during a call: a form for who asked, on Discord."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from tests.databases import DatabaseSettings
from tests.end_to_end.stage import Stage, running_stage, set_stage, stop_label
from tests.end_to_end.test_approved_calls import CLAIMED, DO, ON_THEIR_WAY, WRITE, WRITES, proposed, told
from tests.end_to_end.test_tool_servers import name_servers, until_ready
from tests.loopback.discord import Channel, Message, Shown, User
from tests.loopback.discord import Reply as Interaction
from tests.loopback.model_server import Call, calls, says
from tests.mcp.test_forms import asking

READ = Call("notes__read", {"text": "棚"})
FILL = {"ja": "フォームに答える", "en-US": "Answer the form"}
SKIP = {"ja": "答えない", "en-US": "Don't answer"}
ANSWERED = {"ja": "フォームに答えました", "en-US": "was answered"}
DECLINED = {"ja": "フォームには答えませんでした", "en-US": "was not answered"}
OVER = {
    "ja": "このフォームは、もう送られたか、終わっています",
    "en-US": "This form was sent already, or is over",
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served(
    tmp_path_factory: pytest.TempPathFactory, database_settings: DatabaseSettings
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("cc-bot")
    async with running_stage(folder, database_settings(), module="tests.loopback.tool_servers") as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(served: Stage) -> AsyncIterator[Stage]:
    served.forget()
    asks(served, 60)
    yield served
    await served.eventually(CLAIMED, gives=[(0,)])
    await served.eventually(ON_THEIR_WAY, gives=[(0,)])
    served.check()


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
    """What the tool gave, as the model was told it."""
    [content] = [each["content"] for each in stage.model.requests[-1].messages if each["role"] == "tool"][-1:]
    return str(json.loads(content)["result"])


async def filled_in(stage: Stage, user: User, form: Shown | Message, **entered: str) -> Interaction:
    opened = await stage.discord.click(user, form, FILL[user.locale])
    await opened.until(lambda shown: shown.modal, "the fields")
    fields = {"0": "Ｂ", **{f"{name[1:]}": value for name, value in entered.items()}}
    return await stage.discord.submit_modal(opened, **fields)


async def shows(reply: Interaction, text: str) -> None:
    await reply.until(lambda shown: any(text in each.text for each in shown.messages), text)


def with_label(stage: Stage, channel: Channel, label: str) -> list[Shown]:
    return [each for each in stage.discord.messages(channel) if label in each.labels]


class TestAForm:
    @pytest.mark.parametrize("private", [False, True])
    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_is_answered_while_the_answer_waits(
        self, stage: Stage, channel: Channel, locale: str, private: bool
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await begun(stage, user, channel, "🙂 42", private=private)
        form = await asked(stage, user, reply)
        assert form.ephemeral is private
        assert "notes" in form.text
        assert "> 🗄️ A / B?" in form.text
        await filled_in(stage, user, form, _1="３")
        await ended(reply, "🙂 42")
        assert json.loads(result(stage)) == {"shelf": "b", "count": 3}
        await shows(reply, ANSWERED[locale])
        assert not any(FILL[locale] in each.labels for each in reply.messages)

    async def test_shows_the_words_of_the_server_as_a_quotation_that_pings_nobody(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await begun(stage, aiko, channel, "はい。")
        form = await asked(stage, aiko, reply)
        assert "\\*\\*!\\*\\*" in form.text
        assert "<https://evil.invalid/>" in form.text
        await stage.discord.click(aiko, form, SKIP["ja"])
        await ended(reply, "はい。")

    async def test_pressed_twice_is_answered_once(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await begun(stage, aiko, channel, "はい。")
        form = await asked(stage, aiko, reply)
        presses = await stage.discord.press(aiko, form, FILL["ja"], apart_s=0.05)
        for each in presses:
            await each.acknowledged()
        opened = [each for each in presses if each.modal]
        assert opened
        await stage.discord.submit_modal(opened[0], **{"0": "Ｂ", "1": "３"})
        await ended(reply, "はい。")
        assert json.loads(result(stage)) == {"shelf": "b", "count": 3}

    async def test_sent_from_two_devices_is_answered_once_and_says_so(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await begun(stage, aiko, channel, "はい。")
        form = await asked(stage, aiko, reply)
        opened = [await (await stage.discord.click(aiko, form, FILL["ja"])).acknowledged()]
        await asyncio.sleep(1.1)  # sooner it would be the same press
        opened.append(await (await stage.discord.click(aiko, form, FILL["ja"])).acknowledged())
        await stage.discord.submit_modal(opened[0], **{"0": "Ｂ", "1": "３"})
        await ended(reply, "はい。")
        await shows(reply, ANSWERED["ja"])
        late = await stage.discord.submit_modal(opened[1], **{"0": "Ａ", "1": "4"})
        await late.until(lambda shown: OVER["ja"] in shown.text, "that it was sent")
        await shows(reply, ANSWERED["ja"])
        assert json.loads(result(stage)) == {"shelf": "b", "count": 3}

    async def test_declined_twice_at_once_is_declined_once(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await begun(stage, aiko, channel, "はい。")
        form = await asked(stage, aiko, reply)
        for each in await stage.discord.press(aiko, form, SKIP["ja"], apart_s=0.0):
            await each.acknowledged()
        await ended(reply, "はい。")
        await shows(reply, DECLINED["ja"])
        assert len(stage.model.requests) == 2

    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_that_is_declined_ends_the_call(self, stage: Stage, channel: Channel, locale: str) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await begun(stage, user, channel, "🙂 42")
        form = await asked(stage, user, reply)
        await stage.discord.click(user, form, SKIP[locale])
        await ended(reply, "🙂 42")
        assert result(stage) == "declined"
        await shows(reply, DECLINED[locale])

    async def test_with_a_wrong_entry_gets_one_sentence_and_the_form_again(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        reply = await begun(stage, aiko, channel, "置きました。")
        form = await asked(stage, aiko, reply)
        wrong = await filled_in(stage, aiko, form, _1="たくさん")
        await wrong.until(lambda shown: shown.messages, "a sentence")
        again = wrong.messages[-1]
        assert again.text.startswith("「🔢」は整数で書いてください。")
        assert again.ephemeral
        opened = await stage.discord.click(aiko, again, FILL["ja"])
        await opened.until(lambda shown: shown.modal, "the fields")
        assert "たくさん" in str(opened.modal)
        await stage.discord.submit_modal(opened, **{"1": "4"})
        await ended(reply, "置きました。")
        assert json.loads(result(stage)) == {"shelf": "b", "count": 4}

    async def test_is_for_who_asked_alone(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        reply = await begun(stage, aiko, channel, "置きました。")
        form = await asked(stage, aiko, reply)
        for label in (FILL["ja"], SKIP["ja"]):
            pressed = await stage.discord.click(ben, form, label)
            pressed.any_language = True  # its message is for who asked
            await pressed.until(
                lambda shown: any("Only the person who asked" in each.text for each in shown.messages),
                "a sentence for them alone",
            )
            assert pressed.modal is None
        await filled_in(stage, aiko, form, _1="1")
        await ended(reply, "置きました。")

    async def test_that_comes_too_late_is_over(self, stage: Stage, aiko: User, channel: Channel) -> None:
        asks(stage, 1)
        reply = await begun(stage, aiko, channel, "もう遅いです。")
        form = await asked(stage, aiko, reply)
        opened = await stage.discord.click(aiko, form, FILL["ja"])
        await opened.until(lambda shown: shown.modal, "the fields")
        await ended(reply, "もう遅いです。")
        assert result(stage) == "too late"
        await stage.discord.submit_modal(opened, **{"0": "a"})
        await shows(reply, OVER["ja"])

    async def test_is_over_when_the_answer_is_stopped(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        stage.model.script(calls(READ))
        reply = await stage.begin(aiko, channel, "どこ？")
        await asked(stage, aiko, reply)
        await stage.discord.click(aiko, reply.message, stop_label(aiko))
        await shows(reply, OVER["ja"])
        await shows(reply, "止めました")

    async def test_after_a_restart_says_that_it_is_over(
        self, stage: Stage, ben: User, channel: Channel
    ) -> None:
        reply = await begun(stage, ben, channel, "?", private=True)
        form = await asked(stage, ben, reply)
        await stage.restart()
        await stage.discord.click(ben, form, FILL["en-US"])
        await reply.until(
            lambda shown: any(OVER["en-US"] in each.text and not each.labels for each in shown.messages),
            "that it is over",
        )


class TestAfterAPress:
    @pytest.mark.parametrize("private", [False, True])
    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_the_form_stands_below_the_message_of_the_call(
        self, stage: Stage, channel: Channel, locale: str, private: bool
    ) -> None:
        user = stage.discord.user("Someone", locale=locale)
        reply = await proposed(stage, user, channel, WRITES[locale], private=private)
        stage.model.script(says("🙂 7"))
        pressed = await stage.discord.click(user, reply.message, DO[locale])
        form = await asked(stage, user, pressed)
        assert form.ephemeral is private
        await filled_in(stage, user, form, _1="2")
        await ended(pressed, "🙂 7")
        assert '"count": 2' in str(stage.model.requests[-1].messages).replace("\\", "")

    async def test_stop_takes_it_back(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await proposed(stage, aiko, channel, WRITE)
        pressed = await stage.discord.click(aiko, reply.message, DO["ja"])
        await asked(stage, aiko, pressed)
        await told(stage, reply.stored[0], "🔧 実行しています: notes · write")
        await stage.discord.click(aiko, reply.message, stop_label(aiko))
        await told(stage, reply.stored[0], "⏹️ 止めました: notes · write")
        await shows(pressed, OVER["ja"])


class TestInAChannel:
    async def test_who_asked_answers_in_a_message_below(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        stage.model.script(calls(READ), says("置きました。"))
        message = await stage.write(aiko, channel, "置いて")
        async with stage.patience():
            while not (forms := with_label(stage, channel, FILL["ja"])):  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.02)
        denied = await stage.discord.click(ben, forms[0], FILL["ja"])
        denied.any_language = True  # its message is for who asked
        await denied.finished()
        await filled_in(stage, aiko, forms[0], _1="5")
        await stage.says(message, "置きました。")
        assert json.loads(result(stage)) == {"shelf": "b", "count": 5}


LOCAL: Final = {"cc_bot": {"local": ["*"]}}


class TestARealServer:
    @pytest.mark.parametrize("locale", ["ja", "en-US"])
    async def test_asks_through_the_protocol_and_for_no_secret(self, tmp_path: Path, locale: str) -> None:
        (tmp_path / "more").mkdir()
        secret = asking(tmp_path / "more", pin={"type": "string", "title": "暗証番号"})
        name_servers(
            tmp_path,
            notes=asking(tmp_path, "👤?", name={"type": "string", "title": "👤"}) | LOCAL,
            bank=secret | LOCAL,
        )
        async with set_stage(tmp_path, {}) as stage:
            await stage.start()
            user, channel = stage.discord.user("Aiko", locale=locale), stage.discord.guild_channel()
            stage.discord.owner.locale = locale
            for server in ("notes", "bank"):
                ready = "使えます" if locale == "ja" else "ready"
                await until_ready(stage, stage.discord.owner, server, ready)
            name = "愛子" if locale == "ja" else "Aiko"
            stage.model.script(calls(Call("notes__echo", {"text": "猫"})), says("🙂 1"))
            reply = await stage.begin(user, channel, "誰？" if locale == "ja" else "Who?")
            form = await asked(stage, user, reply)
            opened = await stage.discord.click(user, form, FILL[locale])
            await opened.until(lambda shown: shown.modal, "the fields")
            await stage.discord.submit_modal(opened, **{"0": name})
            await ended(reply, "🙂 1")
            assert name in result(stage)
            stage.model.script(calls(Call("bank__echo", {"text": "猫"})), says("🙂 2"))
            reply = await stage.begin(user, channel, "誰？" if locale == "ja" else "Who?")
            await ended(reply, "🙂 2")
            refused = "断りました" if locale == "ja" else "That was declined"
            assert any(refused in each.text for each in reply.messages)
            assert not any(FILL[locale] in each.labels for each in reply.messages)
            assert "it asked for a secret" in result(stage)
            stage.check()
