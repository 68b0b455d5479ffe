from collections.abc import Iterable

from cc_bot.chat.parts import Building
from cc_bot.features.documents.reader import DocumentReader


def make_parts(given: Building) -> Iterable[object]:
    return (DocumentReader(unconfined=given.config.read_unconfined),)
