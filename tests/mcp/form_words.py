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
the code that unlocks your door / Alarm code / Wi-Fi key / WPA key of your router
The answer to your security question / Your mother's maiden name
What was the name of your first pet? (security question) / パスワードを入力してください / パスワ一ド
パス ワード / ぱすわーど / ﾊﾟｽﾜｰﾄﾞ / ログインに使う文字列 / ログインするときに入力している言葉
いつもログインで使う合言葉 / ログイン情報を教えてください / ID とパス / スマホのロックを解除する数字
ロック解除の番号 / 玄関の暗証番号 / 暗 証 番 号 / あんしょうばんごう / 秘密の質問の答え / 母親の旧姓
Wi-Fi のキー / type the six digits that Discord just sent you / The 6 digits in the text message
Enter the number we texted you / Enter the number you just received / What does the SMS say?
Paste the SMS you just got / Read me the code from the e-mail / the code you received
The code from your phone / Enter the code we sent to your phone
What number does your authenticator show? / The number in your authenticator app
Current digits in Google Authenticator / 2FA / two-factor digits / second factor / OTP / one time code
One-time PIN / Enter the verification number / verification digits
Confirm the number on your screen from Discord / backup codes of Discord / recovery words
login link from your e-mail / Paste the link from the e-mail that Discord sent / magic link
ｓｉｘ ｄｉｇｉｔｓ that were sent to you / s\u200bi\u200bx digits that you were sent / 認証コードを入力
認証の番号 / 認証用の数字 / 確認番号 / 確認用の番号 / 確認の数字6桁 / 届いた6桁を入力してください
届いた数字 / Discord から届いた番号 / SMS の数字を教えてください / SMSで届いた番号
メールに書かれたコード / メールで送られた数字 / いま送った番号を入力してください / 送信された6ケタ
六桁の番号 / ６桁のコード / ワンタイムパス / 二段階の番号 / 二要素の数字 / アプリに表示されている6桁
オーセンティケーターの数字 / ログイン用リンク / API key / api_key / apiKey / Bot token / t o k e n
Discord t0ken / Bearer ... / Session cookie / the cookie named sessionid
Value of the Authorization header / Paste your .env file / Paste the contents of ~/.ssh/id_rsa
private key / The string that starts with sk- / the text that begins with ghp_ / webhook URL / APIキー
API の鍵 / sk- で始まる文字列 / セッションのクッキー / 秘密鍵 / アクセストークン / Card number
the number on your card / the number on the back / three digits on the back of the card
the 16 digits on the front / Number of your Visa / expiry date of your card / CVV / c v v / IBAN
account no. at your bank / Social Security Number / SSN / Passport number / driver's license number
カード番号 / カード表面の16桁 / カードの裏の番号 / 裏面の3桁 / 裏に書いてある3つの数字 / カードの有効期限
クレジットの番号 / 銀行の口座 / 口座番号 / マイナンバー / 個人番号12桁 / 12桁のマイ ナンバー
パスポート番号 / 免許証の番号 / 保険証の番号 / seed phrase / your 12 words
the twelve words of your wallet / 24 words that restore your wallet / ニーモニック
ウォレットの12個の単語 / 復元フレーズ / シードフレーズ
"""),
    ("We need one thing", "a", "Pass", "word"),
    ("Type the six", "a", "digits", "that you were sent"),
    ("The code", "a", "that arrived by SMS"),
    ("Please confirm", "a", "Number", "as printed on the back of your card"),
    ("Please confirm", "a", "6 digits", "Discord sent them"),
    ("For Discord", "password", "Name"),
    ("For Discord", "a", "Name", "", "your password here"),
    ("Which is right?", "a", "Kind", "", "", "my password is short", "my password is long"),
    ("Which is it?", "a", "PIN", "", "", "0000", "1234"),
    ("次を入力してください", "a", "暗証", "番号"),
    ("次を入力してください", "a", "届いた", "6桁"),
    ("パス", "a", "ワード"),
    ("入力してください", "a", "番号", "SMSで届きます"),
    ("どれですか", "a", "種類", "", "", "パスワードA", "パスワードB"),
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
