"""What a server of tools may write into a form: ways to ask for a secret, and questions that ask for none.

A text is what stands above the form. A tuple is the words of its one field besides: above, name, title,
description, default, and then its choices.
"""

from typing import Final

Words = str | tuple[str, ...]


def words(rows: str) -> list[str]:
    """The texts of these rows, which a slash divides."""
    return [text for row in rows.strip().splitlines() for text in row.split(" / ")]


SECRETS: Final[tuple[Words, ...]] = (
    *words("""
Enter your password / What is your pass word? / p-a-s-s-w-o-r-d please / Your p a s s w o r d / Раsswоrd
ｐａｓｓｗｏｒｄ / pass\u200bword / P4ssw0rd / Pässwörd / passphrase of your key
What do you type to log in? / What do you type in to unlock your phone? / The word you use to sign in
The secret word of your account / Your Discord login / Your login details / Your sign-in data for the bank
User name and pw / PIN of your phone / P.I.N. / the four digits that unlock your phone
The answer to your security question / Your mother's maiden name
ロック解除の番号 / 玄関の暗証番号 / 暗 証 番 号 / あんしょうばんごう / 秘密の質問の答え / 母親の旧姓
Wi-Fi のキー / type the six digits that Discord just sent you / The 6 digits in the text message
Paste the SMS you just got / Read me the code from the e-mail / the code you received
What number does your authenticator show? / The number in your authenticator app
Confirm the number on your screen from Discord / backup codes of Discord / recovery words
ｓｉｘ ｄｉｇｉｔｓ that were sent to you / s\u200bi\u200bx digits that you were sent / 認証コードを入力
届いた数字 / Discord から届いた番号 / SMS の数字を教えてください / SMSで届いた番号
メールに書かれたコード / メールで送られた数字 / いま送った番号を入力してください / 送信された6ケタ
六桁の番号 / ６桁のコード / ワンタイムパス / 二段階の番号 / 二要素の数字 / アプリに表示されている6桁
Value of the Authorization header / Paste your .env file / Paste the contents of ~/.ssh/id_rsa
private key / The string that starts with sk- / the text that begins with ghp_ / webhook URL / APIキー
API の鍵 / sk- で始まる文字列 / セッションのクッキー / 秘密鍵 / アクセストークン / Card number
the 16 digits on the front / Number of your Visa / expiry date of your card / CVV / c v v / IBAN
カード番号 / カード表面の16桁 / カードの裏の番号 / 裏面の3桁 / 裏に書いてある3つの数字 / カードの有効期限
ウォレットの12個の単語 / 復元フレーズ / シードフレーズ
"""),
    ("We need one thing", "a", "Pass", "word"),
    ("Type the six", "a", "digits", "that you were sent"),
    ("The code", "a", "that arrived by SMS"),
    ("Please confirm", "a", "Number", "as printed on the back of your card"),
    ("For Discord", "password", "Name"),
    ("For Discord", "a", "Name", "", "your password here"),
    ("Which is right?", "a", "Kind", "", "", "my password is short", "my password is long"),
    ("次を入力してください", "a", "暗証", "番号"),
    ("パス", "a", "ワード"),
    ("入力してください", "a", "番号", "SMSで届きます"),
)

HARMLESS: Final[tuple[Words, ...]] = (
    *words("""
Room number / Which day? / Six-digit postal code / Your ZIP code / 7-digit postal code of the shop
Order quantity / Order number / How many digits of pi? / How many words should the summary have?
A summary in 12 words / Country code / Which programming language is the code in?
Paste the code to review / The error code, if any / Colour code, such as #ff0000 / QR code size
Dress code / Number of cards to draw / Which card did you draw? / Title of the card on the board
Version number / Line number / Issue number / Page number / Flight number / How many people?
Which authentication library? / Name of the branch / Name of the cookie recipe / Compass direction
Which key does the song have? / Keyboard layout / Secretary's name / Pinned messages only?
Passenger names / Text to send / Who sent the message? / Which e-mail did you receive last?
The back of the book says what? / Write on the front or the back? / Unlock the achievement?
Lock the file? / Web address of the page / Which account should be billed: work or home? / 部屋番号
予約の日付 / 郵便番号（7桁） / 7桁の郵便番号 / 注文の数 / 注文番号 / 円周率は何桁まで？
何桁で表示しますか / 電話番号の市外局番 / 人数 / 行き先 / カードの色 / トランプのカードの枚数
コードの言語 / レビューするコード / エラーコード / ギターのコード / 届いた荷物の数 / メールの件名
送る文章 / 写真の裏に書く言葉 / 鍵盤の数 / 席の番号 / ログの保存先 / 検索する単語を12個 / 通知の時刻
ファイルのパス / 検証する環境
"""),
    ("どの便ですか", "flight", "便名", "例: NH123"),
    ("Which one?", "size", "Size", "", "M", "S", "M", "L"),
    ("Where should it go?", "path", "Path", "a folder", "/home"),
    ("次を選んでください", "day", "曜日", "", "", "月", "火"),
)
