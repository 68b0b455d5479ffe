from collections.abc import Iterator

from cc_bot.chat.parts import Building
from cc_bot.features.voice.openai import build_speaker, build_transcriber
from cc_bot.features.voice.speech import SynthesizedSpeech, TranscribedHearing


def make_parts(given: Building) -> Iterator[object]:
    stores, transcriber, speaker = given.stores, build_transcriber(given.config), build_speaker(given.config)
    for each in filter(None, (transcriber, speaker)):
        given.opened.push_async_callback(each.close)
    yield TranscribedHearing(transcriber, stores.ledger, stores.channels)
    if speaker:
        yield SynthesizedSpeech(speaker, given.spending)
