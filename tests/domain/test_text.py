"""Texts that are cut to fit."""

import pytest

from cc_bot.domain.text import shortened


class TestShortened:
    @pytest.mark.parametrize(
        ("text", "shown"), [("", ""), ("猫", "猫"), ("猫が好き", "猫が好き"), ("猫が好きだ", "猫が好…")]
    )
    def test_has_no_more_than_the_limit_with_its_ellipsis(self, text: str, shown: str) -> None:
        assert shortened(text, 4) == shown
