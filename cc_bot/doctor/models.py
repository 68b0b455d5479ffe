"""Whether the models answer: each of the chain is asked for a word, and the encoder for a vector."""

import time
from collections.abc import Awaitable, Callable, Sequence

from cc_bot.doctor.findings import Finding, Notes
from cc_bot.domain.errors import CcBotError, ModelRefusedKey, ModelRefusedRequest
from cc_bot.texts import Texts

Try = Callable[[], Awaitable[None]]
"""Raises a CcBotError where it does not work."""


async def examine_model(name: str, ask: Try, words: Texts) -> Sequence[Finding]:
    """One model of the chain, by one token."""
    said = words.doctor
    notes = Notes("model", said.label_model)
    began_s = time.monotonic()
    try:
        await ask()
    except ModelRefusedKey:
        return [notes.failed(said.model_refused_key.format(model=name), said.model_refused_key_mend)]
    except ModelRefusedRequest:
        return [notes.failed(said.model_refused_request.format(model=name), said.model_refused_request_mend)]
    except CcBotError:
        return [notes.failed(said.model_unavailable.format(model=name), said.model_unavailable_mend)]
    seconds = f"{time.monotonic() - began_s:.1f}"
    return [notes.ok(said.model_ok.format(model=name, seconds=seconds))]


async def examine_embedder(name: str, encode: Try, words: Texts) -> Sequence[Finding]:
    """What finds memories by their meaning. Without it search works all the same, by words."""
    said = words.doctor
    notes = Notes("embedder", said.label_embedder)
    try:
        await encode()
    except CcBotError:
        return [notes.warning(said.embedder_failed.format(name=name), said.embedder_failed_mend)]
    return [notes.ok(said.embedder_ok.format(name=name))]
