from collections.abc import Iterator

from cc_bot.chat.checks import Check, CheckContext, Finding, off, try_service
from cc_bot.config import LOCAL, OFF
from cc_bot.features.memory.search.vectors import Embedder
from cc_bot.features.memory.texts import MemoryCheckTexts
from cc_bot.llm.providers import build_embedder
from cc_bot.texts import Texts


def list_checks(context: CheckContext) -> Iterator[Check]:
    config, words = context.config, context.words
    if context.online or config.embedding_model in (LOCAL, OFF):
        check = check_embedder(build_embedder(config), words, wanted=config.embedding_model != OFF)
        yield Check("embedder", check, label=words[MemoryCheckTexts].embedder)


async def check_embedder(embedder: Embedder | None, texts: Texts, *, wanted: bool) -> Finding:
    sentences = texts[MemoryCheckTexts]
    if embedder is None:
        return off("embedder", sentences.embedder_none if wanted else sentences.embedder_off)
    use = embedder.embed(["猫 cat"])
    return await try_service("embedder", embedder, use, sentences.embedder_ok, sentences.embedder_failed)
