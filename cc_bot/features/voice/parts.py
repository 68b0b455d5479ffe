from collections.abc import Iterable

from cc_bot.features.voice.speech import SynthesizedSpeech, TranscribedHearing
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    chains, stores = given.chains, given.stores
    hearing = TranscribedHearing(chains.transcriber, stores.ledger, stores.channels)
    return hearing, SynthesizedSpeech(chains.speaker, given.spending)
