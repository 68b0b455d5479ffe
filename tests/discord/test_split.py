import re
from itertools import pairwise

import regex  # type: ignore[import-untyped]  # its stubs (types-regex) are not among the dependencies
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.discord.pages.split import split, utf16_length
from cc_bot.domain.fences import close_marks
from cc_bot.domain.kinsoku import NOT_FIRST_IN_MESSAGE, NOT_LAST
from tests.discord.cases import check

CLUSTERS = ["👨‍👩‍👧‍👦", "🇯🇵", "👍🏽", "1️⃣", "か\u3099", "e\u0301\u0323", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️‍🔥"]
WORDS = ["the", "answer", "don't", "GPT-4o", "3.14", "Wi-Fi", "state-of-the-art", "naïve", "日本語", "です"]
WHOLE = [
    *("https://example.com/a/b?c=d&e=%E6%97%A5#f", "https://ja.wikipedia.org/wiki/日本語"),
    *("<:smile:123456789012345678>", "<a:dance:123456789012345678>", "<@123456789012345678>"),
    *("<t:1700000000:R>", "</memory add:123456789012345678>", "[the docs](https://example.com/docs_(v2))"),
    *("[公式の 説明書](https://example.com/日本)", "`a = b + c`", "``x ` y z``", "**とても 大事な こと**"),
    "||犯人は ヤス||",
]
SENTENCES = [
    *(
        "今日はいい天気ですね。",
        "「おはよう。」と言った、と聞きました！",
        "ちょっと待って……本当？",
        "はい。\n\n",
    ),
    *("コンピューターとメモリー（主記憶）の話ですが、", "『吾輩は猫である』を読みました。\n"),
    "東京・大阪・名古屋へ行って、ゆっくりしゃべった",
]
SOUP = ["```", "````", "~~~", "```py\n", "\n", "\n\n", "> ", "- ", "1. ", "  ", "`", "[", "](", "a", "あ。"]

limits = st.integers(min_value=120, max_value=260)
words = st.sampled_from(WORDS) | st.sampled_from(CLUSTERS) | st.text("abcdefg", min_size=1, max_size=12)
gaps = st.sampled_from([" ", " ", " ", "\n", "\n\n", ". ", "、", "。", "！\n", "　"])
prose = st.lists(st.tuples(words | st.sampled_from(WHOLE), gaps), max_size=60)
sentences = st.lists(st.sampled_from(SENTENCES), max_size=40).map("".join)
soup = st.sampled_from(SOUP) | st.sampled_from(CLUSTERS + WHOLE + WORDS) | st.text(max_size=20)
markdown_soup = st.lists(soup, max_size=80).map("".join)
Block = tuple[str, str, str, list[str]]


@st.composite
def code_blocks(draw: st.DrawFn) -> list[Block]:
    """Blocks of code: what each of its lines starts with, its fence, its language, its lines."""
    blocks = []
    written = st.sampled_from(["x = 1", "    return あ", "# 。", "f(", ")", "word " * 8])
    for number in range(draw(st.integers(1, 5))):
        prefix = draw(st.sampled_from(["", "", "  ", "    ", "> ", "> > "]))
        marks = draw(st.sampled_from(["```", "````", "~~~", "~~~~~"]))
        language = f"{draw(st.sampled_from(['py', 'c++', 'js']))}{number}"
        body = draw(st.lists(written, max_size=25))
        lines = [f"{number}.{n} {line}".rstrip() for n, line in enumerate(body)]
        blocks.append((prefix, marks, language, lines))
    return blocks


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


class TestAText:
    def test_breaks_where_a_reader_would(self) -> None:
        """After a paragraph, a sentence, a comma or a phrase, never in a word."""
        first, second = "a" * 30, "b" * 8 + "\n" + "c" * 10
        kanji = "彼は「今日はとても寒いですね、本当に。」"
        spring = "やっと春が来て花が咲き鳥が歌いはじめたので、"
        tower = "東京都庁の展望室から富士山を眺めながら熱いお茶を"
        machine = "その新しい大型の汎用的な電子計算機すなわち"
        tested = "It works. It was tested twice yesterday."
        check(
            (split(" \n\n　\t"), ()),
            (split(f"{first}\n\n{second}", limit=45), (first, second)),
            (split("はい。\n\n" + "これは文です。" * 10, limit=50)[0], "はい。\n\n" + "これは文です。" * 6),
            (split(f"{kanji}と言いながら窓を静かに閉めてくれました", limit=32)[0], kanji),
            (split(f"{spring}みんなで公園に出かけてお弁当を広げた", limit=32)[0], spring),
            (split(f"{tower}飲むことにしました", limit=32), (tower, "飲むことにしました")),
            (split(f"{machine}コンピューターシステムです", limit=32)[1], "コンピューターシステムです"),
            (split(f"{tested} Then it broke down", limit=50), (tested, "Then it broke down")),
            (
                split("x" * 25 + "\n\n## 次\n\n本文がここに続きます", limit=40)[1],
                "## 次\n\n本文がここに続きます",
            ),
            (split("😀" * 20, limit=32), ("😀" * 16, "😀" * 4)),
        )
        for mark in ("-", "1.", ">", "#", "```"):
            assert not split(f"{'a' * 30} bcd {mark} efghijkl", limit=40)[1].startswith(mark)

    def test_that_ends_within_a_fence_is_closed_by_a_line_of_its_kind(self) -> None:
        opened = {
            "```py\nprint(1)\n": "```",
            "~~~~ text\n~~~": "\n~~~~",
            "````md\n```py\nx\n```": "\n````",
            "```\ncode\n``` not the end": "\n```",
            "- 手順\n    ```sh\n    ls": "\n    ```",
            "> > ```js\n> > f()": "\n> > ```",
            "```a\n```\n```b\nx": "\n```",
            "```py\r\nprint(1)\r\n": "```",
        }
        assert {text: close_marks(text).removeprefix(text) for text in opened} == opened
        closed = [
            *("", "本文だけです。", "```py\nprint(1)\n```", "```py\nprint(1)\n```  \nThen"),
            *("Use ``` to open a block", "``` a `c` b", "``not three``", "~~~\n```\n~~~"),
            *("> ```\n> code\nA line outside of the quote ends its fence.", close_marks("> - ~~~~\n> x")),
        ]
        assert [close_marks(text) for text in closed] == closed

    def test_closes_formatting_and_leaves_out_marks_that_nothing_follows(self) -> None:
        unfinished = {
            "a **b": "a **b**",
            "a **b*": "a **b**",
            "a\n**b\n~~c": "a\n**b\n~~c~~**",
            "a `*b": "a `*b`",
            "a **": "a",
            "a **`": "a",
            "a\n```py": "a",
            "a\n```py\n**b": "a\n```py\n**b\n```",
        }
        assert {text: close_marks(text) for text in unfinished} == unfinished
        finished = ["a **b** `**` c", "```\n**b\n```", "**a\nb**", r"\**a", "2 * 3", "**a ~~b**"]
        assert [close_marks(text) for text in finished] == finished


class TestEveryText:
    @given(text=markdown_soup, limit=st.integers(32, 200))
    def test_has_pieces_that_fit_and_are_not_blank(self, text: str, limit: int) -> None:
        pieces = split(text, limit=limit)
        assert all(piece.strip() for piece in pieces)
        assert all(utf16_length(piece) <= limit for piece in pieces)
        assert all(len(piece.encode("utf-16-le", "surrogatepass")) // 2 <= limit for piece in pieces)

    @given(text=sentences, limit=limits)
    def test_keeps_kinsoku(self, text: str, limit: int) -> None:
        pieces = split(text, limit=limit)
        cuts(text, pieces)
        for left, right in pairwise(pieces):
            assert right[0] not in NOT_FIRST_IN_MESSAGE
            assert left[-1] not in NOT_LAST

    @given(parts=prose, limit=limits)
    def test_loses_nothing_but_white_space_and_cuts_nothing_that_belongs_together(
        self, parts: list[tuple[str, str]], limit: int
    ) -> None:
        text, spans = "", []
        for word, gap in parts:
            if word in WHOLE or word.isascii():
                spans.append((len(text), len(text) + len(word)))
            text += word + gap
        for end, begin in cuts(text, split(text, limit=limit)):
            assert not any(start < at < stop for start, stop in spans for at in (end, begin))

    @given(st.lists(st.sampled_from([*CLUSTERS, "あ", "a", " "])).map("".join), st.integers(64, 120))
    def test_cuts_nothing_that_is_read_as_one_character(self, text: str, limit: int) -> None:
        starts = {match.start() for match in regex.finditer(r"\X", text)}
        for end, begin in cuts(text, split(text, limit=limit)):
            assert {end, begin} <= starts

    @given(blocks=code_blocks(), limit=limits, between=st.sampled_from(["Next:", "次は。", "- item"]))
    def test_keeps_each_line_of_code_and_its_language(
        self, blocks: list[Block], limit: int, between: str
    ) -> None:
        parts = [
            "\n".join(prefix + line for line in (marks + language, *body, marks))
            for prefix, marks, language, body in blocks
        ]
        text = f"\n{between}\n\n".join(parts)
        pieces = split(text, limit=limit)
        assert without_fence_lines("\n".join(pieces)) == without_fence_lines(text)
        assert code_lines(pieces) == [(language, line) for _, _, language, body in blocks for line in body]

    @given(text=sentences, more=sentences, limit=limits)
    def test_that_grows_keeps_its_first_pieces(self, text: str, more: str, limit: int) -> None:
        first = split(text, limit=limit)[:-3]
        assert split(text + more, limit=limit)[: len(first)] == first
