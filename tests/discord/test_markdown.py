import re

from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.answer import AnswerState, advance, final_pages, streaming_pages
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.markdown import close_spoilers, for_discord, split_messages
from cc_bot.domain.message import Message
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import Done, TextDelta, Usage
from cc_bot.features.canvas.model import Canvas, Text
from cc_bot.features.canvas.views import canvas_page
from cc_bot.texts import texts
from tests.discord.cases import check

JA = texts(Locale.JA)
STOP = StopButton(1, "2")
TABLE = """比較です。

| 果物 | 値段 | 産地 |
|:--|--:|---|
| りんご | 100円 | 青森 |
| **みかん** |  | 愛媛<br>和歌山 |

以上。"""
LISTED = """比較です。

**果物**
- **りんご** — 値段: 100円 / 産地: 青森
- **みかん** — 産地: 愛媛 和歌山

以上。"""
SECRET = "犯人はヤス"


def streamed(text: str) -> str:
    pages = streaming_pages(advance(AnswerState(), TextDelta(text)), JA, STOP)
    return "\n".join(page.content for page in pages)


def ended(text: str, status: str = "complete") -> list[str]:
    answer = Message("assistant", text, status=status)  # type: ignore[arg-type]  # one of two
    return [page.content for page in final_pages(advance(AnswerState(), Done(answer, Usage())), JA)]


def canvas_texts(*elements: Text) -> list[str]:
    page = canvas_page(Canvas(elements, "list", ""), JA, user_id=None, pictures={})
    return [each.build()[0]["content"] for each in page.plain[1:]]


def open_text(message: str) -> str:
    return re.sub(r"\|\|[\s\S]+?\|\|", "", message)


class TestTables:
    def test_are_lists_that_a_phone_can_show(self) -> None:
        check(
            (for_discord(TABLE), LISTED),
            (for_discord("# | b\n--|--\n1 | 2"), "- **1** — b: 2"),
            (for_discord("| | b |\n|-|-|\n| | ||x|| |"), "- b: ||x||"),
            *(
                (for_discord(text), text)
                for text in (f"```\n{TABLE}\n```", "a | b\nc", "| a | b |\n|---|---|")
            ),
        )
        assert ended(TABLE) == [LISTED]
        assert ended("| | |\n|-|-|\n| | |") == ["| | |\n|-|-|\n| | |"]
        assert canvas_texts(Text("text-1", TABLE)) == [LISTED]

    def test_show_no_pipes_while_they_are_written(self) -> None:
        assert [shown for at in range(len(TABLE)) if "|" in (shown := streamed(TABLE[:at]))] == []
        assert "りんご" in streamed(TABLE[: TABLE.index("円")])


class TestFences:
    def test_are_whole_where_they_open_or_close_beside_other_text(self) -> None:
        check(
            (ended("例: ```python\n1\n```\n|です"), ["例:\n```python\n1\n```\n|です"]),
            (ended("例: ```a b\nc```です"), ["例:\n```\na b\nc\n```\nです"]),
            (ended("> - 例: ```\n>   1\n>   ```"), ["> - 例:\n>   ```\n>   1\n>   ```"]),
            (ended("||```\n1\n```||"), ["||\n```\n1\n```\n||"]),
        )
        for text in (
            "`` ``` ``と```1```と\\```と``` 。\n```py\n1\n```",
            "```md\n```py\n1\n```",
            "````\n1```\n````",
        ):
            assert ended(text) == [text]
        text = "例: ```python\nprint(1)```です"
        assert [at for at in range(len(text) + 1) if streamed(text[:at]).count("```") % 2] == []


class TestSpoilers:
    def test_are_shut_in_each_message(self) -> None:
        def shut(*pieces: str) -> tuple[str, ...]:
            return close_spoilers(pieces, is_complete=True)

        check(
            (shut("a ||b", "c", "d|| e"), ("a ||b||", "||c||", "||d|| e")),
            (shut("a ||", "b||"), ("a", "||b||")),
            (shut("a ||b", "||"), ("a ||b||",)),
            (shut("> ||b", "> c||"), ("> ||b||", "> ||c||")),
            (shut("||```\nx\n```", "```\ny\n```||"), ("||```\nx\n```\n||", "||```\ny\n```||")),
            *((shut(*pieces), pieces) for pieces in (("x || y", "z"), ("`a || b`", "c"), (r"\|| a", "b"))),
        )

    def test_are_never_open_while_an_answer_streams_or_where_it_was_stopped(self) -> None:
        text = f"ネタバレです。||{SECRET}||でした。"
        assert [at for at in range(len(text)) if "犯" in open_text(streamed(text[:at]))] == []
        assert "犯" not in open_text(ended(text[:-6], "stopped")[0])
        assert ended("a || b") == ["a || b"]

    def test_are_shut_in_a_text_of_a_canvas_that_is_cut(self) -> None:
        [cut] = canvas_texts(Text("text-1", f"||{SECRET * 2000}||"))
        assert "犯" not in open_text(cut)

    @given(st.lists(st.sampled_from(["あいう。", "\n\n", "word ", "`x`", "\n```\ncode\n```\n"]), max_size=60))
    def test_hide_all_that_they_hold_wherever_the_text_is_cut(self, parts: list[str]) -> None:
        pieces = split_messages(f"前||\n{''.join(parts)}\n。||後", limit=40)
        assert "".join(map(open_text, pieces)).split() in (["前後"], ["前", "後"])
