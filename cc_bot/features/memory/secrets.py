"""Detects secrets and requests for secrets.

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


# For `asks_for_secret`, which checks forms of tool servers. A false match refuses a form; a missed match
# gives a secret away.

_REQUEST_TERMS: Final = """
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
"""
"""Searched in a text without separators, in which hiragana are katakana and long vowels are removed."""
_REQUEST_WORDS: Final = "pin pins cvc cvc2 csc otp totp 2fa mfa pwd pw pass ssn iban jwt bearer"
"""Searched as whole words, as many other words contain them."""
_HARMLESS_CODE: Final = re.compile(
    r"\b(?:postal|zip|post|room|seat|country|error|phone|flight|order|tracking|page|issue|line|qr|source|version|"
    r"ticket) (?:code|number|digit)s?\b"
)
_CODE_WORDS: Final = r"\b(?:digits?|codes?|sms|numbers?(?! of [a-z]{1,20}s\b))\b"
_CODE_CONTEXTS: Final = (
    r"\b(?:sent|texted|receive|received|arrived|arrives|got|sms|text message|e ?mail|inbox|unlocks?|log ?in|"
    r"e ?mailed|came by|sign ?in|verify|verification|"
    r"(?:from|to|on|in) your (?:phone|card|screen)|your (?:visa|mastercard|wallet))\b"
)
_REQUEST_PHRASE: Final = re.compile(
    rf"{_CODE_WORDS}.{{0,40}}{_CODE_CONTEXTS}|{_CODE_CONTEXTS}.{{0,40}}{_CODE_WORDS}"
    r"|\b(?:digits?|number)\b.{0,40}\b(?:discord|back|front)\b|\bdiscord\b.{0,40}\bdigits\b"
    r"|\b(?:digits|number) of your (?:visa|mastercard|card)\b"
    r"|\b(?:use|type|enter)(?: in)? to (?:log|sign|unlock)\b|\b(?:starts|begins) with (?:sk|ghp|xoxb|akia)\b"
    r"|\blink\b.{0,40}\b(?:e ?mail|sent)\b|\bexpir(?:y|ation)\b.{0,20}\bcard\b|\baccount no\b.{0,20}\bbank\b"
    r"|\byour (?:12|24|twelve) words\b|\b(?:12|24|twelve) words\b.{0,20}\bwallet\b"
)
"""A code or number near a word for how it arrives or for what it opens."""
# Matches text from `_fold`: katakana, without long vowels.
_REQUEST_PHRASE_JA: Final = re.compile(
    "(?:番号|数字|コド|[0-9一-十]桁|ケタ).{0,15}(?:届|送ッタ|送ラレ|送信サレ|受信|受ケ取|sms|メルデ|メルニ|認証|"
    "確認|二段階|二要素|解除|ログイン|裏)"
    "|(?:届|送ッタ|送ラレ|送信サレ|受信|受ケ取|sms|メルデ|メルニ|認証|確認|二段階|二要素|解除|ログイン|裏|カド表面|クレジット)"
    ".{0,15}(?:番号|数字|コド|桁|ケタ|リンク|3ツ)|アプリ.{0,10}(?:数字|桁)|カド.{0,5}有効期限|銀行.{0,5}口座"
    "|ウォレット.{0,10}単語"
)
_SPELLED_OUT: Final = re.compile(r"\b[a-z0-9](?: [a-z0-9]){1,20}\b")
_ONE_AS_LONG_VOWEL: Final = re.compile("(?<=[ァ-ヶ])一(?=[ァ-ヶ])")
_CAMEL_CASE_BOUNDARY: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])")
_LATIN_WORD: Final = re.compile(r"[a-z0-9]+")
_SEPARATORS: Final = re.compile(r"[\W_]+")


def asks_for_secret(text: str) -> bool:
    """Return whether a text asks for a password, a code, or a card or account number."""
    visible = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Mn"))
    latin = "".join(map(_without_accent, unicodedata.normalize("NFKC", visible))).translate(_LOOKALIKES)
    words = _LATIN_WORD.findall(_CAMEL_CASE_BOUNDARY.sub(" ", latin).casefold())
    spaced = " ".join(words)
    words += [each.replace(" ", "") for each in _SPELLED_OUT.findall(spaced)]
    compact = _fold(latin.casefold())
    without_leetspeak = _fold(latin.casefold().translate(_LETTERS_FOR_DIGITS))
    return (
        not set(words).isdisjoint(_REQUEST_WORDS.split())
        or any(term in compact or term in without_leetspeak for term in _FOLDED_TERMS)
        or _REQUEST_PHRASE.search(_HARMLESS_CODE.sub("", spaced)) is not None
        or _REQUEST_PHRASE_JA.search(compact) is not None
    )


def _fold(text: str) -> str:
    katakana = _SEPARATORS.sub("", text).translate(_KATAKANA)
    katakana = katakana.replace("secretar", "")  # `secretary` contains `secret`
    return _ONE_AS_LONG_VOWEL.sub("", katakana)


def _without_accent(letter: str) -> str:
    base = letter if letter.isascii() else unicodedata.normalize("NFKD", letter)[0]
    return base if base.isascii() and base.isalpha() else letter


_LOOKALIKES: Final = str.maketrans("аеорсхуіѕԁкткпΑαοΟρνРАЕОСХКТМНВІЅ", "aeopcxyisdktknAaoOpvPAEOCXKTMHBIS")
"""From Greek and Cyrillic letters to the Latin letters that they look like."""
_LETTERS_FOR_DIGITS: Final = str.maketrans("013457@$", "oleastas")
_KATAKANA: Final = {code: code + 0x60 for code in range(0x3041, 0x3097)} | {ord("ー"): None}
"""From hiragana to katakana, without the long vowel mark."""
_FOLDED_TERMS: Final = tuple(
    word.translate(_LOOKALIKES).translate(_KATAKANA) for word in _REQUEST_TERMS.split()
)
