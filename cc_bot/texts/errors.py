"""The sentences of errors, by their classes (domain/errors)."""

from cc_bot.domain import errors
from cc_bot.domain.errors import CcBotError
from cc_bot.texts.area import Area, Sentence, by_key

_CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, CcBotError)]


class ErrorTexts(Area):
    of = by_key({each: Sentence(ja=each.ja, en=each.en) for each in _CLASSES})
    """By its class."""
    tell_operator = Sentence(ja="ボットの管理者にお知らせください", en="tell the bot's operator")
    """A phrase in the sentences of errors, for readers who are not the operator."""
