"""Renders an answer's messages from the turn's events, without sending them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import hikari

from cc_bot.chat.changes import read_changes
from cc_bot.chat.context import recordings
from cc_bot.chat.context.attachments import MAX_DOCUMENT_BYTES, MAX_IMAGE_BYTES, MAX_TEXT_BYTES
from cc_bot.discord.pages.custom_ids import (
    AnswerButton,
    RetryButton,
    ShowButton,
    StopButton,
    UsedMemoriesButton,
    parse_custom_id,
)
from cc_bot.discord.pages.markdown import for_discord, split_messages
from cc_bot.discord.pages.page import (
    TEXT_LIMIT,
    Button,
    Facts,
    MediaFile,
    Page,
    TextFile,
    buttons_of,
    escape_markdown,
    plain_label,
    small_print,
)
from cc_bot.discord.pages.receipts import SHOWN_CHARACTERS, recalled_ids
from cc_bot.discord.pages.split import MESSAGE_LIMIT, utf16_length
from cc_bot.domain.change import Change, add_change
from cc_bot.domain.fences import close_marks
from cc_bot.domain.message import Attachment, Message, ToolCall, is_blank
from cc_bot.domain.proposal import Proposal
from cc_bot.domain.text import one_line, shorten
from cc_bot.domain.tool_calls import MAX_LINKS, SEPARATOR, PageLink, list_sources
from cc_bot.domain.turn import (
    AskedAbout,
    CallsResumed,
    CanvasChanged,
    Done,
    FilesDeleted,
    FilesLeftOut,
    Heard,
    ImagesShown,
    MemoriesRecalled,
    MessagesRead,
    Notice,
    ReplyWithheld,
    ScansShown,
    ServerCallInterrupted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    ToolsUnavailable,
    TurnEvent,
    Usage,
)
from cc_bot.features.memory.texts import ReceiptTexts
from cc_bot.texts import Texts
from cc_bot.texts.answer import AnswerTexts, CanvasChangeTexts, MessageMenuTexts, UnfinishedTexts
from cc_bot.texts.proposal import ProposalTexts

MAX_MESSAGES = 5  # A user-installed bot may send five follow-ups. A longer text becomes a file.
_MAX_STREAMED_CHARACTERS = 2 * MAX_MESSAGES * TEXT_LIMIT
"""More than MAX_MESSAGES show. It limits the cost of an edit."""
MAX_PICTURES: Final = 9
MAX_PICTURES_BYTES: Final = 8 * 2**20
"""With a text file, within Discord's limits of ten files and 10 MiB per message."""
MAX_TOOL_NAME_LENGTH = 64  # the limit of the Chat Completions API

MAX_SOURCE_TITLE_CHARACTERS: Final = 30
MAX_SOURCE_HOST_CHARACTERS: Final = 40
MAX_LINK_LENGTH: Final = 400
TRANSCRIPT_MARK: Final = "🎤"
"""Begins the lines of a transcript. The model's own lines can't begin with it."""
MAX_TRANSCRIPT_CHARACTERS: Final = 1000
_IPV6_HOST: Final = re.compile(r"https?+://\[[0-9A-Fa-f:.]++\]")
_LINK_MARKS: Final = re.compile(r"[\s()\[\]<>\\`|*\"]|__++|~~++")
"""Characters that would break a Markdown link, percent-encoded in its address."""

Waiting = Literal["thinking", "queued", "hearing", "fallback"]
Note = FilesDeleted | ReplyWithheld | ScansShown | AskedAbout | MessagesRead | ToolsUnavailable


@dataclass(frozen=True, slots=True)
class AnswerState:
    text: str = ""
    transcript: str = ""  # of the question's recordings
    waiting: Waiting = "thinking"
    turns_ahead: int | None = None
    tools: tuple[str, ...] = ()
    """Running tools. Finished ones are shown until text follows, since most run too briefly to be noticed."""
    receipts: tuple[Change, ...] = ()
    recalled: tuple[int, ...] = ()  # ids of memories
    sources: tuple[PageLink, ...] = ()  # web pages that were read
    outcome_unknown: bool = False  # an interrupted call may have changed a memory or reminder
    server_outcome_unknown: bool = False  # an interrupted call with external effects may have been made
    done_server_calls: tuple[str, ...] = ()
    """Tools with external effects that the turn called before a restart, or the answer that this replaces."""
    files_left_out: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    quiet_s: int = 0  # seconds without an event; 0 if not worth showing
    done: Done | None = None
    failure: str | None = None
    retryable: bool = False
    images: tuple[Attachment, ...] = ()
    canvas: CanvasChanged | None = None
    unshown: bool = False  # True if the answer was not shown, or its messages not recorded

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        return self.done.proposals if self.done else ()

    @property
    def stored(self) -> bool:
        return self.done is not None and self.done.answer.id is not None

    @property
    def may_be_asked_again(self) -> bool:
        return self.retryable and self.done is None


