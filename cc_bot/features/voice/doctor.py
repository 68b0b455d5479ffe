import io
import wave
from collections.abc import Iterator

from cc_bot.chat.checks import SLACK_S, Check, CheckContext, Finding, off, try_service
from cc_bot.domain.message import Attachment
from cc_bot.domain.text import Locale
from cc_bot.features.voice.openai import OpenAISpeaker, OpenAITranscriber, build_speaker, build_transcriber
from cc_bot.features.voice.texts import VoiceCheckTexts
from cc_bot.texts import Texts


def list_checks(given: CheckContext) -> Iterator[Check]:
    if given.online:
        config, words, limit_s = given.config, given.words, given.config.model_timeout_s + SLACK_S
        titles = words[VoiceCheckTexts]
        yield Check("hearing", check_transcriber(build_transcriber(config), words), limit_s, titles.hearing)
        yield Check("speaking", check_speaker(build_speaker(config), words), limit_s, titles.speaking)


async def check_transcriber(transcriber: OpenAITranscriber | None, words: Texts) -> Finding:
    texts = words[VoiceCheckTexts]
    if transcriber is None:
        return off("hearing", texts.hearing_none)
    use = transcriber.transcribe(Attachment("", "audio/wav", _silence()), Locale.EN)
    return await try_service("hearing", transcriber, use, texts.hearing_ok, texts.hearing_failed)


def _silence() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", "not compressed"))
        sound.writeframes(bytes(32_000))
    return file.getvalue()


async def check_speaker(speaker: OpenAISpeaker | None, words: Texts) -> Finding:
    texts = words[VoiceCheckTexts]
    if speaker is None:
        return off("speaking", texts.speaking_none)
    use = speaker.speak("OK")
    return await try_service("speaking", speaker, use, texts.speaking_ok, texts.speaking_failed)
