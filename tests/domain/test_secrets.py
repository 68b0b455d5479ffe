"""What is refused as a secret or asks for one, and how the fields of a form are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import FieldNotAChoice, FieldNotANumber
from cc_bot.domain.form import FieldKind, Form, FormChoice, FormField, asks_for_secret, read_form
from cc_bot.domain.secrets import RULES, looks_secret, plainly, rules_for
from tests.domain.phrases import phrases

SECRETS = phrases(
    """
パスワードは hunter2 です | Wi-Fiのパスワードはsakura2024!です | ワイファイのパスワード: Abcd-1234
暗証番号は4711 | 暗証番号：１２３４ | 銀行の暗証番号を 0523 にした | my password is hunter2
The PIN for my card is 4711 | pin: 8842 | password = correct-horse-battery
パスフレーズは「correct horse battery staple 9」 | hunter2 is my password
s3cr3tPa55 が会社のパスワードです | APIキーは sk-abcdefghijklmnop1234567890
sk-proj-AbCdEf0123456789AbCdEf0123456789 | ghp_abcdefghijklmnopqrstuvwxyz0123456789
xoxb-1234567890-abcdefghij | AKIAIOSFODNN7EXAMPLE
eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U
MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs | -----BEGIN RSA PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY----- | トークンは a8F3kd92LsQ0x7Zp
アクセスキー 9f8e7d6c5b4a39281706f5e4d3c2b1a0 | The token is 8f14e45fceea167a5a36dedd4bea2543
カード番号は 4111 1111 1111 1111 | クレカ：4111-1111-1111-1111 | ４１１１　１１１１　１１１１　１１１１
my visa 4242424242424242 exp 12/29 | 5555 5555 5555 4444 | 378282246310005 (amex)
マイナンバーは123456789018です | 個人番号 1234-5678-9018 | 口座番号は1234567 | みずほ銀行 普通預金 7654321
bank account number: 12345678 | セキュリティコードは123 | CVV 987 | postgres://bob:s3cret@db.example.com/x
SSN 123-45-6789 (my social security number)
https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz0123456789ABCDEF
パスワードは sakura です | password: sakura | Wi-Fiのパスはsakura2024 | ログインIDはaiko、パスはhunter2
パスワード hunter2 | password hunter2 | pw: hunter2 | recovery code 1234-5678-9012
バックアップコードは ab12-cd34-ef56 | my seed phrase is abandon ability able about above
"""
)
FULL_WIDTH = phrases("カード番号は ４１１１ー１１１１ー１１１１ー１１１１ | ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２")
HARMLESS = phrases(
    """
誕生日は1990年3月15日 | 誕生日は1990-03-15 | 太郎の電話番号は090-1234-5678 | 電話は03-1234-5678
パスワードを忘れがち | パスワードは紙に書いている | パスワード管理は1Passwordを使っている
パスワードマネージャーは Bitwarden | I always forget my password | My password manager is 1Password
パスワードは毎年変える | パスワードの変更は2026-12-01にやる | カメラはSONY ILCE-7M4 | 型番は WH-1000XM5
鍵は玄関の植木鉢の下 | 家の鍵は3本ある | キーボードは HHKB Professional HYBRID Type-S | 好きなキーはFm7
会議は14:30から | 郵便番号は100-0001 | 住所は千代田区千代田1-1-1 | 車のナンバーは品川300あ12-34
会員番号はない | 社員番号は 123456 | カードはビザを使っている | 銀行口座を開きたい | ISBN 978-4-10-101001-4
ISBN 9784101010014 | 注文番号 250-1234567-1234567 | 追跡番号 1234-5678-9012 | マイナンバーカードを取得した
マイナンバーの有効期限は2030年3月 | 合言葉はオオルリ | 合言葉はカワセミです | 金庫の番号は4711
pinのピンバッジを集めている | Pinterest のアカウントを作った | I keep my key under the mat
The key to happiness is sleep | My favourite key is C minor | Token Ring is an old network
トークン節約のため短く答えてほしい
GitHubのリポジトリは https://github.com/example/very-long-repository-name-1234
メールは taro.yamada2024@example.com | Discord ID は 123456789012345678 | IPアドレスは192.168.100.200
飛行機は NH105 便 2026-12-24 | パスポートの有効期限は2030年 | Steamのアカウント名は shiro_neko_99
password: forgotten again | I was told that my password was too weak | パスワードは8文字以上がいい
定期のパスは2026-03-31まで | パスは苦手、ドリブルが得意 | password manager | パスワード 8文字以上
バックアップコードは印刷してある | The recovery code is in the drawer | 円周率は3.14159265358979
猫の体重は4.2kg | 口座は三菱UFJ | secret santa is on December 24 | The secret to good coffee is 92 degrees
アレルギーのコードは Z88.0 | UUID 550e8400-e29b-41d4-a716-446655440000 の件
パスワードはGoogleに保存している | パスワードは Bitwarden で管理 | パスワードは覚えていない
パスワードは2024年に変えた | サーバーのIDは 412345678901234567
"""
)


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
        """Of the ten numbers that differ in their last digit only, one can be a card's."""
        for name, digits in (("カード番号", body), ("マイナンバー", 10**10 + body % (9 * 10**10))):
            assert sum(looks_secret(f"{name}は{digits}{last}") for last in range(10)) == 1


WORDS = "パスワード|パス|暗証番号|口座|コード|recovery code|pİn|pın|security|iban|card|seed words|は| is |: "
FORMS = "SG.|AKIA|bearer |://|@|:|-----BEGIN |PRIVATE KEY-----|~|-|ー|あいうえおかきくけこさしすせそたち"
VALUES = "hunter2|a1b2c3d4e5f6|４１１１|1234|٣٤٥|correct horse battery staple"
PIECES = st.sampled_from(f"{WORDS}|{FORMS}|{VALUES}".split("|"))


@given(st.lists(PIECES | st.text(max_size=3), max_size=9).map("".join))
def test_a_quick_look_passes_over_no_rule_that_would_find_something(text: str) -> None:
    plain = plainly(text)
    assert {rule for rule in RULES if rule(plain)} <= set(rules_for(plain))


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
