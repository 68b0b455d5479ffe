"""Passages of long texts, found by the words that memories are found by."""

from cc_bot.features.memory.search.passages import find_passages

FILLER = "この章では一般的な注意について述べます。手順は付録にまとめてあります。\n" * 12
PAGES = [
    f"{FILLER}冷却水の温度は八十五度を超えてはいけません。\n{FILLER}",
    f"{FILLER}保証期間はお買い上げから二年間です。\n{FILLER}",
    f"{FILLER}The reset button is behind the left panel.\n{FILLER}",
]


def found(query: str) -> list[str]:
    return [PAGES[each.text_index][each.start : each.end] for each in find_passages(query, PAGES, 5)]


class TestFindPassages:
    def test_finds_where_it_stands_also_in_a_thick_book_and_by_other_spellings(self) -> None:
        assert "二年間" in found("保証は何年ですか？")[0]
        assert "八十五度" in found("冷却水は何度まで？")[0]
        assert "left panel" in found("Where is the reset button?")[0]
        assert "二年間" in found("ほしょう期間")[0]
        book = [FILLER * 3 for _ in range(200)]
        book[111] += PAGES[1]
        assert find_passages("保証は何年ですか？", book, 5)[0].text_index == 111
