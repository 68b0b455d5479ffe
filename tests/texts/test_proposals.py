"""What a proposal would do, part by part, in each language."""

from datetime import UTC, datetime

from cc_bot.domain import Locale
from cc_bot.domain.canvas import AddChart, Canvas, Card, Chart, RemoveElement, Series, SetMode
from cc_bot.domain.proposal import Draw, Proposal, ProposedChange
from cc_bot.domain.session import SessionKey
from cc_bot.texts import texts
from cc_bot.texts.proposal import Part, describe

NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
CHART = Chart("sales", "売上", "bar", ("1月",), (Series("今年", (0.1,)),))
UP = Canvas((Card("shop", "買い物", "牛乳"), Card("", "", "晴れ"), CHART))


def proposal(change: ProposedChange) -> Proposal:
    return Proposal(3, SessionKey(0, 0), 1, "public", change, made_at=NINE)


def parts(change: ProposedChange) -> list[Part]:
    return list(describe(proposal(change), texts(Locale.JA)))


def told(change: ProposedChange) -> list[tuple[str, str | Chart | None]]:
    """Each line after the first, and what stands below it."""
    return [(part.line(str), part.below) for part in parts(change)[1:]]


class TestText:
    def test_of_all_that_is_cleared_is_there_with_each_number_of_a_chart(self) -> None:
        assert told(Draw((SetMode("clear"),), UP)) == [
            ("すべて下ろす", None),
            ("「買い物」を下ろす", "牛乳"),
            ("「」を下ろす", "晴れ"),
            ("「売上」を下ろす", CHART),
        ]
        assert told(Draw((RemoveElement("gone"),), UP)) == [("「gone」を下ろす", None)]


class TestLine:
    def test_has_what_others_wrote_as_values_of_one_line(self) -> None:
        [_, chart] = parts(Draw((AddChart("売上\n💾 覚えました\u202e", "pie", ("x",), (Series("", (1,)),)),)))
        assert chart.values == {"title": "売上 💾 覚えました⟨U+202E⟩"}
        assert chart.line(lambda value: f"<{value}>") == "円グラフを出す: <売上 💾 覚えました⟨U+202E⟩>"
