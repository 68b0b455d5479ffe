"""How a turn looks on Discord, from its first event to its end."""

from dataclasses import replace
from functools import reduce

import pytest

from cc_bot.discord.incoming import quotation
from cc_bot.discord.pages.answer import (
    HEARD_CHARACTERS,
    MAX_MESSAGES,
    MOST_PICTURES,
    PICTURES_BYTES,
    AnswerState,
    advance,
    answer_buttons,
    final_pages,
    streaming_pages,
)
from cc_bot.discord.pages.custom_ids import StopButton, parse_custom_id
from cc_bot.discord.pages.page import NO_FACTS, Facts, Page, PictureFile, TextFile
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain import (
    Done,
    Locale,
    Message,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    Usage,
)
from cc_bot.domain.message import Attachment, Status
from cc_bot.domain.turn import FilesDeleted, Heard, ImagesGiven
from cc_bot.texts import texts

JA = texts(Locale.JA)
STOP = StopButton(1, "abcd")
LONG = "これは長い回答の一文です。" * 400


def after(*events: TurnEvent) -> AnswerState:
    return reduce(advance, events, AnswerState())


def done(content: str, status: Status = "complete", *, first: bool = False, row: int | None = 7) -> Done:
    return Done(Message("assistant", content, status=status, id=row), Usage(), first)


def streaming(*events: TurnEvent, quiet_s: int = 0) -> tuple[Page, ...]:
    return streaming_pages(replace(after(*events), quiet_s=quiet_s), JA, STOP)


class TestFilesDeleted:
    def test_are_told_below_the_answer(self) -> None:
        [page] = final_pages(after(TextDelta("はい"), FilesDeleted(3), done("はい")), JA)
        assert page.facts.notices == (JA.answer.files_deleted.format(count=3),)


class TestWhileStreaming:
    def test_says_that_it_thinks_and_can_be_stopped(self) -> None:
        [page] = streaming()
        assert page.content == "考えています…"
        assert [button.label for button in page.buttons] == ["止める"]

    @pytest.mark.parametrize("mark", ["`", "~"])
    @pytest.mark.parametrize("length", [3, 340, 900, 1600, 1700, 2500, 5000])
    def test_fits_its_messages_whatever_opens_a_block_of_code(self, mark: str, length: int) -> None:
        for text in (mark * length, f"{mark * length}\nx", f"x\n{mark * length}\n" * 3):
            assert all(utf16_length(page.content) <= 2000 for page in streaming(TextDelta(text)))

    def test_shows_text_as_it_comes(self) -> None:
        [page] = streaming(TextDelta("こん"), TextDelta("にちは"))
        assert page.content == "こんにちは"

    def test_shows_that_a_tool_runs_until_the_next_word(self) -> None:
        """Most tools are done before anybody could read about them."""
        ran = (TextDelta("ええと"), ToolStarted("1", "recall"), ToolFinished("1", "recall", ok=True))
        assert streaming(*ran[:2])[0].content == streaming(*ran)[0].content == "ええと"
        assert "メモリを探しています" in streaming(*ran[:2])[0].facts.activity
        assert "メモリを探しています" in streaming(*ran)[0].facts.activity
        [page] = streaming(*ran, TextDelta("、はい"))
        assert (page.content, page.facts) == ("ええと、はい", NO_FACTS)

    @pytest.mark.parametrize(
        ("name", "line"),
        [
            ("canvas_add_card", "キャンバスに描いています"),
            ("canvas_set_mode", "キャンバスに描いています"),
            ("cancel_schedule", "お知らせの予定を見ています"),
        ],
    )
    def test_shows_a_tool_in_its_users_words(self, name: str, line: str) -> None:
        assert line in streaming(ToolStarted("1", name))[0].content

    def test_shows_an_unknown_tool_by_its_name(self) -> None:
        assert "weather" in streaming(ToolStarted("1", "weather"))[0].content

    def test_shows_of_a_tool_that_the_model_made_up_what_can_be_a_name(self) -> None:
        [page] = streaming(ToolStarted("1", "@everyone `" * 500))
        assert utf16_length(page.content) < 100
        assert "@" not in page.content

    def test_tells_of_waiting_in_line_and_of_another_model(self) -> None:
        assert streaming(Notice("queued"))[0].content == JA.answer.queued
        assert streaming(Notice("queued", ahead=3))[0].content == "順番を待っています…（前に3件）"
        assert streaming(Notice("queued", ahead=0))[0].content == "順番を待っています…（次です）"
        assert streaming(Notice("queued"), Notice("started"))[0].content == "考えています…"
        assert streaming(Notice("fallback"))[0].content == JA.answer.fallback

    def test_tells_how_long_nothing_came(self) -> None:
        assert streaming(quiet_s=30)[0].content == "考えています…（30秒）"
        assert "（30秒）" in streaming(TextDelta("ええと"), quiet_s=30)[0].facts.activity
        assert "（30秒）" in streaming(ToolStarted("1", "recall"), quiet_s=30)[0].content

    def test_puts_no_line_into_an_open_code_block(self) -> None:
        [page] = streaming(TextDelta("```py\nx = 1\n"), ToolStarted("1", "recall"))
        assert page.content == "```py\nx = 1\n```"
        assert page.facts.description.startswith("-# 🔎")

    def test_has_its_stop_button_on_the_last_message_only(self) -> None:
        pages = streaming(TextDelta(LONG[:4000]))
        assert len(pages) == 3
        assert [bool(page.buttons) for page in pages] == [False, False, True]

    def test_never_has_more_than_five_messages(self) -> None:
        assert len(streaming(TextDelta(LONG * 3))) == MAX_MESSAGES

    def test_does_not_change_messages_that_are_full(self) -> None:
        before = streaming(TextDelta(LONG[:3000]))
        later = streaming(TextDelta(LONG[:3000]), TextDelta(LONG[3000:5000]))
        assert before[0] == later[0]


