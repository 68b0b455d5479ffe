"""Detects secrets.

A secret has an unmistakable form (a known kind of key, a valid check digit), or stands next to a word such as
`password`.
"""

import math
import re
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import Final

# For `looks_secret`. The patterns expect text from `normalize`.
_KNOWN_FORM: Final = re.compile(
    r"""
    -----BEGIN\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY(?:\ BLOCK)?-----
    | \bsk-[A-Za-z0-9_-]{16,} | \bsk_(?:live|test)_[A-Za-z0-9]{10,} | \brk_live_[A-Za-z0-9]{10,}
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,} | \bxapp-[0-9]-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b | \bAIza[A-Za-z0-9_-]{30,} | \bya29\.[A-Za-z0-9_-]{20,}
    | \bnpm_[A-Za-z0-9]{30,} | \bpypi-[A-Za-z0-9_-]{30,} | \bhf_[A-Za-z0-9]{20,}
    | \bSG\.[\w-]{16,}\.[\w-]{16,}
    | \beyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}         # JSON Web Token
    | \b[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}    # a bot of Discord
    | \bmfa\.[A-Za-z0-9_-]{60,}
    | discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]{30,}
    | hooks\.slack\.com/services/[A-Za-z0-9/]{20,}
    | \b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]+:[^\s/:@]{3,}@                        # a URL with a password
    | \bbearer\s[A-Za-z0-9._~+/-]{16,}
    """,
    re.VERBOSE | re.IGNORECASE,
)

_CREDENTIAL_WORDS: Final = (
    r"パスワード|パス(?:フレーズ|コード|キー|(?=\s?(?:は|が|を|[:=])))|暗証番号|暗証ばんごう|合い?言葉の?パス|ピンコード|(?<![a-z])(?:"
    r"pass\s?(?:word|phrase|code)s?|passwd|pwd?|pin(?:\s?(?:code|number))?)(?![a-z])"
)
_KEY_WORDS: Final = (
    r"トークン|シークレット|(?:秘密|api|アクセス|ライセンス|暗号|リカバリー?|復元|認証)\s?(?:キー|鍵|コード)|シードフレーズ"
    r"|(?<![a-z])(?:(?:api|access|secret|private|recovery|licen[cs]e|encryption|auth)[\s_-]?(?:key|token|code)s?"
    r"|token|secret|credentials?|seed\s?phrase|key|2fa|otp)(?![a-z])|キー|鍵"
)
_EQUALS: Final = (
    r"\s?(?:(?:の方|のほう|自体)?\s?(?:は|が|を|:|=|→|⇒|って|っていうのは|[\"'「『(])|\b(?:is|was|are|to)\b)"
)
_VALUE_AFTER: Final = re.compile(
    rf"(?:{_CREDENTIAL_WORDS})[^\n。.!?]{{0,24}}?{_EQUALS}\s?(?:now\s)?[:=\"'「『(]*+\s?"
    r"(?P<value>[^\s、。,\"'」』)]+)",
    re.IGNORECASE,
)
_VALUE_BESIDE: Final = re.compile(
    rf"(?:{_CREDENTIAL_WORDS}) (?P<value>[!-~]{{4,64}})(?=[\s、。」』]|$)", re.IGNORECASE | re.MULTILINE
)
_POLICY_WORDS: Final = re.compile(
    r"管理|マネージャ|manager|変更|リセット|期限|文字|ルール|長さ|hint|ヒント", re.IGNORECASE
)
"""Such a word between credential word and value shows that the text is about passwords in general."""
_WORD_AS_VALUE: Final = re.compile(
    rf"(?:{_CREDENTIAL_WORDS})\s?(?:は|が|:|=|を)\s?[\"'「『]?(?P<value>[A-Za-z]{{5,}}+)[\"'」』]?\s?"
    r"(?=です|だ|に(?:した|しました|する|変え)|。|、|$|\n)",
    re.IGNORECASE,
)
"""A password of letters only, recognized because the sentence ends after it."""
_PASSPHRASE: Final = re.compile(
    r"(?:(?:パス|シード|リカバリー?|復元)フレーズ|pass\s?phrase|(?:seed|recovery)\s(?:phrase|words))[^\n。.]{0,12}?"
    r"(?:\s?(?:は|:|=)|\sis)[\s\"'「『(:=]*(?:[a-z]++[\s-]++){3}[a-z0-9]",
    re.IGNORECASE,
)
_VALUE_BEFORE: Final = re.compile(
    rf"(?<![!-~])(?P<value>[!-~]{{4,64}})[\"'」』]?\s?(?:が|は|is)\s?[^\n。.]{{0,20}}?(?:{_CREDENTIAL_WORDS})",
    re.IGNORECASE,
)
_PLAIN_VALUE: Final = re.compile(
    r"https?://\S*|www\.\S*|\d{1,2}:\d{2}|(?:\d{4}[-/])?\d{1,2}[-/]\d{1,2}|[A-Za-z]+(?:'[a-z]+)?"
)
"""A time, date, URL or ordinary word."""
_CONTEXT_CHARACTERS: Final = 40  # on either side of a token
_TOKEN_WORD: Final = re.compile(f"(?:{_KEY_WORDS}|{_CREDENTIAL_WORDS})", re.IGNORECASE)
_LONG_WORD: Final = re.compile(r"(?<![\w/.+=-])[A-Za-z0-9_+/=.-]{16,}")

