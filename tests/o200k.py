"""The tokenizer that token estimates are held against; its data comes with its package.

It is loaded with the first count: that takes a second, in each process that collects tests.
"""

import warnings
from collections.abc import Callable
from functools import cache


def count(text: str) -> int:
    return len(_encode()(text))


@cache
def _encode() -> Callable[[str], list[int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of how it opens its data, as it is imported
        import bpe_openai  # type: ignore[import-untyped]  # it has no annotations

    encode: Callable[[str], list[int]] = bpe_openai.get_encoding("o200k_base").encode
    return encode
