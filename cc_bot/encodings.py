"""The encoding in which a Japanese or English text file was written, found out from its bytes.

What says so by itself is believed: a byte order mark, the escape sequences of ISO-2022-JP, bytes that
are valid UTF-8. Otherwise each encoding that decodes the bytes strictly is tried, and the one wins
whose text looks most like what people write. That matters most between EUC-JP and Shift_JIS: bytes
that are everyday kanji in the one are half-width katakana in the other.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

_MOST_UNLIKELY = 8.0
"""The cost per character outside of ASCII from which on a text is taken for chance, not for text."""

_CLEARLY_TEXT = 2.0
"""The cost per character up to which UTF-16 without a mark is taken for it."""

_UNMARKED_UTF_16 = 0.4
"""What each character costs more if nothing but the text itself speaks for UTF-16: neither mark nor zeros."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ISO_2022_JP_ESCAPE = re.compile(rb"\x1b\$[@B(]|\x1b\([JI]")

_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]|\x1b(?![\\[()])")
"""What no text holds. An escape is allowed where it colours a terminal's log."""

_END_OF_FILE = "\x1a"
"""What old editors for DOS put at the end of each file."""

_HALF_WIDTH_SYLLABLES = re.compile(
    r"(?:[ｶ-ﾄﾊ-ﾎｳ]ﾞ|[ﾊ-ﾎ]ﾟ|[ｱ-ﾝ])"
    r"(?:(?<=[ｷｼﾁﾆﾋﾐﾘﾞﾟ])[ｬｭｮ]|(?<=[ｸｼﾁﾂﾃﾄﾌｳﾞ])[ｧｨｩｪｫ])?"
    r"ｰ?(?:ｯ(?=[ｱ-ﾝ]))?"
)
"""Half-width katakana that can be read aloud: each mark and small letter stands where it may."""

_EVERYDAY_KANJI = frozenset(
    "愛悪圧安暗案以位囲委意易異移胃衣遺医井域育一茨印員因引飲院右宇羽雨運雲営映栄永泳英衛液益駅円園延沿演"
    "遠塩央往応横王黄岡沖億屋恩温音下化仮何価加可夏家科果歌河火花荷課貨過我画芽賀会解回快改械海灰界絵開階"
    "貝外害街各拡格確覚角閣革学楽額潟割活株寒刊巻完官干幹感慣漢看管簡観間関館丸岸眼岩顔願危喜器基寄岐希揮"
    "机旗期機帰気汽季紀規記貴起技疑義議客逆久休吸宮弓急救求泣球究級給旧牛去居挙許漁魚京供競共協境強教橋胸"
    "興郷鏡業局曲極玉勤均禁筋近金銀九句区苦具空熊君訓群軍郡係兄型形径敬景系経計警軽芸劇激欠決潔穴結血月件"
    "健券建憲検権犬研絹県見険験元原厳減源現言限個古呼固己庫戸故湖五午後語誤護交候光公功効厚口向后好孝工幸"
    "広康校構港皇紅耕考航行講鉱鋼降香高号合刻告国穀黒骨今困根混佐左差査砂座再最妻才採済災祭細菜裁際在材罪"
    "財坂阪崎埼作昨策桜冊刷察札殺雑皿三参山散産算蚕賛酸残仕使司史四士始姉姿子市師志思指支枝止死氏私糸紙至"
    "視詞詩試誌資飼歯事似児字寺持時次滋治磁示耳自辞鹿式識七失室質実舎写射捨社者謝車借尺若弱主取守手種酒首"
    "受授樹収周宗就州修拾秋終習衆週集住十従縦重宿祝縮熟出術述春準純順処初所暑署書諸助女序除傷勝商唱将小少"
    "承招昭松消焼照省章笑証象賞障上乗城場常情条状蒸植織職色食信心新森深申真神臣親身進針人仁図垂推水数寸世"
    "制勢性成政整星晴正清生盛精聖声製西誠青静税席昔石積績責赤切接折設節説雪絶舌先千宣専川戦泉浅洗染線船選"
    "銭前善然全祖素組創倉奏層想操早巣争相窓総草装走送像増臓蔵造側則息束測足速属族続卒存孫尊損村他多太打体"
    "対帯待態貸退隊代台大第題宅達谷単担探炭短誕団断暖段男談値知地池置築竹茶着中仲宙忠昼柱注虫著貯丁兆帳庁"
    "張朝潮町腸調長頂鳥直賃追痛通低停定底庭弟提程敵的笛適鉄典天展店転点伝田電徒登都努度土党冬刀島投東湯灯"
    "当等答糖統討豆頭働動同堂導童道銅得徳特毒独読栃届奈内縄南難二肉日乳入任認熱年念燃納能脳農波派破馬俳拝"
    "敗背肺配倍梅買売博白麦箱畑八発判半反板版犯班飯晩番否悲批比皮秘肥費非飛備美鼻必筆媛百俵標氷票表評病秒"
    "品貧不付夫婦富布府父負阜武部風副復服福腹複仏物分奮粉文聞兵平並閉陛米別変片編辺返便勉弁保歩補墓暮母包"
    "報宝放方法訪豊亡忘暴望棒貿防北牧本妹枚毎幕末万満味未密脈民務夢無名命明盟迷鳴綿面模毛木目問門夜野矢役"
    "約薬訳油輸優勇友有由遊郵夕予余預幼容曜様洋用羊葉要陽養欲浴翌来落乱卵覧利梨理裏里陸律率立略流留旅両料"
    "良量領力緑林臨輪類令例冷礼歴列練連路労朗老六録論和話"
)
"""The 1026 kanji that are taught in primary school (curriculum of 2020)."""


def decode_text(data: bytes) -> str | None:
    """The text that the bytes are in UTF-8, UTF-16, Shift_JIS (cp932), EUC-JP or ISO-2022-JP.

    None if they are no text in any of them. A byte order mark is not part of the text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    if _ISO_2022_JP_ESCAPE.search(data):
        text = _decoded(data, "iso2022_jp_ext")
        if text is not None:
            return text
    text = _decoded(data, "utf-8")
    if text is not None and _is_surely_utf_8(text):
        return text
    texts = [*([] if text is None else [text]), *_legacy(data)]
    costs = [(_cost(text), text) for text in texts] + [*_unmarked_utf_16(data)]
    cost, likeliest = min(costs, key=lambda candidate: candidate[0], default=(0.0, ""))
    others = sum(not character.isascii() for character in likeliest)
    return likeliest if likeliest and cost <= _MOST_UNLIKELY * others else None


def _is_surely_utf_8(text: str) -> bool:
    """Return whether bytes that are valid UTF-8 are no accident.

    Three valid bytes in a row are none. Pairs may be kanji in EUC-JP; but where a few of them stand
    among letters and digits (`café`, `25°C`) they are what they seem to be.
    """
    return any(
        character > "\u07ff" or (character.isascii() and character.isalnum()) for character in text
    ) or (text.isascii())


def _legacy(data: bytes) -> Iterator[str]:
    for encodings in (("cp932",), ("euc_jp", "euc_jis_2004")):  # the latter knows ① and the like
        text = next(filter(None, (_decoded(data, encoding) for encoding in encodings)), None)
        if text is not None:
            yield text


def _unmarked_utf_16(data: bytes) -> Iterator[tuple[float, str]]:
    """Read the bytes as UTF-16, with its cost, where that is everyday text."""
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _decoded(data, encoding)
        if text:
            cost = _cost(text) + (0 if b"\0" in data else _UNMARKED_UTF_16 * len(text))
            if cost <= _CLEARLY_TEXT * len(text):
                yield cost, text


def _cost(text: str) -> float:
    """Measure how unusual a text is: the sum over its characters."""
    rest = _HALF_WIDTH_SYLLABLES.sub("", text)
    return len(text) - len(rest) + sum(_cost_of(character) * n for character, n in Counter(rest).items())


def _cost_of(character: str) -> float:
    if character.isascii() or "\u3000" <= character <= "\u30ff" or "！" <= character <= "～":
        return 0.0
    if character in _EVERYDAY_KANJI:
        return 0.5
    if "\u4e00" <= character <= "\u9fff":
        return 4.0 if _is_in_jis_level_1(character) else 6.0
    if unicodedata.category(character) in ("Co", "Cn"):
        return 20.0
    if "\u00c0" <= character <= "\u017f" or "\u0370" <= character <= "\u04ff":
        return 1.0
    return 5.0 if character < "\u3400" or "｡" <= character <= "ﾟ" else 8.0


def _is_in_jis_level_1(character: str) -> bool:
    """Return whether a kanji is one of the 2965 common ones of JIS X 0208: its rows 16 to 47."""
    encoded = character.encode("euc_jp", "replace")
    return len(encoded) == 2 and 0xB0 <= encoded[0] <= 0xCF


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding).removesuffix(_END_OF_FILE)
    except UnicodeError:
        return None
    return None if _CONTROL.search(text) else text


# ---- declared --------------------------------------------------------------------------------------------
# What a server or a page says of itself. It is believed as far as the bytes may be that.

# What servers write, where Python means something else by it, or has no such name: the Encoding Standard.
_NAMES: Final = {
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis", "windows-31j", "ms_kanji"), "cp932"),
    **dict.fromkeys(("x-euc-jp",), "euc_jp"),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "unicode": "utf-16",
}
_KNOWN: Final = re.compile(
    r"utf[_-]?8|utf[_-]?16(?:[_-]?[lb]e)?|cp932|euc_(?:jp|kr)|iso2022_jp\w*|iso8859[_-]\d{1,2}|cp125\d|gb18030|big5\w*"
    r"|koi8[_-][ru]"
)
"""Encodings of texts, by Python's own names: it also calls some things so that are none."""

_DAMAGED: Final = "\ufffd"
_FEW: Final = 20
"""One damaged character in so many: what a text may have, and chance has not."""


def decode_declared(data: bytes, *declared: str) -> str | None:
    """The text that the bytes are in the first encoding, of those declared, in which they can be, else in the
    one that they seem to be in, else in the first in which few of them are damaged. None if they are no text
    in any of them."""
    named = [encoding for name in declared if (encoding := _named(name))]
    if not data.startswith(tuple(mark for mark, _ in _MARKS)):
        for encoding in named:
            try:
                return data.decode(encoding)
            except UnicodeError:
                continue
    return decode_text(data) or _little_damaged(data, (*named, "utf-8"))


def _little_damaged(data: bytes, encodings: Sequence[str]) -> str | None:
    texts = (data.decode(encoding, "replace") for encoding in encodings)
    few = (text for text in texts if text.count(_DAMAGED) * _FEW <= len(text) and not _CONTROL.search(text))
    return next(few, None)


def _named(name: str) -> str:
    """Return Python's own name of an encoding; empty where it is none of texts."""
    name = name.strip().strip("\"'").lower()
    try:
        found = codecs.lookup(_NAMES.get(name, name)).name if name.isascii() and len(name) < 40 else ""
    except (LookupError, ValueError):
        return ""
    return found if _KNOWN.fullmatch(found) else ""
