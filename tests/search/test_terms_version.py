import hashlib
import json
from importlib.resources import files
from typing import Final

from cc_bot.features.memory.search.terms import TERMS_VERSION, count_terms

RECORDED: Final = (3, "c2a20cf659033e53318956fec9f557b2")
"""TERMS_VERSION, and the digest of what its rules make."""

CORPUS: Final = (
    "誕生日は1990年三月十五日、ﾊﾞｰｽﾃﾞｰｹｰｷはチーズケーキ",
    "柴犬のポチと暮らしていて、毎朝6:30に散歩する",
    "妹は看護師で、京都の病院に勤めている。電話は090-1234-5678",
    "刺繍と薄荷が好き。ヴァイオリンとウィスキーはサーバーの次",
    "食べられないもの：えび、そば（アレルギー）😀",
    "来週の金曜に引っ越す予定で、荷造りを始めた",
    "Studying C++ and Rust; the user's cats are called Mochi & Tama",
    "Lives in Zürich, works 9–17 at STRASSE 12, straße",
    "MacBook Pro M3を3台買った。iPhoneは15、家は302号室",
    "한국어도 배우고 있어요, 中文也会一点",
)
TAGS: Final = ("家族", "pet food", "ギター")


def digest() -> str:
    terms = [sorted(count_terms(text, TAGS).items()) for text in CORPUS]
    folder = files("cc_bot.features.memory.search")
    lists = [folder / "kanji_readings.txt", *(folder / "words").iterdir()]
    lines = sorted(
        (file.name, line)
        for file in lists
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    )
    return hashlib.blake2b(json.dumps([terms, lines]).encode(), digest_size=16).hexdigest()


class TestVersion:
    def test_is_raised_when_other_terms_come_of_the_same_text(self) -> None:
        found = digest()
        version = TERMS_VERSION + (found != RECORDED[1] and RECORDED[0] == TERMS_VERSION)
        assert (TERMS_VERSION, found) == RECORDED, (
            "The terms of the same text have changed: by the rules of memory/search, by words/*.txt or by "
            "kanji_readings.txt. Memories that are stored keep their old terms, and are not found by the new "
            "ones, until TERMS_VERSION in memory/search/terms.py is greater than it was. Raise it by one, "
            "unless it was raised since the last release, and record what it stands for in this file:\n"
            f'RECORDED: Final = ({version}, "{found}")'
        )
