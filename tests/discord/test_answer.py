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
from cc_bot.discord.pages.custom_ids import AnswerButton, StopButton, parse_custom_id
from cc_bot.discord.pages.page import Facts, Page, PictureFile, TextFile
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
from tests.discord.cases import check

JA = texts(Locale.JA)
SAY = JA.answer
STOP = StopButton(1, "abcd")
LONG = "これは長い回答の一文です。" * 400


def after(*events: TurnEvent) -> AnswerState:
    return reduce(advance, events, AnswerState())


def done(content: str, status: Status = "complete", *, first: bool = False, row: int | None = 7) -> Done:
    return Done(Message("assistant", content, status=status, id=row), Usage(), first)


def streaming(*events: TurnEvent, quiet_s: int = 0) -> tuple[Page, ...]:
    return streaming_pages(replace(after(*events), quiet_s=quiet_s), JA, STOP)


def shown(*events: TurnEvent, quiet_s: int = 0) -> tuple[str, str]:
    """The words of the one message of an answer on its way, and the line below them."""
    [page] = streaming(*events, quiet_s=quiet_s)
    return page.content, page.facts.activity


class TestWhileStreaming:
    def test_tells_what_is_going_on_until_the_next_word(self) -> None:
        """Most tools are done before anybody could read about them."""
        word, recall = TextDelta("ええと"), ToolStarted("1", "recall")
        ran = (word, recall, ToolFinished("1", "recall", ok=True))
        silent = SAY.going_on_for.format(activity=SAY.thinking, seconds=30)
        check(
            (shown(), (SAY.thinking, "")),
            (shown(TextDelta("こん"), TextDelta("にちは")), ("こんにちは", "")),
            (shown(word, recall), ("ええと", SAY.tool_recall)),
            (shown(*ran), ("ええと", SAY.tool_recall)),
            (shown(*ran, TextDelta("、はい")), ("ええと、はい", "")),
            (shown(ToolStarted("1", "canvas_set_mode")), (SAY.tool_canvas, "")),
            (shown(ToolStarted("1", "cancel_schedule")), (SAY.tool_schedule, "")),
            (shown(ToolStarted("1", "read_page")), (SAY.tool_page, "")),
            (shown(ToolStarted("1", "web_search")), (SAY.tool_search, "")),
            (shown(ToolStarted("1", "weather")), (SAY.tool_other.format(name="weather"), "")),
            (shown(ToolStarted("1", "@everyone `")), (SAY.tool_other.format(name="everyone"), "")),
            (shown(Notice("queued")), (SAY.queued, "")),
            (shown(Notice("queued", ahead=3)), (SAY.in_line.format(ahead=3), "")),
            (shown(Notice("queued", ahead=0)), (SAY.next_in_line, "")),
            (shown(Notice("queued"), Notice("started")), (SAY.thinking, "")),
            (shown(Notice("fallback")), (SAY.fallback, "")),
            (shown(quiet_s=30), (silent, "")),
            (shown(word, quiet_s=30), ("ええと", silent)),
            (shown(TextDelta("```py\nx = 1\n"), recall), ("```py\nx = 1\n```", SAY.tool_recall)),
        )
        assert utf16_length(shown(ToolStarted("1", "x" * 5000))[0]) < 100

    @pytest.mark.parametrize("mark", ["`", "~"])
    def test_fits_its_messages_whatever_opens_a_block_of_code(self, mark: str) -> None:
        for fence in (mark * length for length in (3, 340, 900, 1600, 1700, 2500, 5000)):
            for text in (fence, f"{fence}\nx", f"x\n{fence}\n" * 3):
                assert all(utf16_length(page.content) <= 2000 for page in streaming(TextDelta(text)))

    def test_can_be_stopped_from_its_last_message_and_changes_none_that_is_full(self) -> None:
        before, later = streaming(TextDelta(LONG[:3000])), streaming(TextDelta(LONG[:4000]))
        assert [[button.label for button in page.buttons] for page in later] == [[], [], [SAY.stop]]
        assert before[0] == later[0]
        assert len(streaming(TextDelta(LONG * 3))) == MAX_MESSAGES


