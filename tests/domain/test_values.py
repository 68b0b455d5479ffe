"""Values: what can't be true can't be made, and whose words a message holds."""

from datetime import UTC, datetime

import pytest

from cc_bot.domain.message import Attachment, Message, has_quotation, typed_part
from cc_bot.domain.text import Locale


def test_a_message_needs_a_time_zone_and_an_attachment_shows_no_byte_in_a_log() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Message("user", "やあ", created_at=datetime(2026, 11, 22, tzinfo=UTC).replace(tzinfo=None))
    assert "secret" not in repr(Attachment("a.txt", "text/plain", b"secret"))


def test_a_locale_is_japanese_for_japanese_and_english_for_the_rest() -> None:
    tags = {"ja": True, "ja-JP": True, "JA_jp": True, "en-GB": False, "fr": False, "jav": False, "": False}
    assert {tag: Locale.from_tag(tag) is Locale.JA for tag in tags} == tags


def test_a_quotation_and_a_name_are_not_typed() -> None:
    typed = {
        "a\n> b\nc": "a\nc",
        "a\n＞ b\n  > c\n見て": "a\n見て",
        "a\n>>> b\nc\n\nd": "a",
        "a\n  >>>b\nc": "a",
        "a > b >>> c": "a > b >>> c",
        "[file: a.txt]\n[sticker: b]\nc": "c",
    }
    assert {text: typed_part(text).strip() for text in typed} == typed
    ends = ("\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029")
    assert [end for end in ends if not has_quotation(f"a{end}\u3000> b")] == []
    assert not has_quotation("a > b ＞ c")
