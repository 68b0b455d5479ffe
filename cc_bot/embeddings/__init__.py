"""The sentence encoder that runs here, without a server (extra `semantic`): only this package knows it."""

from cc_bot.embeddings.local import LocalEmbedder

__all__ = ["LocalEmbedder"]
