"""The forms that a Japanese verb or adjective takes, as far as a search must know them.

Only what follows the stem directly: what comes after it (〜ます, 〜ない, 〜たい) is the same for every word.
Where a verb's class cannot be seen, the forms of both are taken: forms that no word has harm nothing.
"""

from typing import Final

_ENDINGS: Final = {
    "う": "わいうえおっ", "く": "かきくけこい", "ぐ": "がぎぐげごい", "す": "さしすせそ",
    "つ": "たちつてとっ", "ぬ": "なにぬねのん", "ぶ": "ばびぶべぼん", "む": "まみむめもん",
    "る": "らりるれろっ", "い": "いくかけさ",
}  # fmt: skip
_AFTER_SHORT_STEM: Final = "てたまなよ"  # 見る: 見て, 見た, 見ます, 見ない
_BEFORE_RU: Final = "いきしちにひみりぎじびえけせてねへめれげぜでべ"


def forms(word: str) -> tuple[str, ...]:
    """The beginnings by which a word's forms are known: 飼う gives 飼わ, 飼い, 飼う, … and 食べる 食べ.

    A word that does not end with kanji and okurigana is its only form.
    """
    if len(word) < 2 or word[-1] not in _ENDINGS or not _is_kanji(word[0]) or _is_kanji(word[-1]):
        return (word,)
    if word.endswith("る") and len(word) > 2 and word[-2] in _BEFORE_RU:
        return (word[:-1],)
    endings = _ENDINGS[word[-1]] + (_AFTER_SHORT_STEM if word.endswith("る") and len(word) == 2 else "")
    return (word, *(word[:-1] + ending for ending in endings if ending != word[-1]))


def _is_kanji(character: str) -> bool:
    return "㐀" <= character <= "鿿" or character == "々"
