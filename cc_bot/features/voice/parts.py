from collections.abc import Iterator

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.voice.openai import build_speaker, build_transcriber
from cc_bot.features.voice.speech import SynthesizedSpeech, TranscribedHearing


def make_parts(builder: PartsBuilder) -> Iterator[object]:
    stores, transcriber, speaker = (
        builder.stores,
        build_transcriber(builder.config),
        build_speaker(builder.config),
    )
    for each in filter(None, (transcriber, speaker)):
        builder.exit_stack.push_async_callback(each.close)
    yield TranscribedHearing(transcriber, stores.ledger, stores.channels)
    if speaker:
        yield SynthesizedSpeech(speaker, builder.spending)
