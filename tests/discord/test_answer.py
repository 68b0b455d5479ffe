from dataclasses import replace
from functools import reduce

import pytest

from cc_bot.discord.pages import answer as pages
from cc_bot.discord.pages.answer import AnswerState, advance, final_pages
from cc_bot.discord.pages.custom_ids import StopButton
from cc_bot.discord.pages.page import Facts, MediaFile, Page, TextFile
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.message import Attachment, Message, Status
from cc_bot.domain.text import Locale
from cc_bot.domain.turn import (
    Done,
    FilesDeleted,
    Heard,
    ImagesShown,
    Notice,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    Usage,
)
from cc_bot.texts import texts
from cc_bot.texts.answer import AnswerTexts
from tests.discord.cases import check

JA = texts(Locale.JA)
SAY = JA[AnswerTexts]
STOP = StopButton(1, "abcd")
LONG = "これは長い回答の一文です。" * 400


def after(*events: TurnEvent) -> AnswerState:
    return reduce(advance, events, AnswerState())


def done(content: str, status: Status = "complete", *, first: bool = False, row: int | None = 7) -> Done:
    return Done(Message("assistant", content, status=status, id=row), Usage(), first)


def streaming(*events: TurnEvent, quiet_s: int = 0) -> tuple[Page, ...]:
    return pages.streaming_pages(replace(after(*events), quiet_s=quiet_s), JA, STOP)


def shown(*events: TurnEvent, quiet_s: int = 0) -> tuple[str, str]:
    """The words of the one message of an answer on its way, and the line below them."""
    [page] = streaming(*events, quiet_s=quiet_s)
    return page.content, page.facts.shorten().removeprefix("-# ")


class TestWhileStreaming:
    def test_tells_what_is_going_on_until_the_next_word(self) -> None:
        """Most tools are done before anybody could read about them."""
        word, recall = TextDelta("ええと"), ToolStarted("1", "recall")
        ran = (word, recall, ToolFinished("1", "recall", ok=True))
        silent = SAY.activity_time.format(activity=SAY.thinking, seconds=30)
        check(
            (shown(), (SAY.thinking, "")),
            (shown(word, recall), ("ええと", SAY.tools["recall"])),
            (shown(*ran), ("ええと", SAY.tools["recall"])),
            (shown(*ran, TextDelta("、はい")), ("ええと、はい", "")),
            (shown(ToolStarted("1", "weather")), (SAY.tool_other.format(name="weather"), "")),
            (shown(ToolStarted("1", "@everyone `")), (SAY.tool_other.format(name="everyone"), "")),
            (shown(Notice("queued", ahead=3)), (SAY.queue_position.format(ahead=3), "")),
            (shown(Notice("queued"), Notice("started")), (SAY.thinking, "")),
            (shown(Notice("fallback")), (SAY.fallback, "")),
            (shown(word, quiet_s=30), ("ええと", silent)),
            (shown(TextDelta("```py\nx = 1\n"), recall), ("```py\nx = 1\n```", SAY.tools["recall"])),
        )
        assert utf16_length(shown(ToolStarted("1", "x" * 5000))[0]) < 100

    def test_can_be_stopped_from_its_last_message_and_changes_none_that_is_full(self) -> None:
        before, later = streaming(TextDelta(LONG[:3000])), streaming(TextDelta(LONG[:4000]))
        assert [[button.label for button in page.buttons] for page in later] == [[], [], [SAY.stop]]
        assert before[0] == later[0]
        assert len(streaming(TextDelta(LONG * 3))) == pages.MAX_MESSAGES


