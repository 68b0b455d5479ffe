from cc_bot.domain.text import Locale
from cc_bot.texts import Texts, texts_with_mentions
from cc_bot.texts.commands import command_names

LONGEST_ID = 2**64 - 1


def mentioned(locale: Locale) -> Texts:
    return texts_with_mentions(
        locale, {key: LONGEST_ID for key in command_names(Locale.EN) if "_" not in key}
    )
