from collections.abc import Iterable

from cc_bot.chat.parts import PartsBuilder
from cc_bot.features.documents.reader import DocumentReader


def make_parts(builder: PartsBuilder) -> Iterable[object]:
    return (DocumentReader(unconfined=builder.config.read_unconfined),)
