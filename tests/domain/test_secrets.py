import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.forms import FieldKind, Form, FormChoice, FormField
from cc_bot.features.mcp.errors import FieldNotAChoice, FieldNotANumber
from cc_bot.features.mcp.model import read_form
from cc_bot.features.memory.secrets import asks_for_secret, looks_secret
from tests.domain.phrases import phrases, table

SECRETS = phrases(table("secrets"))
FULL_WIDTH = phrases("カード番号は ４１１１ー１１１１ー１１１１ー１１１１ | ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２")
HARMLESS = phrases(table("no_secrets"))


class TestSecrets:
    def test_are_recognised_also_within_a_longer_text(self) -> None:
        within = [f"昨日は晴れでした。\n{text}\n明日は雨です。" for text in SECRETS]
        texts = [*SECRETS, *within, *FULL_WIDTH, "4111\u200b 1111 1111 1111"]
        assert [text for text in texts if not looks_secret(text)] == []

    def test_are_not_seen_in_ordinary_notes(self) -> None:
        assert [text for text in HARMLESS if looks_secret(text)] == []

    def test_are_recognised_across_any_white_space(self) -> None:
        """However much of it there is, a pattern must not try each part of it in each of its places."""
        for blank in (" ", "\t", "\u3000"):
            many = blank * 100_000
            assert looks_secret(f"パスワード{many}は{many}hunter2")
            assert not looks_secret(f"パスワード{many}")
            assert not looks_secret(f"my seed phrase is{many}a{many}")

    @given(st.integers(10**14, 10**15 - 1))
    def test_of_cards_and_my_numbers_have_their_check_digit(self, body: int) -> None:
        for name, digits in (("カード番号", body), ("マイナンバー", 10**10 + body % (9 * 10**10))):
            assert sum(looks_secret(f"{name}は{digits}{last}") for last in range(10)) == 1


ASKS_FOR_SECRET = phrases(
    """
2FA | myPIN | PINコード | Your OpenAI key (sk-…) | pässword | Passwort | contraseña | SMS code | access code
login code | The 6-digit code we sent you | recovery key | SSH key | セキュリティーコード
セキュリティコード | ピン番号 | SMSで届いた6桁のコード | 暗唱番号 | 通帳の番号 | 認証アプリの数字
二段階認証の数字 | クレカ番号 | カードNo. | カードの裏の3桁 | アクセス鍵 | 密码 | 비밀번호 | пароль
mot de passe
"""
)
ASKS_FOR_NONE = phrases(
    """
行き先 | カードの色 | 鍵盤 | 口コミ | 桁数 | コードの言語 | 検証する | 通知 | Which day? | Pinned | compass
Server id | branch | Version 2F Beta | 2Faces
"""
)


def read(text: str, kind: FieldKind, *choices: FormChoice) -> object:
    field = FormField("a", "欄", kind, choices=choices)
    return read_form(Form("server", "質問", (field,)), {"a": text})["a"]


class TestAChoice:
    def test_is_the_one_that_is_shown_by_that_name_as_it_stands_there_or_in_other_letters(self) -> None:
        choices = (FormChoice("K", "K"), FormChoice("k", "k"))
        assert [read(text, "choice", *choices) for text in ("K", "k")] == ["K", "k"]
        choices = (FormChoice("1", "2"), FormChoice("2", "1"))
        assert [read(text, "choice", *choices) for text in ("1", "2", "２")] == ["2", "1", "1"]
        assert read("ｂｅｔａ", "choice", FormChoice("a", "Alpha"), FormChoice("b", "Beta")) == "b"
        with pytest.raises(FieldNotAChoice):
            read("Ｋ", "choice", FormChoice("1", "K"), FormChoice("2", "k"))


class TestANumber:
    def test_may_have_commas_by_thousands_and_no_others(self) -> None:
        expected = {"1,234.5": 1234.5, "12,345,678": 12345678.0, "１，０００": 1000.0, "-0.5": -0.5}
        assert {text: read(text, "number") for text in expected} == expected
        for text in ("1,5", "1,2,3", "12,34", ",5", "1,0000"):
            with pytest.raises(FieldNotANumber):
                read(text, "number")


def test_a_secret_is_asked_for_by_some_words_and_not_by_others() -> None:
    expected = dict.fromkeys(ASKS_FOR_SECRET, True) | dict.fromkeys(ASKS_FOR_NONE, False)
    assert {words: asks_for_secret(words) for words in expected} == expected
