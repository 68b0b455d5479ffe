"""Which model answers, and which finds memories by their meaning.

The openai client is imported when it is used: it costs half a second, which `cc-bot backup` need not pay.
"""
# ruff: noqa: PLC0415 - see above

from collections.abc import Sequence

from cc_bot.config import LOCAL, OFF, Config
from cc_bot.embeddings import LocalEmbedder
from cc_bot.llm.model import ChatModel
from cc_bot.search.embedder import Embedder
from cc_bot.texts import texts


def build_model(config: Config, names: Sequence[str]) -> ChatModel:
    """The chain of these models; the offline one when there is neither a key nor a server."""
    if is_offline(config):
        from cc_bot.llm.offline import OfflineModel

        return OfflineModel()
    from cc_bot.llm.fallback import FallbackChain
    from cc_bot.llm.openai import OpenAIChatModel

    return FallbackChain(
        [
            (
                name,
                OpenAIChatModel(
                    name,
                    api_key=config.openai_api_key,
                    base_url=config.openai_base_url,
                    timeout_s=config.model_timeout_s,
                    cache_control=config.cache_control,
                ),
            )
            for name in names
        ]
    )


async def reach_model(config: Config, model: str) -> None:
    """Have it say one token. Raises the ModelError that a turn would raise."""
    from cc_bot.llm.openai import reach

    await reach(
        model,
        api_key=config.openai_api_key,
        base_url=config.openai_base_url,
        timeout_s=config.model_timeout_s,
    )


def build_embedder(config: Config) -> Embedder | None:
    """What finds memories by their meaning; None where there is nothing, or it is not wanted."""
    if config.embedding_model == OFF:
        return None
    if config.embedding_model == LOCAL:
        return LocalEmbedder.if_installed()
    from cc_bot.llm.openai import OpenAIEmbedder

    return OpenAIEmbedder(
        config.embedding_model, api_key=config.openai_api_key, base_url=config.openai_base_url
    )


def model_label(config: Config) -> str:
    """What the terminal calls the model."""
    return texts(config.operator_locale).cli.offline_model if is_offline(config) else config.models[0]


def asked_first(config: Config, names: Sequence[str]) -> str:
    """The first of a chain, as its answers name it; empty for the model that comes along."""
    return "" if is_offline(config) else names[0]


def is_offline(config: Config) -> bool:
    """Whether there is neither a key nor a server, so that the model that comes along answers."""
    return not (config.openai_api_key or config.openai_base_url)
