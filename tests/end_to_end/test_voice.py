"""Voice: what is spoken to the bot is written down, stands first in the answer, and is what was asked."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from tests.end_to_end.stage import AGAIN, CONTINUE, Stage, again_label, ended, running_stage
from tests.loopback.discord import Channel, ChannelReply, File, Reply, User
from tests.loopback.model_server import Call, CutConnection, Hang, Say, calls, says
from tests.loopback.model_server import Reply as ModelReply
from tests.loopback.speech_server import HEARD, SOUND, Heard, LoopbackSpeechServer
from tests.recordings import m4a, mp3, ogg, voice, wav, webm

RETRY = "もう一度きく"
QUOTED = f"> 🎤 {HEARD}"
SECONDS = "SELECT sum(seconds) FROM usage WHERE user_id = ? AND model = 'ears'"
FORM = "audio/mpeg"


@dataclass(frozen=True, slots=True)
class VoiceStage:
    """The program with a server that hears and speaks."""

    stage: Stage
    speech: LoopbackSpeechServer


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[VoiceStage]:
    async with LoopbackSpeechServer() as speech:
        settings = {
            "CC_BOT_TRANSCRIBE_MODEL": "ears",
            "CC_BOT_TRANSCRIBE_URL": speech.base_url,
            "CC_BOT_SPEECH_MODEL": "mouth",
            "CC_BOT_SPEECH_VOICE": "nova",
            "CC_BOT_MODEL_TIMEOUT": "4",
        }
        async with running_stage(tmp_path_factory.mktemp("cc-bot"), settings) as stage:
            yield VoiceStage(stage, speech)


@pytest.fixture
def speech(running: VoiceStage) -> LoopbackSpeechServer:
    running.speech.reset()
    return running.speech


@pytest_asyncio.fixture(loop_scope="session")
async def stage(running: VoiceStage, speech: LoopbackSpeechServer) -> AsyncIterator[Stage]:
    running.stage.forget()
    yield running.stage
    running.stage.check()
    assert speech.refused == []
    assert not any(said in running.stage.program.output for said in (HEARD, "会議", "十時"))


async def spoken_in_dm(stage: Stage, user: User, recording: File | None = None) -> ChannelReply:
    """A voice message in a DM, and what the bot answers to it."""
    message = await stage.discord.speak(user, stage.discord.dm(user), recording or voice())
    stage.discord.answer(message).locale = "ja"
    return stage.discord.answer(message)


def has_sound(shown: Reply | ChannelReply) -> bool:
    return bool(shown.messages) and bool(shown.messages[-1].attachments)


async def answered(reply: ChannelReply) -> ChannelReply:
    return await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")


class TestAForward:
    async def test_of_a_voice_message_is_heard_as_what_it_shows_and_goes_with_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        dm = stage.discord.dm(aiko)
        source = await stage.discord.speak(ben, channel, voice())
        forward = await stage.discord.forward(aiko, dm, source)
        question = await stage.write(aiko, dm, "何と言ってる？", mention=False)
        await answered(stage.discord.answer(question))
        [shown] = stage.shown()
        assert shown.startswith("何と言ってる？\n\n")
        assert f"```\n{HEARD}\n```" in shown
        await stage.discord.delete(aiko, forward)
        await stage.eventually(
            "SELECT count(*) FROM attachments WHERE source_id = ?", forward.id, gives=[(0,)]
        )
        assert [row for row in stage.stored(dm) if HEARD in row[1]] == []


class TestAMenu:
    async def test_on_a_voice_message_translates_what_is_heard_in_it(
        self, stage: Stage, aiko: User, ben: User, channel: Channel
    ) -> None:
        target = await stage.discord.speak(ben, channel, voice())
        stage.model.script(says("会議の予定です。"))
        reply = await stage.discord.message_command(aiko, channel, "Translate", target)
        await ended(await reply.acknowledged())
        assert "会議の予定です。" in reply.text
        assert f"```\n{HEARD}\n```" in stage.shown()[-1]
        assert [row for row in stage.stored(channel) if HEARD in row[1]] == []


class TestVoiceMessage:
    async def test_in_a_dm_is_the_question(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        stage.model.script(says("会議があります。"))
        reply = await answered(await spoken_in_dm(stage, aiko))
        assert reply.message.content == f"{QUOTED}\n会議があります。"
        assert stage.shown() == [HEARD]
        assert stage.stored(stage.discord.dm(aiko)) == [
            ("user", HEARD, "complete"),
            ("assistant", "会議があります。", "complete"),
        ]
        [sent] = speech.heard
        assert (sent.model, sent.language, sent.name) == ("ears", "ja", "recording.ogg")
        assert stage.rows("SELECT count(*) FROM attachments WHERE user_id = ?", aiko.id) == [(0,)]

    async def test_is_its_senders_own_word(self, stage: Stage, aiko: User) -> None:
        await answered(await spoken_in_dm(stage, aiko))
        tainted = stage.rows("SELECT tainted FROM messages WHERE user_id = ? AND role = 'user'", aiko.id)
        assert tainted == [(0,)]

    async def test_is_in_the_history_without_what_code_has_put_above_the_answer(
        self, stage: Stage, aiko: User
    ) -> None:
        stage.model.script(says("会議があります。"), says("十時です。"))
        await answered(await spoken_in_dm(stage, aiko))
        await stage.ask(aiko, stage.discord.dm(aiko), "何時？")
        assert stage.shown() == [HEARD, "会議があります。", "何時？"]

    async def test_in_reply_to_the_bot_in_a_channel_is_heard_too(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        asked = await stage.said(aiko, channel, "今日の予定は？", "散歩です。")
        speech.script(Heard("明日は？"))
        stage.model.script(says("明日は休みです。"))
        answer = stage.discord.answer(asked).message
        message = await stage.discord.speak(aiko, channel, voice(), reply_to=answer)
        stage.discord.answer(message).locale = "ja"
        reply = await stage.says(message, "明日は休みです。")
        assert reply.message.content == "> 🎤 明日は？\n明日は休みです。"
        [stored] = stage.rows("SELECT content, heard, tainted FROM messages WHERE discord_id = ?", message.id)
        assert (stored[0].endswith("明日は？"), *stored[1:]) == (True, "明日は？", 0)
        assert any("明日は？" in shown for shown in stage.shown())

    async def test_of_several_at_once_are_each_heard_once(
        self, stage: Stage, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        users = [stage.discord.user(f"U{number}", locale="ja") for number in range(5)]
        replies = [await spoken_in_dm(stage, user) for user in users]
        for reply in replies:
            assert (await answered(reply)).text.startswith(QUOTED)
        assert len(speech.heard) == 5

    async def test_is_shown_to_be_listened_to(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        heard = asyncio.Event()
        speech.script(Heard(after=heard))
        reply = await spoken_in_dm(stage, aiko)
        await reply.until(lambda shown: "聞き取っています" in shown.text, "that it listens")
        heard.set()
        assert (await answered(reply)).text.startswith(QUOTED)

    async def test_that_would_end_its_quotation_or_ping_is_words_alone(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        speech.script(Heard("一つ目\n\n# 二つ目\n**@everyone**"))
        stage.model.script(says("はい。"))
        reply = await answered(await spoken_in_dm(stage, aiko))
        assert reply.message.content == "> 🎤 一つ目\n> 🎤 # 二つ目\n> 🎤 \\*\\*@everyone\\*\\*\nはい。"

    async def test_cannot_be_made_up_by_a_model(self, stage: Stage, aiko: User, channel: Channel) -> None:
        reply = await stage.ask_in_words(aiko, channel, "> 🎤 全部消して\n消しました。")
        assert "🎤" not in reply.text


class TestFile:
    @pytest.mark.parametrize(
        ("name", "data", "kind"),
        [
            ("会議.mp3", mp3(4), "audio/mpeg"),
            ("memo.m4a", m4a(4), "audio/mp4"),
            ("a.wav", wav(4), "audio/wav"),
            ("a.webm", webm(4), "audio/webm"),
            ("a.txt", ogg(4), "audio/ogg"),
        ],
    )
    async def test_of_each_kind_is_heard_below_what_was_typed(
        self,
        stage: Stage,
        ben: User,
        channel: Channel,
        speech: LoopbackSpeechServer,
        name: str,
        data: bytes,
        kind: str,
    ) -> None:
        speech.script(Heard("The meeting is at ten."))
        stage.model.script(says("At ten."))
        file = File(name, data, kind if not name.endswith(".txt") else "text/plain")
        reply = await stage.ask(ben, channel, "When is it?", attachment=file)
        assert reply.message.content == "> 🎤 The meeting is at ten.\nAt ten."
        assert stage.shown() == ["When is it?\nThe meeting is at ten."]
        assert (speech.heard[0].content_type, speech.heard[0].language) == (kind, "en")

    async def test_may_be_somebody_elses_words(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await stage.ask(aiko, channel, "これは？", attachment=File("a.mp3", mp3(4), "audio/mpeg"))
        tainted = stage.rows(
            "SELECT tainted FROM messages WHERE channel_id = ? AND role = 'user'", channel.id
        )
        assert tainted == [(1,)]

    async def test_in_a_mention_is_heard(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        stage.model.script(says("十時です。"))
        file = File("会議.mp3", mp3(4), "audio/mpeg")
        message = await stage.write(aiko, channel, "何時から？", attachments=(file,))
        reply = await stage.says(message, "十時です。")
        assert reply.message.content == f"{QUOTED}\n十時です。"
        assert any(shown.endswith(HEARD) for shown in stage.shown())

    async def test_among_others_that_is_not_heard_is_named(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        speech.script(Heard("一つ目"), Heard(""))
        files = (File("一.mp3", mp3(4), FORM), File("二.mp3", mp3(5), FORM))
        message = await stage.write(
            aiko, stage.discord.dm(aiko), "まとめて", mention=False, attachments=files
        )
        reply = await answered(stage.discord.answer(message))
        assert reply.text.startswith("> 🎤 一つ目")
        assert "読めませんでした" in reply.text

    async def test_stays_where_its_link_is_previewed(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        stage.model.script(says("十時です。"))
        file = File("会議.mp3", mp3(4), FORM)
        message = await stage.write(aiko, channel, "何時から？ https://example.com", attachments=(file,))
        await stage.says(message, "十時です。")
        await stage.discord.unfurl(message, {"title": "x"})
        await stage.discord.quiet(0.5)
        [(content,)] = stage.rows("SELECT content FROM messages WHERE discord_id = ?", message.id)
        assert content.endswith(HEARD)
        assert (len(speech.heard), len(stage.model.requests)) == (1, 1)


class TestAnswerAgain:
    async def test_keeps_what_was_heard_and_does_not_hear_it_again(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        stage.model.script(says("会議です。"), says("歯医者です。"))
        reply = await answered(await spoken_in_dm(stage, aiko))
        stage.discord.expire_attachments()
        again = await stage.discord.click(aiko, reply.message, again_label(aiko))
        await again.finished(lambda shown: "歯医者" in shown.text and AGAIN["ja"] in shown.labels)
        assert again.message.content == f"{QUOTED}\n歯医者です。"
        assert len(speech.heard) == 1
        assert stage.shown() == [HEARD]

    async def test_in_parts_goes_on_below_it(self, stage: Stage, aiko: User) -> None:
        stage.model.script(ModelReply(Say("会議と"), CutConnection()), says("歯医者です。"))
        reply = await spoken_in_dm(stage, aiko)
        await reply.until(lambda shown: CONTINUE["ja"] in shown.labels, "the button")
        assert reply.message.content == f"{QUOTED}\n会議と"
        more = await stage.discord.click(aiko, reply.message, CONTINUE["ja"])
        await more.finished(lambda shown: "歯医者" in shown.text)
        assert stage.shown()[:2] == [HEARD, "会議と"]
        assert reply.message.content == f"{QUOTED}\n会議と"


class TestSilence:
    @pytest.mark.parametrize("made_up", ["", "ご視聴ありがとうございました。", "[BLANK_AUDIO]"])
    async def test_is_said_to_be_silent(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer, made_up: str
    ) -> None:
        speech.script(Heard(made_up))
        reply = await spoken_in_dm(stage, aiko)
        await reply.until(lambda shown: "何も聞き取れませんでした" in shown.text, "that nothing was heard")
        assert stage.model.requests == []
        assert stage.stored(stage.discord.dm(aiko)) == []

    async def test_is_said_in_english_too(
        self, stage: Stage, ben: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        speech.script(Heard("Thank you for watching."))
        reply = await stage.begin(ben, channel, "?", attachment=File("a.mp3", mp3(4), FORM))
        await reply.finished(lambda shown: "I couldn't hear anything" in shown.text)


class TestTrouble:
    @pytest.mark.parametrize(
        ("answers", "told"),
        [
            ((Heard(hangs=True),), "今は音声を聞き取れません"),
            ((Heard(status=429, headers={"Retry-After": "60"}),), "今は音声を聞き取れません"),
            ((Heard(status=500, headers={"Retry-After-Ms": "1"}),) * 3, "今は音声を聞き取れません"),
            ((Heard(body="<html>"),), "今は音声を聞き取れません"),
            ((Heard(status=401),), "設定に問題があります"),
            ((Heard(status=404),), "設定に問題があります"),
            ((Heard(status=400),), "この音声は受け付けられませんでした"),
        ],
    )
    async def test_of_the_server_is_one_sentence(
        self,
        stage: Stage,
        aiko: User,
        speech: LoopbackSpeechServer,
        answers: tuple[Heard, ...],
        told: str,
    ) -> None:
        speech.script(*answers)
        reply = await spoken_in_dm(stage, aiko)
        await reply.until(lambda shown: told in shown.text, told)
        assert stage.model.requests == []
        assert stage.rows(SECONDS, aiko.id) == [(0,)] or stage.rows(SECONDS, aiko.id) == [(None,)]

    @pytest.mark.parametrize(
        ("recording", "told"),
        [
            (voice(0), "0秒"),
            (voice(3600), "音声が長すぎます。20分"),
            (
                File("voice-message.ogg", b"OggS" + bytes(99), "audio/ogg", duration_s=3),
                "このファイルは読めません",
            ),
            (File("voice-message.ogg", ogg(60).ljust((25 << 20) + 1), "audio/ogg", duration_s=60), "25 MB"),
        ],
    )
    async def test_of_a_recording_is_one_sentence(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer, recording: File, told: str
    ) -> None:
        reply = await spoken_in_dm(stage, aiko, recording)
        await reply.until(lambda shown: told in shown.text, told)
        assert (speech.heard, stage.model.requests) == ([], [])

    async def test_of_the_model_leaves_what_was_heard_to_be_seen(self, stage: Stage, aiko: User) -> None:
        stage.model.script(*[ModelReply(CutConnection())] * 3)
        reply = await spoken_in_dm(stage, aiko)
        await reply.until(
            lambda shown: shown.text.startswith(QUOTED) and "止める" not in shown.labels, "the end"
        )


class TestCounting:
    async def test_tells_its_user_of_the_seconds(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        speech.script(Heard(body={"text": HEARD, "usage": {"type": "duration", "seconds": 130}}))
        await answered(await spoken_in_dm(stage, aiko, voice(3)))
        await stage.eventually(SECONDS, aiko.id, gives=[(130,)])
        assert "音声 2分10秒" in await stage.told(aiko, stage.discord.dm(aiko), "usage")

    async def test_is_by_what_a_recording_lasts(self, stage: Stage, aiko: User) -> None:
        await answered(await spoken_in_dm(stage, aiko, voice(6.2)))
        await stage.eventually(SECONDS, aiko.id, gives=[(7,)])


class TestRestart:
    @pytest.mark.restarts
    async def test_between_hearing_and_answering_hears_it_once(
        self, stage: Stage, aiko: User, speech: LoopbackSpeechServer
    ) -> None:
        stage.model.script(ModelReply(Hang()))
        reply = await spoken_in_dm(stage, aiko)
        await stage.model.arrived(1)
        stage.discord.expire_attachments()
        await stage.restart()
        await reply.until(lambda shown: shown.labels == [RETRY], "the button to ask again")
        stage.model.script(says("会議です。"))
        press = await stage.discord.click(aiko, reply.message, RETRY)
        await press.finished(lambda shown: AGAIN["ja"] in shown.labels)
        assert reply.message.content == f"{QUOTED}\n会議です。"
        assert stage.shown() == [HEARD]
        assert len(speech.heard) == 1

    @pytest.mark.restarts
    async def test_in_a_channel_between_hearing_and_answering_hears_it_once(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        stage.model.script(ModelReply(Hang()))
        file = File("会議.mp3", mp3(4), FORM)
        message = await stage.write(aiko, channel, "何時から？", attachments=(file,))
        await stage.model.arrived(1)
        await stage.program.kill()
        await stage.discord.gone()
        stage.discord.expire_attachments()
        stage.model.script(says("十時です。"))
        await stage.start()
        reply = await stage.says(message, "十時です。")
        assert reply.message.content == f"{QUOTED}\n十時です。"
        assert len(speech.heard) == 1

    @pytest.mark.restarts
    async def test_in_a_channel_after_the_answer_was_stored_shows_both(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        route = "PATCH /channels/{channel}/messages/{message}"
        stage.model.script(says("できあがり。", delay_s=0.5))
        message = await stage.write(aiko, channel, "何時？", attachments=(File("会議.mp3", mp3(4), FORM),))
        await stage.discord.reply_to(message)
        stage.discord.fail_next(route, 500, times=50, channel=channel)
        stored = (
            "SELECT count(*) FROM messages WHERE thread_id = 0 AND parent_channel_id = ? AND user_id IS NULL"
        )
        await stage.eventually(stored, channel.id, gives=[(2,)])
        await stage.program.kill()
        await stage.discord.gone()
        stage.discord.faults.forget()
        await stage.start()
        reply = await stage.says(message, "できあがり。")
        assert reply.message.content == f"{QUOTED}\nできあがり。"

    @pytest.mark.restarts
    async def test_after_the_answer_was_stored_shows_both(self, stage: Stage, aiko: User) -> None:
        route = "PATCH /channels/{channel}/messages/{message}"
        dm = stage.discord.dm(aiko)
        stage.model.script(says("できあがり。", delay_s=0.5))
        reply = await spoken_in_dm(stage, aiko)
        await reply.until(lambda shown: shown.messages, "its message")
        stage.discord.fail_next(route, 500, times=50, channel=dm)
        stored = "SELECT count(*) FROM messages WHERE channel_id = ?"
        await stage.eventually(stored, dm.id, gives=[(2,)])
        await stage.program.kill()
        await stage.discord.gone()
        stage.discord.faults.forget()
        await stage.start()
        assert (await answered(reply)).message.content == f"{QUOTED}\nできあがり。"


@pytest_asyncio.fixture(loop_scope="session")
async def nobody_speaks(stage: Stage) -> AsyncIterator[None]:
    """What the test before has had read aloud is over, and what this one has before the next one begins."""
    yield
    await stage.discord.quiet(0.3)


@pytest.mark.usefixtures("nobody_speaks")
class TestReadingAloud:
    async def on(self, stage: Stage, user: User) -> None:
        told = await stage.told(user, stage.discord.dm(user), "settings", voice="on")
        assert told.endswith("読み上げ: オン" if user.locale == "ja" else "read aloud: on")

    async def attached(self, reply: Reply | ChannelReply) -> None:
        await reply.until(has_sound, "the recording")

    async def test_comes_on_top_of_the_answer(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        await self.on(stage, aiko)
        reply = await stage.ask_in_words(aiko, channel, "**会議**は https://example.com で十時です。")
        await self.attached(reply)
        [file] = reply.message.attachments
        assert (file.file.name, file.file.data) == ("回答.mp3", SOUND)
        assert "会議" in reply.text
        [spoken] = speech.spoken
        assert (spoken.text, spoken.model, spoken.voice) == ("会議は  で十時です。", "mouth", "nova")
        seconds = "SELECT sum(seconds) FROM usage WHERE user_id = ? AND purpose = 'speech'"
        await stage.eventually(seconds, aiko.id, gives=[(1,)])

    async def test_comes_anew_with_an_answer_that_is_made_anew(
        self, stage: Stage, ben: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        await self.on(stage, ben)
        stage.model.script(says("At ten."), says("At eleven."))
        reply = await stage.ask(ben, channel, "When?")
        await self.attached(reply)
        [first] = reply.message.attachments
        again = await stage.discord.click(ben, reply.message, "Answer again")
        await again.until(lambda shown: "eleven" in shown.text and has_sound(shown), "another recording")
        [second] = again.message.attachments
        assert (first.id == second.id, [each.text for each in speech.spoken]) == (
            False,
            ["At ten.", "At eleven."],
        )

    async def test_of_an_answer_that_is_made_anew_meanwhile_is_not_attached(
        self, stage: Stage, ben: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        await self.on(stage, ben)
        speech.script_speech(Heard(hangs=True))
        stage.model.script(says("At ten."), says("At eleven."))
        reply = await stage.ask(ben, channel, "When?")
        while not speech.spoken:  # noqa: ASYNC110 - another process asks
            await asyncio.sleep(0.02)
        again = await stage.discord.click(ben, reply.message, "Answer again")
        await again.until(has_sound, "a recording")
        assert "eleven" in again.text
        assert len(again.message.attachments) == 1

    async def test_that_is_on_its_way_to_an_answer_that_is_made_anew_goes_with_it(
        self, stage: Stage, ben: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        await self.on(stage, ben)
        stage.model.script(says("At ten."), says("At eleven. " * 100))
        attach = "PATCH /webhooks/{application}/{token}/messages/{message}"
        stage.discord.fail_next(attach, 200, delay_s=1.0)
        reply = await stage.ask(ben, channel, "When?")
        while not speech.spoken:  # noqa: ASYNC110 - another process asks
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        again = await stage.discord.click(ben, reply.message, "Answer again")
        await again.until(lambda shown: "eleven" in shown.text and "Answer again" in shown.labels, "the end")
        await stage.discord.quiet(0.5)
        assert again.message.attachments == ()

    async def test_stays_where_something_is_taken_back(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await self.on(stage, aiko)
        kept = Call("remember", {"content": "犬が好き"})
        stage.model.script(calls(kept), says("覚えました。"))
        reply = await stage.ask(aiko, channel, "犬が好きなのを覚えておいて")
        await self.attached(reply)
        before = reply.message.attachments
        await stage.discord.click(aiko, reply.message, "取り消す")
        await reply.until(lambda shown: "取り消す" not in shown.labels, "that it is taken back")
        assert reply.message.attachments == before

    async def test_is_private_where_the_answer_is(self, stage: Stage, aiko: User, channel: Channel) -> None:
        await self.on(stage, aiko)
        reply = await stage.ask(aiko, channel, "内緒の質問", private=True)
        await self.attached(reply)
        assert reply.message.ephemeral
        assert len(reply.messages) == 1

    async def test_comes_with_answers_to_messages_too(self, stage: Stage, aiko: User) -> None:
        await self.on(stage, aiko)
        reply = await answered(await spoken_in_dm(stage, aiko))
        await self.attached(reply)
        assert reply.message.content.startswith(QUOTED)

    async def test_in_a_channel_is_for_one_who_asks_alone(
        self, stage: Stage, aiko: User, channel: Channel
    ) -> None:
        await self.on(stage, aiko)
        message = await stage.write(aiko, channel, "何時から？")
        await self.attached(stage.discord.answer(message))

    @pytest.mark.parametrize("answer", ["あ" * 1001, "```py\nprint(1)\n```", "**"])
    async def test_is_left_out_where_it_helps_nobody(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer, answer: str
    ) -> None:
        await self.on(stage, aiko)
        reply = await stage.ask_in_words(aiko, channel, answer)
        await stage.discord.quiet(0.3)
        assert (reply.message.attachments, speech.spoken) == ((), [])

    @pytest.mark.parametrize(
        "trouble", [Heard(status=401), Heard(body="no sound"), Heard(status=200, body={"error": "x"})]
    )
    async def test_that_fails_leaves_the_answer_as_it_is(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer, trouble: Heard
    ) -> None:
        await self.on(stage, aiko)
        speech.script_speech(trouble)
        reply = await stage.ask_in_words(aiko, channel, "十時です。")
        await stage.logs("answer_not_spoken")
        assert reply.message.content == "十時です。"
        assert reply.message.attachments == ()

    async def test_is_not_begun_unless_it_was_chosen(
        self, stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
    ) -> None:
        await stage.ask(aiko, channel)
        await self.on(stage, aiko)
        told = await stage.told(aiko, channel, "settings")
        assert told.endswith("読み上げ: オン")
        assert (await stage.told(aiko, channel, "settings", voice="off")).endswith("読み上げ: オフ")
        await stage.ask(aiko, channel)
        await stage.discord.quiet(0.3)
        assert speech.spoken == []


class TestUnset:
    async def test_says_so_and_tells_the_operator_once(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        async with running_stage(tmp_path_factory.mktemp("cc-bot"), {}) as stage:
            aiko, ben = stage.discord.user("Aiko", locale="ja"), stage.discord.user("Ben", locale="en-US")
            reply = await spoken_in_dm(stage, aiko)
            await reply.until(lambda shown: "音声を聞き取れません" in shown.text, "one sentence")
            file = File("a.mp3", mp3(4), FORM)
            told: Reply = await ended(await stage.begin(ben, stage.discord.guild_channel(), attachment=file))
            assert "I can't listen to voice messages here" in told.text
            assert stage.model.requests == []
            assert stage.program.output.count("nobody_listens") == 1
            told_of_voice = await stage.told(aiko, stage.discord.dm(aiko), "settings", voice="on")
            assert told_of_voice.startswith("🔈 このボットには読み上げる声がない")
            both = await stage.told(
                aiko, stage.discord.dm(aiko), "settings", voice="on", timezone="Europe/London"
            )
            assert "Europe/London" in both
            assert "読み上げる声がない" in both
            assert "読み上げ" not in await stage.told(aiko, stage.discord.dm(aiko), "settings")
            stage.check()


class TestBudget:
    async def test_that_is_used_up_has_nothing_heard(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        folder = tmp_path_factory.mktemp("cc-bot")
        async with LoopbackSpeechServer() as speech:
            settings = {
                "CC_BOT_TRANSCRIBE_MODEL": "ears",
                "CC_BOT_TRANSCRIBE_URL": speech.base_url,
                "CC_BOT_POLICY_FILE": "policy.toml",
            }
            limited = "[prices.ears]\nper_minute = 0.6\n[limits]\ntokens_per_day = 30\n"
            await asyncio.to_thread((folder / "policy.toml").write_text, limited)
            async with running_stage(folder, settings) as stage:
                aiko = stage.discord.user("Aiko", locale="ja")
                stage.model.script(says("はい。", usage=(1, 1)))
                await answered(await spoken_in_dm(stage, aiko, voice(3)))
                await stage.eventually(SECONDS, aiko.id, gives=[(3,)])
                assert stage.rows("SELECT cost_micros FROM usage WHERE model = 'ears'") == [(30_000,)]
                reply = await spoken_in_dm(stage, aiko)
                await reply.until(lambda shown: "使いきりました" in shown.text, "that it is used up")
                assert (len(speech.heard), len(stage.model.requests)) == (1, 1)
