from typing import Final

from tests.domain.phrases import table

Words = str | tuple[str, ...]


def words(name: str) -> list[str]:
    """The texts of a table, which a slash divides; a space of no width is written out in it."""
    rows = table(name).replace("\\u200b", "\u200b").splitlines()
    return [text for row in rows for text in row.split(" / ")]


SECRETS: Final[tuple[Words, ...]] = (
    *words("forms_secret"),
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
    *words("forms_harmless"),
    ("どの便ですか", "flight", "便名", "例: NH123"),
    ("Which one?", "size", "Size", "", "M", "S", "M", "L"),
    ("Where should it go?", "path", "Path", "a folder", "/home"),
    ("次を選んでください", "day", "曜日", "", "", "月", "火"),
)
