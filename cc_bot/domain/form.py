"""Forms in which users answer a tool server's questions, never secrets. Entries are not stored."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from cc_bot.domain.errors import (
    CcBotError,
    FieldEmpty,
    FieldLengthOutOfBounds,
    FieldNotAChoice,
    FieldNotANumber,
    FieldNotAWholeNumber,
    FieldNotYesOrNo,
    FieldOutOfBounds,
    InputError,
)
from cc_bot.domain.text import shorten

MAX_FIELDS: Final = 5
MAX_ENTRY_LENGTH: Final = 4000
MAX_TOLD_LENGTH: Final = 1000
"""The choices that an error repeats."""
OPEN_FOR_S: Final = 300
MAX_NUMBER: Final = 1e15
"""Floats are exact integers up to here."""

FieldKind = Literal["text", "number", "whole", "yes_or_no", "choice"]
FieldValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class FormChoice:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class FormField:
    """Its texts are the server's."""

    name: str
    title: str
    kind: FieldKind = "text"
    hint: str = ""
    required: bool = False
    default: str = ""
    choices: tuple[FormChoice, ...] = ()
    least: float | None = None
    """A number's value, or a text's length."""
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """With one to MAX_FIELDS fields."""

    server: str
    message: str
    fields: tuple[FormField, ...]


class Asker(Protocol):
    """Asks the user of a running tool call."""

    async def ask(self, form: Form) -> Mapping[str, str] | None:
        """Return the entries for `read_form`; None if the user declines. Cancelling withdraws the form."""
        ...

    async def tell(self, refusal: CcBotError) -> None: ...


def _words(text: str) -> list[str]:
    return text.split()


_YES: Final = frozenset(_words("yes y true on 1 はい うん する します ok オーケー 有効 ○ ◯"))
_NO: Final = frozenset(_words("no n false off 0 いいえ いや しない しません 無効 × x"))
_GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d{0,20})?")
"""Elsewhere a comma may be a decimal point."""
_NUMBER: Final = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})")


def read_form(form: Form, entered: Mapping[str, str]) -> Mapping[str, FieldValue]:
    """Return the values; empty fields have none. Raises an InputError for the first invalid one."""
    found = {field.name: _read(field, entered.get(field.name, "").strip()) for field in form.fields}
    return {name: value for name, value in found.items() if value is not None}


def _read(field: FormField, text: str) -> FieldValue | None:
    if not text:
        if field.required:
            raise FieldEmpty(name=field.title)
        return None
    match field.kind:
        case "choice":
            return _choice(field, text)
        case "yes_or_no":
            if (folded := _fold(text)) not in _YES | _NO:
                raise FieldNotYesOrNo(name=field.title)
            return folded in _YES
        case "number" | "whole":
            return _number(field, text)
        case "text":
            _check_bounds(field, len(text), FieldLengthOutOfBounds)
            return text


def _choice(field: FormField, text: str) -> str:
    """Labels before values, exact before folded."""
    for fold in (str.strip, _fold):
        for shown in (True, False):
            called = [(fold(each.label if shown else each.value), each.value) for each in field.choices]
            if len(found := [value for name, value in called if name == fold(text)]) == 1:
                return found[0]
    known = shorten(" / ".join(choice.label for choice in field.choices), MAX_TOLD_LENGTH)
    raise FieldNotAChoice(name=field.title, known=known)


def _number(field: FormField, text: str) -> int | float:
    plain = _fold(text).replace("−", "-")
    if _GROUPED.fullmatch(plain):
        plain = plain.replace(",", "")
    wrong = FieldNotAWholeNumber if field.kind == "whole" else FieldNotANumber
    if not _NUMBER.fullmatch(plain) or abs(value := float(plain)) > MAX_NUMBER:
        raise wrong(name=field.title)
    if field.kind == "whole":
        if not value.is_integer():
            raise wrong(name=field.title)
        value = int(value)
    _check_bounds(field, value)
    return value


def _check_bounds(field: FormField, number: float, wrong: type[InputError] = FieldOutOfBounds) -> None:
    least, most = field.least, field.most
    if (least is None or number >= least) and (most is None or number <= most):
        return
    bounds = ("" if bound is None else f"{bound:.15g}" for bound in (least, most))
    raise wrong(name=field.title, expected="–".join(bounds))


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().strip()


# A false match costs a form, a missed one a password.

