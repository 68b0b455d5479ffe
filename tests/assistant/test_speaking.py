"""What of an answer is read aloud."""

import pytest

from cc_bot.assistant.speaking import LONGEST, aloud


class TestAloud:
    @pytest.mark.parametrize(
        ("text", "read"),
        [
            ("十時です。", "十時です。"),
            ("# 予定\n- **会議**は十時\n- `昼食`", "予定\n会議は十時\n昼食"),
            ("[地図](https://example.com/a?b=1) を見てください。", "地図 を見てください。"),
            ("<https://example.com> と https://example.org/", "と"),
            ("> 引用\n| a | b |", "引用\n a  b"),
            ("あ" * LONGEST, "あ" * LONGEST),
        ],
    )
    def test_is_its_words(self, text: str, read: str) -> None:
        assert aloud(text) == read

    @pytest.mark.parametrize(
        "text", ["あ" * (LONGEST + 1), "```py\nprint()\n```", "", "**", "https://example.com"]
    )
    def test_is_nothing_where_that_helps_nobody(self, text: str) -> None:
        assert aloud(text) == ""
