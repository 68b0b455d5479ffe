import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cc_bot.domain.text import Locale
from cc_bot.features.settings.texts import SessionTexts
from cc_bot.texts import texts
from tests.end_to_end.stage import AGAIN, Stage, again_label, running_stage
from tests.loopback.discord import Channel, ChannelReply, File, Reply, User
from tests.loopback.model_server import Hang, says
from tests.loopback.model_server import Reply as ModelReply
from tests.loopback.speech_server import HEARD, SOUND, Heard, LoopbackSpeechServer
from tests.recordings import mp3, voice

pytestmark = pytest.mark.slow

RETRY = "もう一度試す"
QUOTED = f"> 🎤 {HEARD}"
SECONDS = "SELECT sum(seconds) FROM usage WHERE user_id = ? AND model = 'ears'"
FORM = "audio/mpeg"
VoiceStage = tuple[Stage, LoopbackSpeechServer]
MEETING = File("会議.mp3", mp3(4), FORM)

JA = texts(Locale.JA)


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
            yield stage, speech


@pytest.fixture
def speech(running: VoiceStage) -> LoopbackSpeechServer:
    running[1].reset()
    return running[1]


@pytest_asyncio.fixture(loop_scope="session")
async def stage(running: VoiceStage, speech: LoopbackSpeechServer) -> AsyncIterator[Stage]:
    stage = running[0]
    stage.forget()
    yield stage
    stage.check()
    assert speech.refused == []
    assert not any(said in stage.program.output for said in (HEARD, "会議", "十時"))


async def spoken_in_dm(stage: Stage, user: User, recording: File | None = None) -> ChannelReply:
    """A voice message in a DM, and what the bot answers to it."""
    message = await stage.discord.speak(user, stage.discord.dm(user), recording or voice())
    stage.discord.answer(message).locale = "ja"
    return stage.discord.answer(message)


async def answered(reply: ChannelReply) -> ChannelReply:
    return await reply.until(lambda shown: AGAIN["ja"] in shown.labels, "the buttons")


async def test_a_voice_message_is_a_question(stage: Stage, aiko: User, speech: LoopbackSpeechServer) -> None:
    dm, heard = stage.discord.dm(aiko), asyncio.Event()
    speech.script(Heard(after=heard))
    stage.model.script(says("会議があります。"), says("歯医者です。"), says("十時です。"))
    reply = await spoken_in_dm(stage, aiko, voice(130))
    await reply.until(lambda shown: "聞き取っています" in shown.text, "that it listens")
    heard.set()
    assert (await answered(reply)).message.content == f"{QUOTED}\n会議があります。"
    assert stage.shown() == [HEARD]
    [sent] = speech.heard
    assert (sent.model, sent.language, sent.name) == ("ears", "ja", "recording.ogg")
    tainted = stage.rows("SELECT tainted FROM messages WHERE user_id = ? AND role = 'user'", aiko.id)
    assert tainted == [(0,)]
    assert stage.rows("SELECT count(*) FROM attachments WHERE user_id = ?", aiko.id) == [(0,)]
    stage.discord.expire_attachments()
    again = await stage.discord.click(aiko, reply.message, again_label(aiko))
    await again.finished(lambda shown: "歯医者" in shown.text and AGAIN["ja"] in shown.labels)
    assert again.message.content == f"{QUOTED}\n歯医者です。"
    await stage.ask(aiko, dm, "何時？")
    assert stage.shown() == [HEARD, "歯医者です。", "何時？"]
    assert len(speech.heard) == 1
    await stage.eventually(SECONDS, aiko.id, gives=[(130,)])
    assert "音声 2分10秒" in await stage.told(aiko, dm, "usage")


async def test_a_restart_hears_it_once(
    stage: Stage, aiko: User, ben: User, channel: Channel, speech: LoopbackSpeechServer
) -> None:
    stage.model.script(ModelReply(Hang()), ModelReply(Hang()))
    reply = await spoken_in_dm(stage, aiko)
    mention = await stage.write(ben, channel, "何時から？", attachments=(MEETING,))
    await stage.model.arrived(2)
    await stage.program.kill()
    await stage.discord.gone()
    stage.discord.expire_attachments()
    stage.model.script(says("十時です。"))
    await stage.start()
    assert (await stage.says(mention, "十時です。")).message.content == f"{QUOTED}\n十時です。"
    await reply.until(lambda shown: shown.labels == [RETRY], "the button to ask again")
    stage.model.script(says("会議です。"))
    press = await stage.discord.click(aiko, reply.message, RETRY)
    await press.finished(lambda shown: "会議です。" in shown.text and AGAIN["ja"] in shown.labels)
    assert reply.message.content == f"{QUOTED}\n会議です。"
    assert stage.shown() == [HEARD]
    assert len(speech.heard) == 2


async def attached(reply: Reply | ChannelReply) -> None:
    await reply.until(lambda shown: shown.messages and shown.messages[-1].attachments, "the recording")


async def test_answers_are_read_aloud_once_it_was_chosen(
    stage: Stage, aiko: User, channel: Channel, speech: LoopbackSpeechServer
) -> None:
    await stage.ask(aiko, channel)
    await stage.discord.quiet(0.3)
    assert speech.spoken == []
    assert JA[SessionTexts].voice_on in await stage.told(aiko, channel, "settings", voice="on")
    reply = await stage.ask_in_words(aiko, channel, "**会議**は https://example.com で十時です。")
    await attached(reply)
    [file] = reply.message.attachments
    assert (file.file.name, file.file.data) == ("回答.mp3", SOUND)
    assert "会議" in reply.text
    [spoken] = speech.spoken
    assert (spoken.text, spoken.model, spoken.voice) == ("会議は  で十時です。", "mouth", "nova")
    seconds = "SELECT sum(seconds) FROM usage WHERE user_id = ? AND purpose = 'speech'"
    await stage.eventually(seconds, aiko.id, gives=[(1,)])
    private = await stage.ask(aiko, channel, "内緒の質問", private=True)
    await attached(private)
    assert private.message.ephemeral
    assert len(private.messages) == 1
    await attached(stage.discord.answer(await stage.write(aiko, channel, "何時から？")))
    heard = await answered(await spoken_in_dm(stage, aiko))
    await attached(heard)
    assert heard.message.content.startswith(QUOTED)
    await stage.discord.quiet(0.3)
    spoken_so_far = len(speech.spoken)
    assert JA[SessionTexts].voice_off in await stage.told(aiko, channel, "settings", voice="off")
    await stage.ask(aiko, channel)
    await stage.discord.quiet(0.3)
    assert len(speech.spoken) == spoken_so_far == 4