class TestEnd:
    def test_tells_below_the_answer_what_became_of_it(self) -> None:
        told, lost = after(TextDelta("昔々")), "保存できませんでした。"

        def page(notice: str) -> tuple[Page, ...]:
            return (Page("昔々", facts=Facts(notices=(notice,))),)

        check(
            (final_pages(after(TextDelta("はい"), done("はい")), JA), (Page("はい"),)),
            (final_pages(advance(told, done("昔々", "stopped")), JA), page(SAY.stopped)),
            (final_pages(advance(told, done("昔々", "cut")), JA), page(SAY.cut)),
            (final_pages(advance(told, done("昔々", "cut", row=None)), JA), page(SAY.cut_for_good)),
            (final_pages(advance(told, done("昔々", first=True)), JA), page(SAY.help_hint)),
            (final_pages(replace(told, failure=lost), JA), page(lost)),
            (final_pages(advance(told, done("昔々")), JA, temporary=True), page(SAY.temporary)),
            (
                final_pages(after(FilesDeleted(3), done("昔々")), JA),
                page(SAY.files_deleted.format(count=3)),
            ),
        )

    def test_is_never_an_empty_message(self) -> None:
        check(
            (final_pages(after(done("", "stopped", row=None)), JA), (Page(SAY.stopped_empty),)),
            (final_pages(after(done("", "stopped")), JA), (Page(SAY.stopped),)),
            (final_pages(after(done("")), JA), (Page(SAY.no_words),)),
            (final_pages(replace(AnswerState(), failure="だめ"), JA), (Page("だめ"),)),
        )

    def test_of_a_very_long_answer_is_a_preview_with_all_of_it_as_a_file(self) -> None:
        [page] = final_pages(after(TextDelta(LONG * 3), done(LONG * 3)), JA)
        assert page.file == TextFile(SAY.file_name, LONG * 3)
        assert page.content.startswith(LONG[:1000])

    @pytest.mark.parametrize("locale", list(Locale))
    def test_keeps_discords_limit_with_everything_that_can_stand_below(self, locale: Locale) -> None:
        for text in ("あ" * 1799, LONG, LONG * 3, "```\n" + "x = 1\n" * 600 + "```", "👩‍👩‍👧‍👦" * 600):
            state = after(TextDelta(text), done(text, "cut", first=True))
            for pages in (
                final_pages(state, texts(locale), temporary=True),
                streaming_pages(replace(state, tools=("x" * 64,), quiet_s=999), texts(locale), STOP),
            ):
                assert all(0 < utf16_length(page.content) <= 2000 for page in pages)

    def test_can_be_asked_again_and_gone_on_with_where_it_is_stored(self) -> None:
        def offered(state: AnswerState) -> list[object]:
            return [parse_custom_id(button.custom_id) for button in answer_buttons(state, JA, 1, (11, 12))]

        again, more = AnswerButton("again", 1, 7, (11, 12)), AnswerButton("more", 1, 7, (11, 12))
        check(
            (offered(after(done("はい"))), [again]),
            (offered(after(done("昔々", "cut"))), [more, again]),
            (offered(after(done("昔々", "stopped"))), [more, again]),
            (offered(after(done("はい", row=None))), []),
            (offered(replace(AnswerState(), failure="だめ")), []),
        )


class TestHeard:
    @pytest.mark.parametrize("text", ["十時です。", LONG])
    def test_stands_above_the_answer_from_the_first_moment_on(self, text: str) -> None:
        for pages in (
            streaming(Heard("何時？")),
            streaming(Heard("何時？"), TextDelta(text)),
            final_pages(after(Heard("何時？"), TextDelta(text), done(text)), JA),
            final_pages(replace(after(Heard("何時？")), failure="だめでした。"), JA),
        ):
            assert pages[0].content.startswith("> 🎤 何時？\n")
            assert all(utf16_length(page.content) <= 2000 for page in pages)
            assert not any("🎤" in page.content for page in pages[1:])

    def test_is_quoted_by_its_beginning_where_it_is_long(self) -> None:
        [page] = final_pages(after(Heard("あ" * 7000), done("はい。")), JA)
        quoted, said = page.content.rsplit("\n", 1)
        assert (len(quoted) <= HEARD_CHARACTERS + 10, quoted[-1], said) == (True, "…", "はい。")

    def test_is_nothing_that_a_model_can_write(self) -> None:
        forged = ["> 🎤 x", ">🎤 x", "  > 🎤 x", "> > 🎤 x", ">\t🎤 x", "> \u200b🎤 x", "\u200b> 🎤🎤 x"]
        for line in forged:
            for pages in (
                streaming(TextDelta(f"はい。\n{line}")),
                final_pages(after(done(f"{line}\nはい。")), JA),
            ):
                assert "🎤" not in pages[0].content, line
        own = "> 録音は 🎤 で\n🎤 を押します。"
        assert final_pages(after(done(own)), JA) == (Page(own),)

    def test_is_no_part_of_what_is_quoted_of_an_answer(self) -> None:
        [page] = final_pages(after(Heard("何時？\nどこ？"), done("十時です。\n> 引用")), JA)
        assert quotation(page.content) == "> 十時です。\n> > 引用"


class TestPicturesThatToolsGave:
    def given(self, *images: Attachment, text: str = "はい") -> list[tuple[PictureFile, ...]]:
        state = after(ImagesGiven(images), TextDelta(text), done(text))
        return [page.pictures for page in final_pages(state, JA)]

    def test_stand_below_the_last_message_under_names_of_ours(self) -> None:
        text = "あ" * 1600 + "\n\n" + "い" * 600
        given = self.given(Attachment("../@everyone.exe", "image/jpeg", b"1"), text=text)
        assert given == [(), (PictureFile("1.jpg", b"1"),)]

    def test_are_as_many_and_as_large_as_a_message_takes(self) -> None:
        [small] = self.given(*[Attachment("a", "image/png", b"1")] * (MOST_PICTURES + 3))
        [large] = self.given(*[Attachment("a", "image/png", bytes(PICTURES_BYTES // 2 + 1))] * 2)
        assert (len(small), len(large)) == (MOST_PICTURES, 1)
