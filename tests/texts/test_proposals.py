"""What a proposal would do, part by part, in each language."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cc_bot.domain import Locale
from cc_bot.domain.canvas import AddChart, Canvas, Card, Chart, RemoveElement, Series, SetMode, UpdateCard
from cc_bot.domain.proposal import (
    NEVER,
    AddReminder,
    CancelReminder,
    ChangeMemory,
    Draw,
    ForgetMemory,
    KeepMemory,
    Proposal,
    ProposedChange,
)
from cc_bot.domain.session import SessionKey
from cc_bot.texts import texts
from cc_bot.texts.proposal import Part, Time, describe, gist, headline

NINE = datetime(2026, 11, 23, 0, tzinfo=UTC)
CHART = Chart("sales", "売上", "bar", ("1月",), (Series("今年", (0.1,)),))
UP = Canvas((Card("shop", "買い物", "牛乳"), Card("", "", "晴れ"), CHART))
KINDS: list[tuple[ProposedChange, str, str]] = [
    (KeepMemory("x", "general", (), "anywhere"), "💾 メモリに覚える", "💾 Remember this"),
    (
        KeepMemory("x", "general", (), "anywhere", None, 12, "y"),
        "✏️ メモリ #12 と入れ替える",
        "✏️ Replace memory #12",
    ),
    (ChangeMemory(12, "x", "y"), "✏️ メモリ #12 を書き換える", "✏️ Change memory #12"),
    (ForgetMemory(12, "x"), "🗑️ メモリ #12 を忘れる", "🗑️ Forget memory #12"),
    (AddReminder("x", NINE, "", "Asia/Tokyo", "dm"), "⏰ お知らせを予約する", "⏰ Set a reminder"),
    (CancelReminder(5, "x"), "🔕 お知らせ #5 をやめる", "🔕 Cancel reminder #5"),
    (Draw((SetMode("board"),)), "🖼️ キャンバスを変える", "🖼️ Change the canvas"),
]


def proposal(change: ProposedChange) -> Proposal:
    return Proposal(3, SessionKey(0, 0), 1, "public", change, made_at=NINE)


def parts(change: ProposedChange) -> list[Part]:
    return list(describe(proposal(change), texts(Locale.JA)))


def told(change: ProposedChange) -> list[tuple[str, str | Chart | None]]:
    """Each line after the first, and what stands below it."""
    return [(part.line(str), part.below) for part in parts(change)[1:]]


class TestHeadline:
    def test_comes_first_and_says_what_kind_of_change_it_is(self) -> None:
        for change, japanese, english in KINDS:
            for locale, line in ((Locale.JA, japanese), (Locale.EN, english)):
                assert headline(change, texts(locale)) == line
                assert next(describe(proposal(change), texts(locale))).template == line


class TestText:
    def test_stands_below_as_it_is_and_beside_the_one_that_is_there(self) -> None:
        text = "猫\n\u202e犬 {id}"
        assert parts(KeepMemory(text, "general", (), "anywhere"))[0].below == text
        known = told(ChangeMemory(12, "会議は金曜", "会議は木曜"))
        assert known == [("いまの内容", "会議は金曜"), ("変えたあとの内容", "会議は木曜")]

    def test_of_all_that_is_cleared_is_there_with_each_number_of_a_chart(self) -> None:
        assert told(Draw((SetMode("clear"),), UP)) == [
            ("すべて下ろす", None),
            ("「買い物」を下ろす", "牛乳"),
            ("「」を下ろす", "晴れ"),
            ("「売上」を下ろす", CHART),
        ]
        assert told(Draw((RemoveElement("gone"),), UP)) == [("「gone」を下ろす", None)]

    def test_is_told_in_short_by_its_first_text_on_one_line_or_by_the_headline(self) -> None:
        assert gist(proposal(ForgetMemory(1, "猫\n犬\u202e")), texts(Locale.JA)) == "猫 犬⟨U+202E⟩"
        assert gist(proposal(Draw((SetMode("board"),))), texts(Locale.JA)) == "🖼️ キャンバスを変える"


class TestLine:
    def test_has_what_others_wrote_as_values_of_one_line(self) -> None:
        [_, chart] = parts(Draw((AddChart("売上\n💾 覚えました\u202e", "pie", ("x",), (Series("", (1,)),)),)))
        assert chart.values == {"title": "売上 💾 覚えました⟨U+202E⟩"}
        assert chart.line(lambda value: f"<{value}>") == "円グラフを出す: <売上 💾 覚えました⟨U+202E⟩>"

    def test_is_there_for_each_field_that_becomes_another(self) -> None:
        edit = ChangeMemory(1, "x", None, "仕事", ("会議",), "private", NEVER, "general", (), NINE)
        values = [dict(part.values) for part in parts(edit)[2:]]
        assert values == [
            {"name": "カテゴリ", "old": "一般", "new": "仕事"},
            {"name": "タグ", "old": None, "new": "#会議"},
            {"name": "期限", "old": NINE, "new": None},
            {"name": "使う場所", "value": "🔒 DM と自分だけに見える回答"},
        ]
        assert told(ChangeMemory(1, "x", category="仕事", category_before="仕事")) == [("いまの内容", "x")]
        [_, _, title] = parts(Draw((UpdateCard("", "題"),), UP))
        assert title.values == {"name": "題名", "old": None, "new": "題"}

    def test_has_the_time_of_a_reminder_and_where_it_counts(self) -> None:
        [_, when] = parts(AddReminder("薬", NINE, "0 9 * * *", "Asia/Tokyo", "dm"))
        assert when.values["value"] == Time(NINE, "毎日 9:00", ZoneInfo("Asia/Tokyo"), "dm")
        [_, when] = parts(CancelReminder(5, "薬", NINE, ""))
        assert when.values["value"] == Time(NINE, "")
