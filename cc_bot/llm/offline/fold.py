"""Spelling made comparable: width, case and kana say nothing about meaning."""

import re
import unicodedata

_TO_HIRAGANA = {code: code - 0x60 for code in range(ord("ァ"), ord("ヶ"))}
_HYPHENATED = re.compile(r"(?<=[a-z])-(?=[a-z])")


def fold(text: str) -> str:
    """NFKC, case-folded, with straight quotes; `Wi-Fi` and `wifi` are one word."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("‘", "'")
    return _HYPHENATED.sub("", plain)


def fold_kana(text: str) -> str:
    """Katakana as hiragana, without the long-vowel mark."""
    return text.translate(_TO_HIRAGANA).replace("ー", "").replace("・", "")


def speaks_japanese(text: str) -> bool:
    """Whether there is kana or kanji in it."""
    return re.search(r"[ぁ-ゖァ-ヺ一-鿿]", unicodedata.normalize("NFKC", text)) is not None