_LONG_NUMBER: Final = re.compile(r"(?<![\d.])\d(?:[ \-]?\d){6,18}(?![\d.])")
_CARD_LENGTHS: Final = range(14, 20)
_CARD_WORD: Final = re.compile(r"カード|クレカ|クレジット|デビット|card|visa|master|amex|jcb", re.IGNORECASE)
_CARD_START: Final = re.compile(r"4|5[1-5]|2[2-7]|3[47]|35|36|30[0-5]|38|6(?:011|4|5|2)")
_CARD_FORMAT: Final = re.compile(r"\d{4}(?:([ -])\d{4}){3}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5}|\d{15,16}")
"""How card numbers are written. A number of more than 16 digits without spaces is usually a Discord id."""
_SECURITY_CODE: Final = re.compile(
    r"(?:セキュリティコード|cvv2?|cvc2?|security code)[^\d\n]{0,12}\d{3,4}(?!\d)", re.IGNORECASE
)
_BACKUP_CODE: Final = re.compile(
    r"(?:(?:リカバリー?|復元|復旧|バックアップ)\s?コード|(?<![a-z])(?:recovery|backup)\scodes?)[^\n。.]{0,12}?"
    r"\b[A-Za-z0-9]{4}(?:[A-Za-z]*+\d|[A-Za-z0-9]*+[ -][A-Za-z]*+\d)",  # a digit after the fourth character
    re.IGNORECASE,
)
_PERSONAL_NUMBER_WORD: Final = re.compile(
    r"マイナンバー|個人番号|my\s?number|social security|ssn", re.IGNORECASE
)
_SSN: Final = re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)")
_BANK_ACCOUNT: Final = re.compile(
    r"(?:口座(?:番号)?|普通預金|当座預金|(?:bank\s)?account\s?(?:number|no\.?|#))[^\d\n]{0,20}"
    r"\d(?:[ \-]?\d){5,13}(?!\d)"
    r"|\biban\b[^\n]{0,12}[A-Z]{2}\d{2}[ A-Z0-9]{10,}",
    re.IGNORECASE,
)
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SPACES: Final = re.compile(r"\s{2,}|[^\S \n]")  # all but a single space or line feed
_DASH: Final = re.compile(r"(?<=\d)[‐‑‒–—―−ー](?=\d)")


def looks_secret(text: str) -> bool:
    """Return whether a text contains a password, token, private key or a card, account or personal number."""
    plain = normalize(text)
    patterns = (_KNOWN_FORM, _SECURITY_CODE, _BACKUP_CODE, _BANK_ACCOUNT)
    if any(pattern.search(plain) for pattern in patterns):
        return True
    return _contains_token(plain) or _contains_password(plain) or _contains_secret_number(plain)


def normalize(text: str) -> str:
    """Apply NFKC, remove invisible characters, and shorten white space: long runs slow the patterns down."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", visible)


def _contains_password(text: str) -> bool:
    """Return whether a password is beside a credential word: `パスワードは hunter2`."""
    if _PASSPHRASE.search(text) or _WORD_AS_VALUE.search(text):
        return True
    for pattern in (_VALUE_AFTER, _VALUE_BESIDE, _VALUE_BEFORE):
        for match in pattern.finditer(text):
            context = match[0].replace(match["value"], "")
            if _could_be_password(match["value"]) and not _POLICY_WORDS.search(context):
                return True
    return False


def _could_be_password(value: str) -> bool:
    """Return whether the value has a digit, a sign or mixed case: `hunter2`, `4711`, `correct-horse`."""
    word = re.match(r"[!-~]*", value)
    ascii_part = word[0].strip(".,:;()<>[]") if word else ""
    is_year = value[len(ascii_part) :].startswith("年")
    if len(ascii_part) < 4 or _PLAIN_VALUE.fullmatch(ascii_part) or is_year:
        return False
    return re.search(r"\d|[^\w']|_|[a-z][A-Z]", ascii_part) is not None


def _contains_token(text: str) -> bool:
    for match in _LONG_WORD.finditer(text):
        start, end = match.start() - _CONTEXT_CHARACTERS, match.end() + _CONTEXT_CHARACTERS
        around = text[max(0, start) : end].replace(match[0], " ")
        if _looks_random(match[0]) and _TOKEN_WORD.search(around):
            return True
    return False


def _looks_random(word: str) -> bool:
    """Return whether the word mixes upper case, lower case and digits, and repeats few characters."""
    if "://" in word or word.count("/") > 3 or word.count(".") > 2:
        return False
    counts = Counter(word)
    entropy = -sum(n / len(word) * math.log2(n / len(word)) for n in counts.values())
    kinds = [(each.isdigit(), each.isupper()) for each in word if each.isalnum()]
    kind_changes = sum(one != other for one, other in pairwise(kinds))
    return entropy >= 3.0 and len({*kinds}) >= 2 and kind_changes >= 4


def _contains_secret_number(text: str) -> bool:
    dashed = _DASH.sub("-", text)
    if _PERSONAL_NUMBER_WORD.search(dashed) and _SSN.search(dashed):
        return True
    for match in _LONG_NUMBER.finditer(dashed):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) == 12 and _PERSONAL_NUMBER_WORD.search(dashed) and _is_my_number(digits):
            return True
        if len(digits) in _CARD_LENGTHS and _passes_luhn(digits):
            is_formatted = _CARD_FORMAT.fullmatch(match[0]) and _CARD_START.match(digits)
            if is_formatted or _CARD_WORD.search(dashed):
                return True
    return False


def _passes_luhn(digits: str) -> bool:
    """See ISO/IEC 7812-1, annex B."""
    if len(set(digits)) == 1:
        return False
    doubled = (int(digit) * (2 if index % 2 else 1) for index, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _is_my_number(digits: str) -> bool:
    """Verify an Individual Number of Japan (Ministry of Internal Affairs, order 85 of 2014, article 5)."""
    *body, check_digit = map(int, digits)
    weights = (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6)
    rest = sum(digit * weight for digit, weight in zip(reversed(body), weights, strict=True)) % 11
    return check_digit == (0 if rest <= 1 else 11 - rest)
