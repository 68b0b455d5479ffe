from collections.abc import Iterable

from cc_bot.features.documents.reader import DocumentReader
from cc_bot.parts import Building


def make_parts(given: Building) -> Iterable[object]:
    return (DocumentReader(unconfined=given.config.read_unconfined),)
