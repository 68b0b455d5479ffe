"""Words about what is asked in the menu of a message. The menu's own entries are commands (commands.py)."""

from cc_bot.texts.area import Area, Sentence


class MessageMenuTexts(Area):
    form_title = Sentence(ja="このメッセージについて聞く", en="Ask about this message")
    form_question = Sentence(ja="聞きたいこと", en="Your question")
    form_audience = Sentence(ja="回答を見る人（自分だけ／みんな）", en="Who sees the answer (only me / everyone)")
    only_me = Sentence(ja="自分だけ", en="only me")
    translate = Sentence(
        ja="このメッセージを日本語に翻訳してください。もともと日本語なら、英語に翻訳してください。訳文だけを、元の書式（改行、Markdown、コード）のまま返してください。",
        en="Translate this message into English; if it is in English already, into Japanese. Reply with the translation alone, and keep its formatting (line breaks, Markdown, code).",
    )
    """The question that the entry asks. The model sees what language the text is in; a text may be in two."""
    summarise = Sentence(ja="ここからのやりとりを日本語で要約してください。だれが何を言ったかが分かるように、短くまとめてください。", en="Summarise the conversation from here on in English. Keep it short, and tell who said what.")
    asked_about = Sentence(ja="💬 {link} について", en="💬 About {link}")
    """Under an answer that everybody sees."""
    messages_withheld = Sentence(ja="📖 {total}件のうち{read}件を読みました。ほかは、Discord が私に見せないメッセージです。", en="📖 I read {read} of {total} messages. Discord does not show me the others.")
    messages_left = Sentence(ja="📖 ここから{read}件を読みました。このあとにも続きがあります。", en="📖 I read {read} messages from here on. There are more after these.")
    messages_withheld_and_left = Sentence(ja="📖 ここから{total}件のうち{read}件を読みました。ほかは、Discord が私に見せないメッセージです。このあとにも続きがあります。", en="📖 I read {read} of {total} messages from here on. Discord does not show me the others, and there are more after these.")

    def told_of_reading(self, read: int, total: int, *, more: bool) -> str:
        """Say how much of a conversation was read, where that is not all of it."""
        if read == total:
            return self.messages_left.format(read=read)
        sentence = self.messages_withheld_and_left if more else self.messages_withheld
        return sentence.format(read=read, total=total)