class TestEnd:
    def test_is_the_answer_alone(self) -> None:
        assert final_pages(after(TextDelta("はい"), done("はい")), JA) == (Page("はい"),)

    @pytest.mark.parametrize(
        ("state", "below"),
        [
            (after(TextDelta("昔々"), done("昔々", "stopped")), JA.answer.stopped),
            (after(TextDelta("昔々"), done("昔々", "cut")), JA.answer.cut),
            (after(TextDelta("昔々"), done("昔々", "cut", row=None)), JA.answer.cut_for_good),
            (after(TextDelta("昔々"), done("昔々", first=True)), JA.answer.help_hint),
            (replace(after(TextDelta("昔々")), failure="保存できませんでした。"), "保存できませんでした。"),
        ],
    )
    def test_says_below_the_answer_what_became_of_it(self, state: AnswerState, below: str) -> None:
        assert final_pages(state, JA) == (Page("昔々", facts=Facts(notices=(below,))),)

    @pytest.mark.parametrize(
        ("state", "content"),
        [
            (after(done("", "stopped", row=None)), JA.answer.stopped_empty),
            (after(done("", "stopped")), JA.answer.stopped),
            (after(done("")), JA.answer.no_words),
            (replace(AnswerState(), failure="つながりません。"), "つながりません。"),
        ],
    )
    def test_is_never_an_empty_message(self, state: AnswerState, content: str) -> None:
        assert final_pages(state, JA) == (Page(content),)

    def test_of_a_temporary_turn_says_so(self) -> None:
        [page] = final_pages(after(TextDelta("はい"), done("はい", row=None)), JA, temporary=True)
        assert page == Page("はい", facts=Facts(notices=(JA.answer.temporary,)))

    def test_of_a_very_long_answer_is_a_preview_with_all_of_it_as_a_file(self) -> None:
        [page] = final_pages(after(TextDelta(LONG * 3), done(LONG * 3)), JA)
        assert isinstance(page.file, TextFile)
        assert page.file.text == LONG * 3
        assert page.file.name.endswith(".md")
        assert page.content.startswith(LONG[:1000])

    @pytest.mark.parametrize("locale", list(Locale))
    @pytest.mark.parametrize(
        "text", ["あ" * 1799, LONG, LONG * 3, "```\n" + "x = 1\n" * 600, "👩‍👩‍👧‍👦" * 600]
    )
    def test_keeps_discords_limit_with_everything_that_can_stand_below(
        self, text: str, locale: Locale
    ) -> None:
        state = after(TextDelta(text), done(text, "cut", first=True))
        for pages in (
            final_pages(state, texts(locale), temporary=True),
            streaming_pages(replace(state, tools=("x" * 64,), quiet_s=999), texts(locale), STOP),
        ):
            assert all(0 < utf16_length(page.content) <= 2000 for page in pages)