def advance(state: AnswerState, event: TurnEvent) -> AnswerState:  # noqa: PLR0911, PLR0912
    match event:
        case TextDelta(text):
            return replace(state, text=state.text + text, waiting="thinking", tools=())
        case ToolStarted(name=name):
            return replace(state, tools=(*state.tools, name))
        case ToolFinished():
            return state  # shown until text follows
        case CallsResumed(calls):
            known = {each.identity for each in state.receipts}
            resumed = (each for each in read_changes(calls) if each.identity not in known)
            return replace(
                state,
                receipts=(*state.receipts, *resumed),
                outcome_unknown=event.outcome_unknown,
                server_outcome_unknown=event.server_outcome_unknown,
                done_server_calls=event.done_server_calls,
            )
        case ServerCallInterrupted():
            return replace(state, server_outcome_unknown=True)
        case MemoriesRecalled(ids):
            return replace(state, recalled=tuple(dict.fromkeys((*state.recalled, *ids))))
        case Change() as change:
            return replace(state, receipts=add_change(state.receipts, change))
        case FilesLeftOut(names):
            return replace(state, files_left_out=tuple(dict.fromkeys((*state.files_left_out, *names))))
        case Heard(text):
            return replace(state, transcript=text, waiting="thinking")
        case ImagesShown(images):
            return replace(state, images=(*state.images, *images))
        case CanvasChanged() as changed:
            return replace(state, canvas=changed)
        case Notice(kind, ahead):
            waiting: Waiting = kind if kind in ("queued", "hearing", "fallback") else "thinking"
            return replace(
                state, waiting=waiting, turns_ahead=ahead, tools=() if kind == "thinking" else state.tools
            )
        case Done(answer):  # after a crash, the only event
            return replace(
                state,
                text=answer.content,
                done=event,
                receipts=state.receipts or read_changes(answer.tool_calls),
                recalled=state.recalled or recalled_ids(answer.tool_calls),
                sources=list_sources(answer.tool_calls),
            )
        case _:  # a Note
            return replace(state, notes=tuple(dict.fromkeys((*state.notes, event))))


def streaming_pages(state: AnswerState, words: Texts, stop: StopButton) -> tuple[Page, ...]:
    button = Button(words[AnswerTexts].stop, stop.custom_id())
    activity = _activity(state, words)
    streamed = for_discord(_without_transcript_marks(state.text[:_MAX_STREAMED_CHARACTERS]), is_partial=True)
    if is_blank(streamed):
        return (Page(_with_transcript(state, activity or words[AnswerTexts].thinking), (button,)),)
    *full, last = split_messages(
        _with_transcript(state, streamed), limit=TEXT_LIMIT, max_count=MAX_MESSAGES, is_complete=False
    )
    return (*map(Page, full), Page(_with_closed_marks(last), (button,), facts=Facts(small_print(activity))))


def final_pages(
    state: AnswerState, words: Texts, *, temporary: bool = False, note: str = "", as_file: bool = False
) -> tuple[Page, ...]:
    """Return the finished messages, without buttons. With `as_file`, a text that does not fit in one message
    becomes a file."""
    facts = _facts(state, words, temporary=temporary)
    facts = facts.with_notes(note) if note else facts
    pictures = _pictures(state.images)
    if is_blank(state.text):
        content = _with_transcript(state, _instead_of_text(state, words))
        return (Page(content, facts=facts, files=pictures),)
    is_complete = state.failure is None and (state.done is None or state.done.answer.status == "complete")
    shown = _with_transcript(state, for_discord(_without_transcript_marks(state.text)))
    contents = split_messages(shown, limit=TEXT_LIMIT, max_count=MAX_MESSAGES + 1, is_complete=is_complete)
    if len(contents) > (1 if as_file else MAX_MESSAGES):
        file = TextFile(words[AnswerTexts].file_name, shown, words[AnswerTexts].long_as_file)
        facts = facts.with_notes(file.note)
        return (Page(contents[0], files=(file, *pictures), facts=facts),)
    last = contents[-1] if is_complete else _with_closed_marks(contents[-1])
    return (*map(Page, contents[:-1]), Page(last, facts=facts, files=pictures))


def _with_closed_marks(text: str) -> str:
    closed = close_marks(text)
    return text if is_blank(closed) or utf16_length(closed) > MESSAGE_LIMIT else closed


def _pictures(images: Sequence[Attachment]) -> tuple[MediaFile, ...]:
    pictures, room_bytes = list[MediaFile](), MAX_PICTURES_BYTES
    for number, image in enumerate(images[:MAX_PICTURES], 1):
        room_bytes -= len(image.data)
        if room_bytes >= 0:
            kind = image.content_type.partition("/")[2]
            pictures.append(MediaFile(f"{number}.{'jpg' if kind == 'jpeg' else kind}", image.data))
    return tuple(pictures)


