"""What a form's entries are read as, and which words ask for a secret."""

import pytest

from cc_bot.domain.errors import FieldNotAChoice, FieldNotANumber
from cc_bot.domain.form import FieldKind, Form, FormChoice, FormField, asks_for_secret, read_form
from tests.domain.phrases import phrases

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
    def test_is_what_stands_there_and_not_what_is_much_alike(self) -> None:
        choices = (FormChoice("K", "K"), FormChoice("k", "k"))
        assert [read(text, "choice", *choices) for text in ("K", "k")] == ["K", "k"]

    def test_is_the_one_that_is_shown_by_that_name(self) -> None:
        choices = (FormChoice("1", "2"), FormChoice("2", "1"))
        assert [read(text, "choice", *choices) for text in ("1", "2", "２")] == ["2", "1", "1"]

    def test_may_be_written_in_other_letters(self) -> None:
        assert read("ｂｅｔａ", "choice", FormChoice("a", "Alpha"), FormChoice("b", "Beta")) == "b"

    def test_that_could_be_two_is_none(self) -> None:
        with pytest.raises(FieldNotAChoice):
            read("Ｋ", "choice", FormChoice("1", "K"), FormChoice("2", "k"))

    def test_of_many_that_are_long_is_told_in_a_message(self) -> None:
        choices = [FormChoice(f"{number}", f"{number}番の長い選択肢" * 30) for number in range(25)]
        with pytest.raises(FieldNotAChoice) as refused:
            read("どれでもない", "choice", *choices)
        assert len(str(refused.value.params["known"])) <= 1000


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