class TestButtons:
    def labels(self, state: AnswerState) -> list[str]:
        return [button.label for button in answer_buttons(state, JA, 1, ())]

    def test_offer_another_answer(self) -> None:
        assert self.labels(after(done("はい"))) == ["もう一度答える"]

    @pytest.mark.parametrize("status", ["cut", "stopped"])
    def test_offer_to_continue_what_broke_off(self, status: Status) -> None:
        assert self.labels(after(done("昔々", status))) == ["続ける", "もう一度答える"]

    def test_offer_nothing_where_nothing_is_stored(self) -> None:
        assert self.labels(after(done("はい", row=None))) == []
        assert self.labels(replace(AnswerState(), failure="つながりません。")) == []

    def test_know_their_answer_and_its_messages(self) -> None:
        [button] = answer_buttons(after(done("はい")), JA, 1, (11, 12))
        known = parse_custom_id(button.custom_id)
        assert known is not None
        assert (known.user_id, getattr(known, "answer_id", 0)) == (1, 7)
        assert getattr(known, "earlier_messages", ()) == (11, 12)


class TestHeard:
    @pytest.mark.parametrize("text", ["十時です。", LONG])
    def test_stands_above_the_answer_from_the_first_moment_on(self, text: str) -> None:
        for pages in (
            streaming(Heard("何時？")),
            streaming(Heard("何時？"), TextDelta(text)),
            final_pages(after(Heard("何時？"), TextDelta(text), done(text)), JA),
        ):
            assert pages[0].content.startswith("> 🎤 何時？\n")
            assert all(utf16_length(page.content) <= 2000 for page in pages)
            assert not any("🎤" in page.content for page in pages[1:])

    def test_stands_above_a_failure_too(self) -> None:
        [page] = final_pages(replace(after(Heard("何時？")), failure="だめでした。"), JA)
        assert page.content == "> 🎤 何時？\nだめでした。"

    def test_is_quoted_by_its_beginning_where_it_is_long(self) -> None:
        [page] = final_pages(after(Heard("あ" * 7000), done("はい。")), JA)
        quoted, said = page.content.rsplit("\n", 1)
        assert (len(quoted) <= HEARD_CHARACTERS + 10, quoted[-1], said) == (True, "…", "はい。")

    @pytest.mark.parametrize(
        "line",
        [
            "> 🎤 消して",
            ">🎤 消して",
            "  > 🎤 消して",
            "> > 🎤 消して",
            ">\t🎤 x",
            "> \u200b🎤 x",
            "\u200b> 🎤🎤 x",
        ],
    )
    def test_is_nothing_that_a_model_can_write(self, line: str) -> None:
        early, late = f"はい。\n{line}", f"{line}\nはい。"
        for pages in (streaming(TextDelta(early)), final_pages(after(done(late)), JA)):
            assert "🎤" not in pages[0].content

    def test_leaves_a_model_its_microphone(self) -> None:
        [page] = final_pages(after(done("> 録音は 🎤 で\n🎤 を押します。")), JA)
        assert page.content == "> 録音は 🎤 で\n🎤 を押します。"

    def test_is_no_part_of_what_is_quoted_of_an_answer(self) -> None:
        [page] = final_pages(after(Heard("何時？\nどこ？"), done("十時です。\n> 引用")), JA)
        assert quotation(page.content) == "> 十時です。\n> > 引用"


class TestPicturesThatToolsGave:
    def test_stand_below_the_last_message_under_names_of_ours(self) -> None:
        given = ImagesGiven((Attachment("../@everyone.exe", "image/jpeg", b"1"),))
        text = "あ" * 1600 + "\n\n" + "い" * 600
        first, last = final_pages(after(given, TextDelta(text), done(text)), JA)
        assert (first.pictures, last.pictures) == ((), (PictureFile("1.jpg", b"1"),))

    def test_are_as_many_and_as_large_as_a_message_takes(self) -> None:
        small = tuple(Attachment("a", "image/png", b"1") for _ in range(MOST_PICTURES + 3))
        [page] = final_pages(after(ImagesGiven(small), TextDelta("はい"), done("はい")), JA)
        assert len(page.pictures) == MOST_PICTURES
        large = Attachment("a", "image/png", bytes(PICTURES_BYTES // 2 + 1))
        [page] = final_pages(after(ImagesGiven((large, large)), TextDelta("はい"), done("はい")), JA)
        assert len(page.pictures) == 1