def stored_state(answer: Message, proposals: tuple[Proposal, ...] = (), *, heard: str = "") -> AnswerState:
    return advance(AnswerState(transcript=heard), Done(answer, Usage(), proposals=proposals))


def with_effects(page: Page, state: AnswerState, words: Texts) -> Page:
    """Add to a page that does not show the turn's answer what its tools may have done."""
    effects = AnswerState(
        outcome_unknown=state.outcome_unknown,
        server_outcome_unknown=state.server_outcome_unknown,
        done_server_calls=state.done_server_calls,
    )
    added = _facts(effects, words, temporary=False)
    return replace(page, facts=Facts(tuple(dict.fromkeys((*page.facts.lines, *added.lines)))))


def unanswered_page(sentence: str, calls: Sequence[ToolCall], words: Texts) -> Page:
    return with_effects(Page(sentence), advance(AnswerState(), CallsResumed(tuple(calls))), words)


def ask_again_button(retry: RetryButton, words: Texts) -> Button:
    return Button(words[AnswerTexts].try_again, retry.custom_id(), primary=True)


def used_button(state: AnswerState, words: Texts, user_id: int) -> tuple[Button, ...]:
    """Return the button that shows the memories used, if any."""
    deleted = {each.id for each in state.receipts if each.what == "memory" and each.kind == "deleted"}
    used_ids = tuple(id_ for id_ in state.recalled if id_ not in deleted)
    if state.done is None or not used_ids:
        return ()
    label = words[ReceiptTexts].used.format(count=len(used_ids))
    return (Button(label, UsedMemoriesButton(user_id, used_ids).custom_id()),)


def canvas_button(state: AnswerState, words: Texts, user_id: int, agent: str) -> tuple[Button, ...]:
    """Return the button that shows the agent's changed canvas, if any."""
    if state.canvas is None or state.canvas.empty:
        return ()
    show = ShowButton(user_id, f"canvas:{agent}")
    return (Button(words[CanvasChangeTexts].open, show.custom_id()),)


def answer_buttons(
    state: AnswerState,
    words: Texts,
    user_id: int,
    earlier_message_ids: tuple[int, ...],
    *,
    has_card: bool = False,
    private: bool = False,
) -> tuple[Button, ...]:
    """Buttons would separate a complete answer from its card, and a private card can't be replaced."""
    answer = state.done.answer if state.done else None
    if answer is None or answer.id is None:
        return ()
    again = AnswerButton("again", user_id, answer.id, earlier_message_ids)
    more = AnswerButton("more", user_id, answer.id, earlier_message_ids[: MAX_MESSAGES - 1])
    buttons: tuple[Button, ...] = ()
    may_repeat = not has_card or (answer.status != "complete" and not private)
    if may_repeat and len(earlier_message_ids) < MAX_MESSAGES:  # else they do not fit into a custom id
        buttons = (Button(words[AnswerTexts].regenerate, again.custom_id()),)
    if answer.status == "complete":
        return buttons
    return (Button(words[AnswerTexts].continue_, more.custom_id(), primary=True), *buttons)


def page_of(message: hikari.Message) -> Page:
    """Return a message without a card."""
    files = (
        MediaFile(each.filename)
        if (each.media_type or "").startswith("image/")
        else TextFile(each.filename, "")
        for each in message.attachments
    )
    return Page(message.content or "", buttons_of(message), tuple(files), Facts.read(message))


def without_answer_buttons(page: Page) -> Page:
    buttons = (each for each in page.buttons if not isinstance(parse_custom_id(each.custom_id), AnswerButton))
    return replace(page, buttons=tuple(buttons))


def _with_transcript(state: AnswerState, shown: str) -> str:
    return f"{quote_transcript(state.transcript)}\n{shown}" if state.transcript else shown


def quote_transcript(transcript: str) -> str:
    """Quote the beginning of a transcript, so that its text can't end the quotation or add formatting."""
    lines = shorten(escape_markdown(transcript), MAX_TRANSCRIPT_CHARACTERS).splitlines()
    return "\n".join(f"> {TRANSCRIPT_MARK} {line}" for line in lines if line.strip())


def _without_transcript_marks(text: str) -> str:
    return "\n".join(map(_without_transcript_mark, text.split("\n"))) if TRANSCRIPT_MARK in text else text


def _without_transcript_mark(line: str) -> str:
    before, found, rest = line.partition(TRANSCRIPT_MARK)
    if not found or ">" not in before or any(map(str.isalnum, before)):
        return line
    return before + rest.lstrip(TRANSCRIPT_MARK)


