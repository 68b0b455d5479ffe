"""Answers to talk about the conversation itself, and to politeness."""

from cc_bot.llm.offline.about_talk import Talk
from cc_bot.llm.offline.conversation import Conversation
from cc_bot.llm.offline.texts import EN, JA, OfflineTexts

_QUOTED_CHARACTERS = 300


def small_talk(kind: Talk, talk: Conversation, words: OfflineTexts) -> str:
    """The answer to talk that asks for no fact."""
    fixed = {
        Talk.FORGET: words.forget,
        Talk.ABOUT_MODEL: words.about_me,
        Talk.GREETING: words.greeting,
        Talk.THANKS: words.thanks,
    }
    return fixed.get(kind) or _what_was_said(kind, talk, words)


def _what_was_said(kind: Talk, talk: Conversation, words: OfflineTexts) -> str:
    user = short(_last(talk, by_user=True))
    assistant = short(_last(talk, by_user=False))
    if kind is Talk.USER_SAID_FIRST and user:
        return words.you_said_first.format(
            text=short(next(said.text for said in talk.before if said.by_user))
        )
    if kind is Talk.EITHER_SAID and user and assistant and user not in assistant:
        return words.both_said.format(user=inner_quotes(user), assistant=inner_quotes(assistant))
    if kind in (Talk.USER_SAID, Talk.EITHER_SAID) and user:
        return words.you_said.format(text=inner_quotes(user))
    if kind is Talk.ASSISTANT_SAID and assistant:
        return words.i_said.format(text=inner_quotes(assistant))
    return words.nothing_said


def _last(talk: Conversation, *, by_user: bool) -> str:
    for said in reversed(talk.before):
        if said.by_user == by_user:
            return _without_notes(said.text)
    return ""


def _without_notes(text: str) -> str:
    for words in (JA, EN):
        text = text.replace(words.introduction, "").replace(words.how_to_keep, "")
    return text.strip()


def inner_quotes(text: str) -> str:
    """「」 as 『』, and “” as ‘’, for words that are quoted themselves."""
    return text.translate(str.maketrans("「」“”", "『』‘’"))


def short(text: str) -> str:
    plain = " ".join(text.split()).rstrip("。")
    return plain if len(plain) <= _QUOTED_CHARACTERS else f"{plain[:_QUOTED_CHARACTERS]}…"
