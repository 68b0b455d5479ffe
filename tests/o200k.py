"""The tokenizer that token estimates are held against; its data comes with its package."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of how it opens its data, as it is imported
    import bpe_openai  # type: ignore[import-untyped]  # it has no annotations

_O200K = bpe_openai.get_encoding("o200k_base")


def count(text: str) -> int:
    return len(_O200K.encode(text))