_WITHIN: Final = _words("""
    password passwd passcode passphrase passkey passnumber secret token credential apikey accesskey
    privatekey licensekey seedphrase recoveryphrase cardnumber cardno cardnum creditcard debitcard
    securitycode onetimecode verificationcode authcode authenticationcode confirmationcode recoverycode
    backupcode socialsecurity bankaccount accountnumber mynumber pincode pinnumber accesscode logincode
    signincode smscode digitcode recoverykey sshkey authkey encryptionkey signingkey openaikey mnemonic
    walletwords wordsofyourwallet visanumber passwort kennwort contrasena motdepasse 密码 密碼 验证码
    비밀번호 пароль cvv 暗証 暗唱番号 あんしょう パスワード パスコード パスフレーズ パスキー ピンコード
    合言葉 合い言葉 秘密 ひみつ シークレット トークン アクセスキー apiキー ライセンスキー シードフレーズ
    カード番号 カードの番号 クレジットカード デビットカード クレカ カードno カードの裏 セキュリティコード
    セキュリティ番号 認証コード 認証番号 認証アプリ 二段階認証 二要素認証 ピン番号 桁のコード 桁の番号
    桁の数字 ログインコード apiの鍵 api鍵 アクセス鍵 秘密鍵 確認コード 確認番号 検証コード リカバリーコード
    復元コード ワンタイム バックアップコード 口座番号 口座の番号 通帳 マイナンバー 個人番号 資格情報
    認証情報 ログイン情報 ログインに使 ログインで使 ログインするとき 旧姓 ニーモニック 復元フレーズ
    パスポート番号 免許証の番号 免許証番号 保険証の番号 保険証番号 idとパス wifiのキー wifiキー
    オーセンティケーター セッションのクッキー skで始 authenticator twofactor secondfactor maidenname
    securityquestion sessioncookie sessionid idrsa envfile webhookurl authorizationheader magiclink
    loginlink signinlink logindetails logindata signindetails signindata discordlogin passportnumber
    licensenumber licencenumber wifikey wpakey alarmcode doorcode recoverywords
""")
"""Anywhere, without what is between letters, hiragana as katakana without long vowels."""
_AS_WORDS: Final = frozenset(_words("pin pins cvc cvc2 csc otp totp 2fa mfa pwd pw pass ssn iban jwt bearer"))
"""As whole words: they are part of many others."""
_HARMLESS: Final = re.compile(
    r"\b(?:postal|zip|post|room|seat|country|error|phone|flight|order|tracking|page|issue|line|qr|source|version|"
    r"ticket) (?:code|number|digit)s?\b"
)
_THING: Final = r"\b(?:digits?|codes?|sms|numbers?(?! of [a-z]{1,20}s\b))\b"
_SOURCE: Final = (
    r"\b(?:sent|texted|receive|received|arrived|arrives|got|sms|text message|e ?mail|inbox|unlocks?|log ?in|"
    r"e ?mailed|came by|sign ?in|verify|verification|"
    r"(?:from|to|on|in) your (?:phone|card|screen)|your (?:visa|mastercard|wallet))\b"
)
_BY_PHRASE: Final = re.compile(
    rf"{_THING}.{{0,40}}{_SOURCE}|{_SOURCE}.{{0,40}}{_THING}"
    r"|\b(?:digits?|number)\b.{0,40}\b(?:discord|back|front)\b|\bdiscord\b.{0,40}\bdigits\b"
    r"|\b(?:digits|number) of your (?:visa|mastercard|card)\b"
    r"|\b(?:use|type|enter)(?: in)? to (?:log|sign|unlock)\b|\b(?:starts|begins) with (?:sk|ghp|xoxb|akia)\b"
    r"|\blink\b.{0,40}\b(?:e ?mail|sent)\b|\bexpir(?:y|ation)\b.{0,20}\bcard\b|\baccount no\b.{0,20}\bbank\b"
    r"|\byour (?:12|24|twelve) words\b|\b(?:12|24|twelve) words\b.{0,20}\bwallet\b"
)
"""A code or number near its origin or what it opens."""
_BY_PHRASE_JA: Final = re.compile(
    "(?:番号|数字|コド|[0-9一-十]桁|ケタ).{0,15}(?:届|送ッタ|送ラレ|送信サレ|受信|受ケ取|sms|メルデ|メルニ|認証|"
    "確認|二段階|二要素|解除|ログイン|裏)"
    "|(?:届|送ッタ|送ラレ|送信サレ|受信|受ケ取|sms|メルデ|メルニ|認証|確認|二段階|二要素|解除|ログイン|裏|カド表面|クレジット)"
    ".{0,15}(?:番号|数字|コド|桁|ケタ|リンク|3ツ)|アプリ.{0,10}(?:数字|桁)|カド.{0,5}有効期限|銀行.{0,5}口座"
    "|ウォレット.{0,10}単語"
)
_LETTERS_APART: Final = re.compile(r"\b[a-z0-9](?: [a-z0-9]){1,20}\b")
_ONE_AS_LONG_VOWEL: Final = re.compile("(?<=[ァ-ヶ])一(?=[ァ-ヶ])")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[a-z0-9]+")
_BETWEEN: Final = re.compile(r"[\W_]+")


def asks_for_secret(text: str) -> bool:
    """Return whether a text asks for a password, a code, or a card or account number."""
    visible = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Mn"))
    plain = "".join(map(_without_accent, unicodedata.normalize("NFKC", visible))).translate(_ALIKE)
    words = _WORD.findall(_HUMP.sub(" ", plain).casefold())
    spelt = (plain.casefold(), plain.casefold().translate(_DIGITS))
    close = [_BETWEEN.sub("", each).translate(_KATAKANA).replace("secretar", "") for each in spelt]
    close = [_ONE_AS_LONG_VOWEL.sub("", each) for each in close]
    spaced = " ".join(words)
    words += [each.replace(" ", "") for each in _LETTERS_APART.findall(spaced)]
    return (
        not _AS_WORDS.isdisjoint(words)
        or any(word in each for word in _FOLDED for each in close)
        or _BY_PHRASE.search(_HARMLESS.sub("", spaced)) is not None
        or _BY_PHRASE_JA.search(close[0]) is not None
    )


def _without_accent(letter: str) -> str:
    base = letter if letter.isascii() else unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter


_ALIKE: Final = str.maketrans("аеорсхуіѕԁкткпΑαοΟρνРАЕОСХКТМНВІЅ", "aeopcxyisdktknAaoOpvPAEOCXKTMHBIS")
"""They look like Latin letters."""
_DIGITS: Final = str.maketrans("013457@$", "oleastas")
_KATAKANA: Final = {code: code + 0x60 for code in range(0x3041, 0x3097)} | {ord("ー"): None}
_FOLDED: Final = tuple(word.translate(_ALIKE).translate(_KATAKANA) for word in _WITHIN)
