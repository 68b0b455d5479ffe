"""CC_BOT_DATABASE_URL as an operator may write it."""

from pathlib import Path

import pytest

from cc_bot.domain.errors import InvalidSetting
from cc_bot.storage import DEFAULT_URL, sqlite_path


class TestUrl:
    def test_three_slashes_begin_a_relative_path(self) -> None:
        assert sqlite_path("sqlite:///data/sessions.db") == Path("data/sessions.db")

    def test_four_slashes_begin_an_absolute_path(self) -> None:
        assert sqlite_path("sqlite:////srv/ボット/a b.db") == Path("/srv/ボット/a b.db")

    def test_the_default_is_the_file_in_data(self) -> None:
        assert sqlite_path(DEFAULT_URL) == Path("data/sessions.db")

    @pytest.mark.parametrize(
        "url",
        [
            *(
                "",
                "sqlite:///",
                "sqlite:///  ",
                "sqlite://data/x.db",
                "data/x.db",
                "mysql:///x",
                "sqlite:///a\0b",
            ),
            *("sqlite:////", "sqlite://////", "sqlite:///.", "sqlite:///./", "sqlite:///data/.."),
            *(f"sqlite:///{'x' * 400}.db", f"sqlite:////{'x' * 400}/a.db", f"sqlite:///{'あ' * 100}.db"),
            f"sqlite:///{'folder/' * 600}a.db",
        ],
    )
    def test_anything_else_is_refused_with_examples_of_what_is_taken(self, url: str) -> None:
        with pytest.raises(InvalidSetting) as refusal:
            sqlite_path(url)
        assert refusal.value.params["name"] == "CC_BOT_DATABASE_URL"
        assert DEFAULT_URL in str(refusal.value.params["expected"])

    def test_a_refusal_does_not_repeat_the_password_in_the_url(self) -> None:
        with pytest.raises(InvalidSetting) as refusal:
            sqlite_path("postgresql://bot:himitsu@localhost/cc_bot")
        assert "himitsu" not in str(refusal.value)
