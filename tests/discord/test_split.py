"""How long answers become messages: examples to read first, then what holds for every text."""

import re
from itertools import pairwise

import pytest
import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies
from hypothesis import example, given
from hypothesis import strategies as st

from cc_bot.discord.pages.split import count_settled, split, utf16_length
from cc_bot.domain.kinsoku import NEVER_FIRST, NEVER_LAST

FAMILY, FLAG, THUMB, KEYCAP, GA = "👨‍👩‍👧‍👦", "🇯🇵", "👍🏽", "1️⃣", "か\u3099"
CLUSTERS = [FAMILY, FLAG, THUMB, KEYCAP, GA, "e\u0301\u0323", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️‍🔥"]
WORDS = ["the", "answer", "don't", "GPT-4o", "3.14", "Wi-Fi", "state-of-the-art", "naïve", "日本語", "です"]
WHOLE = [
    "https://example.com/a/b?c=d&e=%E6%97%A5#f",
    "https://ja.wikipedia.org/wiki/日本語",
    "<:smile:123456789012345678>",
    "<a:dance:123456789012345678>",
    "<@123456789012345678>",
    "<t:1700000000:R>",
    "</memory add:123456789012345678>",
    "[the docs](https://example.com/docs_(v2))",
    "[公式の 説明書](https://example.com/日本)",
    "`a = b + c`",
    "``x ` y z``",
    "**とても 大事な こと**",
    "||犯人は ヤス||",
]

limits = st.integers(min_value=120, max_value=260)
words = st.sampled_from(WORDS) | st.sampled_from(CLUSTERS) | st.text("abcdefg", min_size=1, max_size=12)
gaps = st.sampled_from([" ", " ", " ", "\n", "\n\n", ". ", "、", "。", "！\n", "　"])
prose = st.lists(st.tuples(words | st.sampled_from(WHOLE), gaps), max_size=60)
sentences = st.lists(
    st.sampled_from(
        [
            "今日はいい天気ですね。",
            "「おはよう。」と言った、と聞きました！",
            "コンピューターとメモリー（主記憶）の話ですが、",
            "ちょっと待って……本当？",
            "『吾輩は猫である』を読みました。\n",
            "はい。\n\n",
            "東京・大阪・名古屋へ行って、ゆっくりしゃべった",
        ]
    ),
    max_size=40,
).map("".join)
markdown_soup = st.lists(
    st.sampled_from(
        ["```", "````", "~~~", "```py\n", "\n", "\n\n", "> ", "- ", "1. ", "  ", "`", "[", "](", "a", "あ。"]
    )
    | st.sampled_from(CLUSTERS + WHOLE + WORDS)
    | st.text(max_size=20),
    max_size=80,
).map("".join)


@st.composite
def code_blocks(draw: st.DrawFn) -> list[tuple[str, str, str, list[str]]]:
    """Blocks of code: what each of its lines starts with, its fence, its language, its lines."""
    blocks = []
    for number in range(draw(st.integers(1, 5))):
        prefix = draw(st.sampled_from(["", "", "  ", "    ", "> ", "> > "]))
        marks = draw(st.sampled_from(["```", "````", "~~~", "~~~~~"]))
        language = f"{draw(st.sampled_from(['py', 'c++', 'js']))}{number}"
        body = draw(
            st.lists(st.sampled_from(["x = 1", "    return あ", "# 。", "f(", ")", "word " * 8]), max_size=25)
        )
        blocks.append(
            (prefix, marks, language, [f"{number}.{n} {line}".rstrip() for n, line in enumerate(body)])
        )
    return blocks


def written(blocks: list[tuple[str, str, str, list[str]]], between: str) -> str:
    parts = []
    for prefix, marks, language, body in blocks:
        lines = [marks + language, *body, marks]
        parts.append("\n".join(prefix + line for line in lines))
    return f"\n{between}\n\n".join(parts)


def cuts(text: str, pieces: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where a text without fences was cut: the end of each piece and the start of the next one.

    Fails if the pieces are not the text, in order, with nothing but white space left out.
    """
    at, found = 0, []
    for piece in pieces:
        start = text.index(piece, at)
        assert not text[at:start].strip()
        found.append((at, start))
        at = start + len(piece)
    assert not text[at:].strip()
    return found[1:]


def code_lines(pieces: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each line of code with the language above it; fails unless each piece closes what it opens."""
    found = []
    for piece in pieces:
        marks, language = "", ""
        for line in piece.split("\n"):
            inner = re.sub(r"^(?:> ?)*\s*", "", line)
            fence = re.match(r"(`{3,}|~{3,})(.*)", inner)
            if marks and fence and fence[1] == marks and not fence[2]:
                marks = ""
            elif not marks and fence:
                marks, language = fence[1], fence[2]
            elif marks:
                found.append((language, inner))
        assert not marks, piece
    return found


def without_fence_lines(text: str) -> str:
    kept = [line for line in text.split("\n") if not re.match(r"^[\s>]*(?:`{3,}|~{3,})", line)]
    return "".join("".join(kept).split())


class TestExamples:
    def test_a_short_answer_is_one_message(self) -> None:
        assert split("こんにちは！\n\nDiegoさん。") == ("こんにちは！\n\nDiegoさん。",)

    def test_white_space_alone_is_no_message(self) -> None:
        assert split(" \n\n　\t") == ()

    def test_a_paragraph_end_beats_a_later_line_end(self) -> None:
        first, second, third = "a" * 30, "b" * 8, "c" * 10
        assert split(f"{first}\n\n{second}\n{third}", limit=45) == (first, f"{second}\n{third}")

    def test_a_paragraph_end_near_the_start_leaves_no_tiny_message(self) -> None:
        text = "はい。\n\n" + "これは文です。" * 10
        assert split(text, limit=50)[0] == "はい。\n\n" + "これは文です。" * 6

    def test_japanese_breaks_after_the_closing_bracket_of_a_sentence(self) -> None:
        text = "彼は「今日はとても寒いですね、本当に。」と言いながら窓を静かに閉めてくれました"
        assert split(text, limit=32)[0] == "彼は「今日はとても寒いですね、本当に。」"

    def test_without_a_sentence_end_japanese_breaks_after_a_comma(self) -> None:
        text = "やっと春が来て花が咲き鳥が歌いはじめたので、みんなで公園に出かけてお弁当を広げた"
        assert split(text, limit=32)[0] == "やっと春が来て花が咲き鳥が歌いはじめたので、"

    def test_without_any_mark_japanese_breaks_after_a_phrase(self) -> None:
        assert split("東京都庁の展望室から富士山を眺めながら熱いお茶を飲むことにしました", limit=32) == (
            "東京都庁の展望室から富士山を眺めながら熱いお茶を",
            "飲むことにしました",
        )

    def test_a_katakana_word_is_not_cut(self) -> None:
        text = "その新しい大型の汎用的な電子計算機すなわちコンピューターシステムです"
        assert split(text, limit=32) == (
            "その新しい大型の汎用的な電子計算機すなわち",
            "コンピューターシステムです",
        )

    def test_english_breaks_after_a_sentence(self) -> None:
        text = "It works. It was tested twice yesterday. Then it broke down"
        assert split(text, limit=50) == ("It works. It was tested twice yesterday.", "Then it broke down")

    def test_a_code_block_is_closed_and_opened_again_with_its_language(self) -> None:
        text = "Look:\n```python\nfirst = 1\nsecond = 2\nthird = 3\n```"
        assert split(text, limit=46) == (
            "Look:\n```python\nfirst = 1\nsecond = 2\n```",
            "```python\nthird = 3\n```",
        )

    def test_a_block_in_a_quote_keeps_its_quote_marks(self) -> None:
        text = "> ~~~js\n> let first = 1;\n> let second = 2;\n> let third = 3;\n> ~~~"
        assert split(text, limit=60) == (
            "> ~~~js\n> let first = 1;\n> let second = 2;\n> ~~~",
            "> ~~~js\n> let third = 3;\n> ~~~",
        )

    def test_a_block_in_a_list_is_opened_again_without_the_mark_of_the_list(self) -> None:
        text = "- ````sh\n  echo first of all\n  echo ```\n  echo second to it\n  ````"
        assert split(text, limit=55) == (
            "- ````sh\n  echo first of all\n  echo ```\n  ````",
            "  ````sh\n  echo second to it\n  ````",
        )

    def test_a_long_line_of_quoted_code_stays_quoted(self) -> None:
        pieces = split("> ```\n> " + "word " * 20 + "\n> ```", limit=60)
        assert len(pieces) > 1
        assert all(line.startswith("> ") for piece in pieces for line in piece.split("\n"))

    def test_no_empty_code_block_follows_when_only_its_end_did_not_fit(self) -> None:
        code = "```\n" + "x" * 40
        assert split(code + "\n      ```\nDone.", limit=50) == (code + "\n```", "Done.")

    def test_an_unfinished_code_block_is_closed(self) -> None:
        assert split("```py\nprint(1)") == ("```py\nprint(1)\n```",)

    def test_indentation_of_code_survives_a_cut(self) -> None:
        assert split("```\nif a:\n" + "    call_it()\n" * 3 + "```", limit=50)[1] == "```\n    call_it()\n```"

    def test_a_heading_stays_with_its_text(self) -> None:
        assert (
            split("x" * 25 + "\n\n## 次の話\n\n本文がここに続きます", limit=40)[1]
            == "## 次の話\n\n本文がここに続きます"
        )

    @pytest.mark.parametrize("mark", ["-", "1.", "2024.", ">", "#", "```"])
    def test_no_piece_turns_into_a_block_that_the_text_was_not(self, mark: str) -> None:
        assert not split(f"{'a' * 30} bcd {mark} efghijkl", limit=40)[1].startswith(mark)

    def test_emoji_count_twice(self) -> None:
        assert split("😀" * 20, limit=32) == ("😀" * 16, "😀" * 4)

    def test_a_url_longer_than_a_message_is_cut(self) -> None:
        url = "https://example.com/"
        assert split(url + "a" * 50, limit=40) == (url + "a" * 20, "a" * 30)

    def test_a_limit_without_room_for_fences_is_refused(self) -> None:
        with pytest.raises(ValueError, match="32"):
            split("text", limit=31)


class TestEveryPiece:
    @given(text=markdown_soup, limit=st.integers(32, 200))
    def test_fits_and_is_not_blank(self, text: str, limit: int) -> None:
        pieces = split(text, limit=limit)
        assert all(piece.strip() for piece in pieces)
        assert all(utf16_length(piece) <= limit for piece in pieces)
        assert all(len(piece.encode("utf-16-le", "surrogatepass")) // 2 <= limit for piece in pieces)

    @given(parts=prose, limit=limits)
    @example(
        parts=[(word, " ") for word in (WHOLE[0], "<:smile:123456789012345678>", WHOLE[0], "`a = b + c`")],
        limit=120,
    )
    def test_but_the_last_is_nearly_full(self, parts: list[tuple[str, str]], limit: int) -> None:
        text = " ".join(word for word, _ in parts)
        # No piece begins with the sign that opens code: what stands before code stays with it.
        together = [""]
        for word, _ in parts:
            together = [*together[:-1], f"{together[-1]} {word}"] if word[:1] == "`" else [*together, word]
        longest = max(map(utf16_length, together)) + 1
        for piece in split(text, limit=limit)[:-1]:
            assert utf16_length(piece) >= min(int(limit * 0.6), limit - longest)

    @given(text=sentences, limit=limits)
    def test_keeps_kinsoku(self, text: str, limit: int) -> None:
        pieces = split(text, limit=limit)
        cuts(text, pieces)
        for left, right in pairwise(pieces):
            assert right[0] not in NEVER_FIRST
            assert left[-1] not in NEVER_LAST


class TestNothing:
    @given(parts=prose, limit=limits)
    def test_but_white_space_at_the_cuts_is_lost(self, parts: list[tuple[str, str]], limit: int) -> None:
        text = "".join(word + gap for word, gap in parts)
        cuts(text, split(text, limit=limit))

    @given(blocks=code_blocks(), limit=limits, between=st.sampled_from(["Next:", "次は。", "- item"]))
    def test_of_a_code_block_is_lost(
        self, blocks: list[tuple[str, str, str, list[str]]], limit: int, between: str
    ) -> None:
        text = written(blocks, between)
        joined = "\n".join(split(text, limit=limit))
        assert without_fence_lines(joined) == without_fence_lines(text)

    @given(parts=prose, limit=limits)
    def test_that_belongs_together_is_cut(self, parts: list[tuple[str, str]], limit: int) -> None:
        text, spans = "", []
        for word, gap in parts:
            if word in WHOLE or word.isascii():
                spans.append((len(text), len(text) + len(word)))
            text += word + gap
        for end, begin in cuts(text, split(text, limit=limit)):
            assert not any(start < at < stop for start, stop in spans for at in (end, begin))

    @given(
        text=st.lists(st.sampled_from([*CLUSTERS, "あ", "a", " "])).map("".join), limit=st.integers(64, 120)
    )
    def test_that_is_read_as_one_character_is_cut(self, text: str, limit: int) -> None:
        starts = {match.start() for match in regex.finditer(r"\X", text)}
        for end, begin in cuts(text, split(text, limit=limit)):
            assert {end, begin} <= starts


class TestCodeBlocks:
    @given(blocks=code_blocks(), limit=limits)
    def test_keep_every_line_under_its_language(
        self, blocks: list[tuple[str, str, str, list[str]]], limit: int
    ) -> None:
        expected = [(language, line) for _, _, language, body in blocks for line in body]
        assert code_lines(split(written(blocks, "Next:"), limit=limit)) == expected


class TestGrowingText:
    @given(text=markdown_soup | sentences, more=markdown_soup | sentences, limit=st.integers(32, 120))
    def test_keeps_its_settled_pieces(self, text: str, more: str, limit: int) -> None:
        count = count_settled(text, limit=limit)
        assert split(text + more, limit=limit)[:count] == split(text, limit=limit)[:count]

    @given(text=sentences, limit=st.integers(32, 120))
    def test_never_unsettles_a_piece(self, text: str, limit: int) -> None:
        whole = split(text, limit=limit)
        counts = [count_settled(text[:end], limit=limit) for end in range(0, len(text), 7)]
        assert counts == sorted(counts)
        for end, count in zip(range(0, len(text), 7), counts, strict=True):
            assert split(text[:end], limit=limit)[:count] == whole[:count]

    @given(text=sentences, limit=limits)
    def test_has_little_that_is_not_settled(self, text: str, limit: int) -> None:
        pieces = split(text, limit=limit)
        assert sum(map(len, pieces[count_settled(text, limit=limit) + 1 :])) < limit + limit // 4