def without_transcript(shown: str) -> str:
    lines = shown.split("\n")
    return "\n".join(line for line in lines if not line.startswith(f"> {TRANSCRIPT_MARK} "))


def _activity(state: AnswerState, words: Texts) -> str:
    texts, seconds = words[AnswerTexts], state.quiet_s
    if state.tools:
        # The model may have made up the name.
        line = texts.tool_line(re.sub(r"[^\w-]", "", state.tools[-1])[:MAX_TOOL_NAME_LENGTH])
    elif state.waiting == "queued":
        line = texts.waiting_line(state.turns_ahead)
    else:
        waiting = {"fallback": texts.fallback, "hearing": texts.hearing}
        line = waiting.get(state.waiting, texts.thinking if seconds else "")
    return texts.activity_time.format(activity=line, seconds=seconds) if seconds else line


def _facts(state: AnswerState, words: Texts, *, temporary: bool) -> Facts:
    texts, done = words[AnswerTexts], state.done
    has_text, status = not is_blank(state.text), done.answer.status if done else None
    called = (escape_markdown(name.replace(SEPARATOR, " · ", 1)) for name in state.done_server_calls)
    lines = [words[ProposalTexts].call_done.format(what=name) for name in called]
    if state.outcome_unknown:
        lines.append(words[UnfinishedTexts].outcome_unknown)
    if state.server_outcome_unknown:
        lines.append(words[UnfinishedTexts].server_outcome_unknown)
    if state.files_left_out:
        lines.append(_files_left_out(state.files_left_out, words))
    lines.extend(_note_line(note, words) for note in state.notes)
    if state.canvas is not None and state.canvas.empty:
        lines.append(words[CanvasChangeTexts].emptied)
    if state.failure and has_text:
        lines.append(state.failure)
    if status == "stopped" and has_text:
        lines.append(texts.stopped)
    if status == "cut":
        lines.append(texts.cut if state.stored else texts.cut_without_button)
    if temporary and done:
        lines.append(texts.temporary)
    if done and done.is_first:
        lines.append(texts.help_hint)
    return Facts((*_source_lines(state.sources, words), *small_print(*lines)))


def _source_lines(sources: Sequence[PageLink], words: Texts) -> Iterator[str]:
    beyond = len(sources) - MAX_LINKS
    for number, source in enumerate(sources[:MAX_LINKS], 1):
        host = escape_markdown(shorten(source.host, MAX_SOURCE_HOST_CHARACTERS))
        name = plain_label(source.title, MAX_SOURCE_TITLE_CHARACTERS)
        label = "" if is_blank(name) else name
        line = f"{number}. {_linked(label or host, source.url)}{f' · {host}' if label else ''}"
        last = number == MAX_LINKS and beyond > 0
        yield line + (words[AnswerTexts].more_pages.format(count=beyond) if last else "")


def _linked(label: str, url: str) -> str:
    """Return a Markdown link, which no address can break; only the label if the address is too long."""
    host = _IPV6_HOST.match(url)
    start = host[0] if host else ""
    address = start + _LINK_MARKS.sub(_percent_encode, url[len(start) :])
    return f"[{label}](<{address}>)" if len(address) <= MAX_LINK_LENGTH else label


def _percent_encode(marks: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in marks[0].encode(errors="replace"))


def _note_line(note: Note, words: Texts) -> str:
    match note:
        case FilesDeleted(count):
            return words[AnswerTexts].files_deleted.format(count=count)
        case ReplyWithheld():
            return words[AnswerTexts].reply_not_visible
        case ScansShown(names, pages):
            return words[AnswerTexts].scans_shown.format(names=_names(names), pages=pages)
        case AskedAbout(link):
            return words[MessageMenuTexts].asked_about.format(link=link)
        case MessagesRead(read, total, more):
            return words[MessageMenuTexts].say_read(read, total, more=more)
        case ToolsUnavailable():
            return words[ReceiptTexts].no_tools


def _files_left_out(names: tuple[str, ...], words: Texts) -> str:
    image_mb, text_kb, document_mb = MAX_IMAGE_BYTES >> 20, MAX_TEXT_BYTES >> 10, MAX_DOCUMENT_BYTES >> 20
    return words[AnswerTexts].files_left_out.format(
        names=_names(names),
        images=f"{image_mb} MB",
        texts=f"{text_kb} KB",
        documents=f"{document_mb} MB",
        minutes=recordings.MAX_LENGTH_S // 60,
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(escape_markdown(shorten(one_line(name), SHOWN_CHARACTERS)) for name in names)


def _instead_of_text(state: AnswerState, words: Texts) -> str:
    """Return a sentence, since Discord refuses empty messages."""
    texts = words[AnswerTexts]
    if state.failure:
        return state.failure
    if state.done and state.done.answer.status == "stopped":
        return texts.stopped if state.stored else texts.stopped_empty
    return texts.no_text