class TestEnd:
    def test_tells_below_the_answer_what_became_of_it_and_is_never_empty(self) -> None:
        told, lost = after(TextDelta("昔々")), "保存できませんでした。"

        def page(notice: str) -> tuple[Page, ...]:
            return (Page("昔々", facts=Facts((f"-# {notice}",))),)

        deleted = final_pages(after(FilesDeleted(3), done("昔々")), JA)
        check(
            (final_pages(after(TextDelta("はい"), done("はい")), JA), (Page("はい"),)),
            (final_pages(advance(told, done("昔々", "stopped")), JA), page(SAY.stopped)),
            (final_pages(after(done("昔**々", "stopped")), JA)[0].content, "昔**々**"),
            (final_pages(advance(told, done("昔々", "cut", row=None)), JA), page(SAY.cut_without_button)),
            (final_pages(advance(told, done("昔々", first=True)), JA), page(SAY.help_hint)),
            (final_pages(replace(told, failure=lost), JA), page(lost)),
            (final_pages(advance(told, done("昔々")), JA, temporary=True), page(SAY.temporary)),
            (deleted, page(SAY.files_deleted.format(count=3))),
            (final_pages(after(done("", "stopped", row=None)), JA), (Page(SAY.stopped_empty),)),
            (final_pages(after(done("")), JA), (Page(SAY.no_text),)),
            (final_pages(replace(AnswerState(), failure="だめ"), JA), (Page("だめ"),)),
        )

    def test_of_a_very_long_answer_is_a_preview_with_all_of_it_as_a_file(self) -> None:
        [page] = final_pages(after(TextDelta(LONG * 3), done(LONG * 3)), JA)
        assert page.files == (TextFile(SAY.file_name, LONG * 3),)
        assert page.content.startswith(LONG[:1000])

    @pytest.mark.parametrize("locale", list(Locale))
    def test_keeps_discords_limit_with_everything_that_can_stand_below(self, locale: Locale) -> None:
        for text in ("あ" * 1799, LONG, LONG * 3, "```\n" + "x = 1\n" * 600 + "```", "👩‍👩‍👧‍👦" * 600):
            state = after(TextDelta(text), done(text, "cut", first=True))
            going_on = replace(state, tools=("x" * 64,), quiet_s=999)
            last = final_pages(state, texts(locale), temporary=True)
            for page in (*last, *pages.streaming_pages(going_on, texts(locale), STOP)):
                assert 0 < utf16_length(page.content) <= 2000


class TestHeard:
    def test_stands_above_the_answer_from_the_first_moment_on(self) -> None:
        for each in (
            streaming(Heard("何時？")),
            streaming(Heard("何時？"), TextDelta(LONG)),
            final_pages(after(Heard("何時？"), TextDelta(LONG), done(LONG)), JA),
            final_pages(replace(after(Heard("何時？")), failure="だめでした。"), JA),
        ):
            assert each[0].content.startswith("> 🎤 何時？\n")
            assert all(utf16_length(page.content) <= 2000 for page in each)
            assert not any("🎤" in page.content for page in each[1:])
        [page] = final_pages(after(Heard("あ" * 7000), done("はい。")), JA)
        assert len(page.content) <= pages.MAX_TRANSCRIPT_CHARACTERS + 20

    def test_is_nothing_that_a_model_can_write(self) -> None:
        forged = ["> 🎤 x", ">🎤 x", "  > 🎤 x", "> > 🎤 x", ">\t🎤 x", "> \u200b🎤 x", "\u200b> 🎤🎤 x"]
        for line in forged:
            written = final_pages(after(done(f"{line}\nはい。")), JA)
            for page in (streaming(TextDelta(f"はい。\n{line}"))[0], written[0]):
                assert "🎤" not in page.content, line
        own = "> 録音は 🎤 で\n🎤 を押します。"
        assert final_pages(after(done(own)), JA) == (Page(own),)


def test_pictures_of_tools_stand_below_the_last_message_under_names_of_ours_as_far_as_it_takes_them() -> None:
    def given(*images: Attachment, text: str = "はい") -> list[tuple[TextFile | MediaFile, ...]]:
        state = after(ImagesShown(images), TextDelta(text), done(text))
        return [page.files for page in final_pages(state, JA)]

    text = "あ" * 1600 + "\n\n" + "い" * 600
    found = given(Attachment("../@everyone.exe", "image/jpeg", b"1"), text=text)
    assert found == [(), (MediaFile("1.jpg", b"1"),)]
    [small] = given(*[Attachment("a", "image/png", b"1")] * (pages.MAX_PICTURES + 3))
    [large] = given(*[Attachment("a", "image/png", bytes(pages.MAX_PICTURES_BYTES // 2 + 1))] * 2)
    assert (len(small), len(large)) == (pages.MAX_PICTURES, 1)
