"""Forms: what a server of tools asks back during a call."""

from cc_bot.texts.area import Area, Sentence


class FormTexts(Area):
    asks = Sentence(
        ja="📋 ツールのサーバー「{server}」からの質問です。ボットや Discord からではなく、答えはそのサーバーに送られます。パスワード、届いたコード、カードの番号は、何と書いてあっても入力しないでください（{minutes}分間有効）。",
        en="📋 The server “{server}” asks this, not the bot and not Discord, and gets your answer. Whatever it says, never enter a password, a code that you were sent or the number of a card (open for {minutes} minutes).",
    )
    """Above the words of the server, which stand in a quotation."""
    fill = Sentence(ja="フォームに答える", en="Answer the form")
    skip = Sentence(ja="答えない", en="Don't answer")
    title = Sentence(ja="⚠️ パスワードやコードは書かない：{server}", en="⚠️ No passwords or codes: {server}")
    """Of the form itself, whose other words are the server's; cut at its end."""
    yes_or_no = Sentence(ja="はい / いいえ", en="yes / no")
    answered = Sentence(ja="📋 「{server}」のフォームに答えました。", en="📋 The form of “{server}” was answered.")
    declined = Sentence(ja="📋 「{server}」のフォームには答えませんでした。", en="📋 The form of “{server}” was not answered.")
    over = Sentence(ja="📋 このフォームは、もう送られたか、終わっています。必要なら、もう一度お聞きください。", en="📋 This form was sent already, or is over. Ask again if you still need it.")
    not_yours = Sentence(ja="このフォームに答えられるのは、質問した本人だけです。", en="Only the person who asked can answer this form.")
