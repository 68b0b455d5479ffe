"""What of a message its author typed."""

import pytest

from cc_bot.domain.message import typed_part


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("a\n> b\nc", "a\nc"),
        ("a\n＞ b\n  > c\n見て", "a\n見て"),
        ("a\n>>> b\nc\n\nd", "a"),
        ("a\n  >>>b\nc", "a"),
        ("a > b >>> c", "a > b >>> c"),
        ("[file: a.txt]\n[sticker: b]\nc", "c"),
    ],
)
def test_a_quotation_and_a_name_are_not_typed(text: str, own: str) -> None:
    assert typed_part(text).strip() == own
