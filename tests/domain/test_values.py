"""Values: equal content is equal, and what can't be true can't be made."""

from datetime import UTC, datetime

import pytest

from cc_bot.domain import Attachment, Locale, Message, SessionKey
from cc_bot.domain.message import has_quotation, typed_part


class TestMessage:
    def test_with_the_same_content_is_equal_wherever_it_is_stored(self) -> None:
        assert Message("user", "やあ", id=1) == Message("user", "やあ", id=2)
        assert Message("user", "やあ") != Message("assistant", "やあ")

    def test_needs_a_time_zone_in_its_time(self) -> None:
        naive = datetime(2026, 11, 22, tzinfo=UTC).replace(tzinfo=None)
        with pytest.raises(ValueError, match="time zone"):
            Message("user", "やあ", created_at=naive)


class TestAttachment:
    def test_does_not_show_its_bytes_in_a_log(self) -> None:
        assert "secret" not in repr(Attachment("a.txt", "text/plain", b"secret"))


def test_a_session_is_for_the_default_agent_unless_another_is_named() -> None:
    assert SessionKey(1, 2) == SessionKey(user_id=1, channel_id=2, agent="default")
    assert SessionKey(1, 2) != SessionKey(1, 2, agent="tutor")


def test_a_locale_is_japanese_for_japanese_and_english_for_the_rest() -> None:
    for tag in ("ja", "ja-JP", "JA_jp"):
        assert Locale.of(tag) is Locale.JA
    for tag in ("en-GB", "fr", "jav", ""):
        assert Locale.of(tag) is Locale.EN


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


def test_a_quotation_stands_behind_whatever_ends_a_line() -> None:
    ends = ("\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029")
    assert [end for end in ends if not has_quotation(f"a{end}\u3000> b")] == []
    assert not has_quotation("a > b ＞ c")
