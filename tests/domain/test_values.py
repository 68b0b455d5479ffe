"""Values: equal content is equal, and what can't be true can't be made."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from cc_bot.domain import Attachment, Locale, Message, SessionKey, Usage


class TestMessage:
    def test_with_the_same_content_is_equal_wherever_it_is_stored(self) -> None:
        assert Message("user", "やあ", id=1) == Message("user", "やあ", id=2)
        assert Message("user", "やあ") != Message("assistant", "やあ")

    def test_cant_be_changed(self) -> None:
        message = Message("user", "やあ")
        with pytest.raises(FrozenInstanceError):
            message.content = "じゃあ"  # type: ignore[misc]  # that it is refused is the test

    def test_needs_a_time_zone_in_its_time(self) -> None:
        naive = datetime(2026, 11, 22, tzinfo=UTC).replace(tzinfo=None)
        with pytest.raises(ValueError, match="time zone"):
            Message("user", "やあ", created_at=naive)


class TestAttachment:
    def test_does_not_show_its_bytes_in_a_log(self) -> None:
        assert "secret" not in repr(Attachment("a.txt", "text/plain", b"secret"))

    @pytest.mark.parametrize(("content_type", "image"), [("image/png", True), ("text/plain", False)])
    def test_is_an_image_by_its_media_type(self, content_type: str, image: bool) -> None:
        assert Attachment("a", content_type, b"").is_image is image


class TestSessionKey:
    def test_is_for_the_default_agent_unless_another_is_named(self) -> None:
        assert SessionKey(1, 2) == SessionKey(user_id=1, channel_id=2, agent="default")
        assert SessionKey(1, 2) != SessionKey(1, 2, agent="tutor")


class TestLocale:
    @pytest.mark.parametrize(
        ("tag", "locale"),
        [
            ("ja", "ja"),
            ("ja-JP", "ja"),
            ("JA_jp", "ja"),
            ("en-GB", "en"),
            ("fr", "en"),
            ("jav", "en"),
            ("", "en"),
        ],
    )
    def test_is_japanese_for_japanese_and_english_for_the_rest(self, tag: str, locale: str) -> None:
        assert Locale.of(tag) == Locale(locale)


class TestUsage:
    def test_of_two_requests_adds_up(self) -> None:
        assert Usage(1, 2) + Usage(10, 20) == Usage(11, 22)
