"""Which lines are fences, and how a text that leaves one open is closed."""

import pytest

from cc_bot.discord.pages.split import close_fences


class TestCloseFences:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "本文だけです。",
            "```py\nprint(1)\n```",
            "```py\nprint(1)\n```  \nThen",
            "Use ``` to open a block",
            "``` a ` b",
            "``not three``",
            "> ```\n> code\nA line outside of the quote ends its fence.",
            "~~~\n```\n~~~",
        ],
    )
    def test_leaves_a_text_without_an_open_fence_as_it_is(self, text: str) -> None:
        assert close_fences(text) == text

    @pytest.mark.parametrize(
        ("text", "closing"),
        [
            ("```", "\n```"),
            ("```py\nprint(1)", "\n```"),
            ("```py\nprint(1)\n", "```"),
            ("~~~~ text\n~~~", "\n~~~~"),
            ("````md\n```py\nx\n```", "\n````"),
            ("```\n~~~", "\n```"),
            ("```\ncode\n``` not the end", "\n```"),
            ("- 手順\n    ```sh\n    ls", "\n    ```"),
            ("1. ```sh\n   ls", "\n   ```"),
            ("> ```js\n> f()", "\n> ```"),
            ("> > ```js\n> > f()", "\n> > ```"),
            ("```a\n```\n```b", "\n```"),
            ("```py\r\nprint(1)\r\n", "```"),
        ],
    )
    def test_closes_an_open_fence_with_a_line_of_its_kind(self, text: str, closing: str) -> None:
        assert close_fences(text) == text + closing

    def test_is_at_peace_with_what_it_closed(self) -> None:
        closed = close_fences("> - ~~~~\n> x")
        assert close_fences(closed) == closed
