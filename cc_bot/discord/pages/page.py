"""Discord messages as data. `pages` makes them, and `delivery` compares and sends them."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

import hikari
from hikari.api import ComponentBuilder
from hikari.impl import (
    ContainerComponentBuilder,
    FileComponentBuilder,
    InteractiveButtonBuilder,
    LinkButtonBuilder,
    MessageActionRowBuilder,
    SectionComponentBuilder,
    TextDisplayComponentBuilder,
)

from cc_bot.chat.reply import Action, Caller, Item, Reply, ReplyFile
from cc_bot.discord.pages.custom_ids import Control, MemoryButton, UndoButton, UnscheduleButton
from cc_bot.discord.pages.markdown import split_messages
from cc_bot.discord.pages.split import utf16_length
from cc_bot.domain.change import Change
from cc_bot.domain.text import Locale, shorten
from cc_bot.features.memory.texts import MemoryTexts
from cc_bot.texts.area import plain_commands
from cc_bot.texts.commands import command_namer
from cc_bot.texts.replies import ReplyTexts

# The bot's own statements are in embeds, which a model can't write. Each kind has a colour.

RECEIPTS_COLOUR: Final = 0x2D7D46
NOTES_COLOUR: Final = 0x5D6B7A
MAX_FACTS_CHARACTERS: Final = 3000  # Discord's limit is 6000 in all embeds of a message
RECEIPT_ID: Final = "done:"
NOTE_ID: Final = "fact:"  # prefixes of the custom ids of disabled buttons that show facts

_SMALL_PRINT: Final = "-# "
_NUMBERED_LINK: Final = re.compile(r"\A(\d\. )\[((?:[^\]\\]|\\.){0,200}+)\]\(<[^<>]{0,500}+>\)")
_TIMESTAMP: Final = re.compile(r"<t:(\d{1,11})(?::\w)?>")
_ESCAPED: Final = re.compile(r"\\([^0-9A-Za-z\s])")


@dataclass(frozen=True, slots=True)
class Facts:
    """The bot's own statements about an answer, as Markdown lines of an embed."""

    lines: tuple[str, ...] = ()
    in_buttons: bool = False
    """True if disabled buttons show them, because the bot may not post embeds."""
    locale: Locale = field(default=Locale.EN, compare=False)
    """Language of the names that replace mentions of commands in buttons."""

    def __bool__(self) -> bool:
        return bool(self.lines)

    def with_notes(self, *sentences: str) -> "Facts":
        return replace(self, lines=(*self.lines, *small_print(*sentences)))

    def without(self, sentence: str) -> "Facts":
        removed = small_print(sentence)
        return replace(self, lines=tuple(line for line in self.lines if line not in removed))

    @property
    def description(self) -> str:
        text = ""
        for line in self.lines:
            longer = f"{text}\n{line}" if text else line
            if utf16_length(longer) > MAX_FACTS_CHARACTERS:
                break
            text = longer
        return text

    def embeds(self, colour: int) -> list[hikari.Embed]:
        if not self or self.in_buttons:
            return []
        return [hikari.Embed(description=self.description, colour=colour)]

    def labels(self) -> tuple[str, ...]:
        if not self.in_buttons:
            return ()
        name_command = command_namer(self.locale)
        lines = (_NUMBERED_LINK.sub(r"\1\2", line).removeprefix(_SMALL_PRINT) for line in self.lines)
        plain = (_TIMESTAMP.sub(_write_time, plain_commands(line, name_command)) for line in lines)
        return tuple(map(unescape_markdown, plain))

    @classmethod
    def read(cls, message: hikari.Message, colour: int, labels: Sequence[str], locale: Locale) -> "Facts":
        """Read the facts of a message. `labels` are those of its buttons for facts."""
        # An embed with a URL is a link preview.
        own = (each.description for each in message.embeds if each.colour == colour and not each.url)
        if text := next(own, None):
            return cls(tuple(text.split("\n")), locale=locale)
        return cls(tuple(labels), in_buttons=bool(labels), locale=locale)


def timestamp(moment: datetime, style: str = "d") -> str:
    """Return a Discord timestamp. Styles: `d` date, `t` time, `f` both, `F` with weekday, `R` relative."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def escape_markdown(text: str) -> str:
    return "".join(f"\\{character}" if character in r"\*_~`|>[]<" else character for character in text)


def unescape_markdown(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def small_print(*sentences: str) -> tuple[str, ...]:
    return tuple(_SMALL_PRINT + line for sentence in sentences for line in sentence.splitlines())


def _write_time(timestamp: re.Match[str]) -> str:
    return f"{datetime.fromtimestamp(int(timestamp[1]), UTC):%Y-%m-%d %H:%M UTC}"


NO_FACTS: Final = Facts()
BLURPLE = 0x5865F2
CHOICE_CHARACTERS = 100  # Discord's limit for autocomplete choices and option labels
ITEMS_PER_PAGE: Final = 8
MAX_CARD_CHARACTERS: Final = 3700  # Discord allows 4000 with title and footer; a longer text becomes a file
MAX_ITEM_CHARACTERS: Final = 140  # eight items fit a card even if escaped
Part = Literal["reference", "files", "embeds", "components"]
TEXT_LIMIT: Final = 1700  # Discord's limit is 2000, of which 300 are for brackets around links
MAX_PLAIN_MESSAGES: Final = 12
PROPOSAL_COLOUR: Final = 0xC27C0E
MAX_PROPOSALS_CHARACTERS: Final = 1800  # with the facts below Discord's limit of 6000 in all embeds


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    custom_id: str
    primary: bool = False
    enabled: bool = True
    danger: bool = False
    url: str = ""


@dataclass(frozen=True, slots=True)
class Menu:
    custom_id: str
    placeholder: str
    options: tuple[tuple[str, str], ...]  # labels of at most 100 characters, and values


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str
    button: Button | None = None  # beside the text


@dataclass(frozen=True, slots=True)
class EphemeralView:
    """An ephemeral message. It replaces all that its message showed before. With a title or paragraphs it is
    a card."""

    content: str = ""  # above the card
    title: str = ""
    paragraphs: tuple[Paragraph, ...] = ()  # at most eight with buttons
    footer: str = ""
    buttons: tuple[Button, ...] = ()
    menu: Menu | None = None
    attachment: hikari.Bytes | None = None

    @property
    def plain(self) -> list[ComponentBuilder]:
        """The text alone, for a card that Discord refuses."""
        parts = (self.content, self.title, *(each.text for each in self.paragraphs), self.footer)
        text = shorten("\n".join(filter(None, parts)), MAX_CARD_CHARACTERS) or "…"
        return [TextDisplayComponentBuilder(content=text)]

    @property
    def components(self) -> list[ComponentBuilder]:
        """Components of version 2. A message may have 40, with 4000 characters ("Component Reference" in
        Discord's documentation)."""
        content = [_build_paragraph(Paragraph(self.content))] if self.content else []
        file = [FileComponentBuilder(file=self.attachment)] if self.attachment else []
        rows = build_rows(self.buttons, menu=self.menu)
        if not self.title and not self.paragraphs:
            return [*content, *file, *rows]
        title = [Paragraph(f"### {self.title}")] if self.title else []
        footer = [Paragraph(f"-# {self.footer}")] if self.footer else []
        texts = (each for each in (*title, *self.paragraphs, *footer) if each.text)
        card = ContainerComponentBuilder(accent_color=hikari.Color(BLURPLE))
        for part in (*map(_build_paragraph, texts), *file, *rows):
            card.add_component(part)
        return [*content, card]


@dataclass(frozen=True, slots=True)
class TextFile:
    name: str
    text: str  # empty if already attached
    note: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class MediaFile:
    name: str
    data: bytes = field(repr=False, default=b"")  # empty if already attached


@dataclass(frozen=True, slots=True)
class ShownProposal:
    title: str
    text: str
    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class Receipts:
    items: tuple[Change, ...] = ()
    facts: Facts = NO_FACTS
    buttons: tuple[Button, ...] = ()
    """Buttons that undo a change, and one that shows the memories used."""
    recalled: tuple[int, ...] = ()
    user_id: int = 0
    private: bool = False


NO_RECEIPTS: Final = Receipts()


@dataclass(frozen=True, slots=True)
class Page:
    content: str  # the model's text or the bot's own; never both
    buttons: tuple[Button, ...] = ()
    files: tuple[TextFile | MediaFile, ...] = ()
    receipts: Receipts = NO_RECEIPTS
    facts: Facts = NO_FACTS  # links to the web pages that were read, and notices
    proposals: tuple[ShownProposal, ...] = ()
    see_button: Button | None = None  # shows the proposals if they don't fit
    reason: str = ""  # why the changes are only proposed

    @property
    def embeds(self) -> list[hikari.Embed]:
        proposals = [
            hikari.Embed(title=each.title, description=each.text, colour=PROPOSAL_COLOUR)
            for each in self._fitting_proposals
        ]
        if proposals and self.reason:
            proposals[-1].set_footer(self.reason)
        receipts = self.receipts.facts.embeds(RECEIPTS_COLOUR)
        return [*receipts, *self.facts.embeds(NOTES_COLOUR), *proposals]

    @property
    def proposal_rows(self) -> tuple[tuple[Button, ...], ...]:
        """The buttons of two proposals a row, so that five proposals take three of a message's five rows."""
        buttons = [each.buttons for each in self._fitting_proposals]
        return tuple(sum(buttons[at : at + 2], ()) for at in range(0, len(buttons), 2))

    @property
    def last_row(self) -> tuple[Button, ...]:
        if self.see_button and self.proposals and not self._fitting_proposals:
            return (*self.buttons, self.see_button)
        return self.buttons

    @property
    def _fitting_proposals(self) -> tuple[ShownProposal, ...]:
        length = sum(len(each.title) + len(each.text) for each in self.proposals)
        return () if self.facts.in_buttons or length > MAX_PROPOSALS_CHARACTERS else self.proposals

    def parts(self, before: "Page | None") -> frozenset[Part]:
        """Return the parts that are sent for a new message, or for an edit of `before`."""
        files, rows = _changed_files(before, self), rows_of(self)
        values: dict[Part, object] = {"files": files, "embeds": self.embeds, "components": rows}
        return frozenset(part for part, value in values.items() if value)

    def without(self, parts: Collection[Part]) -> "Page":
        """Leave out parts that Discord refuses. If only embeds are refused, buttons show the facts."""
        page = self
        if "files" in parts:
            page = replace(page, files=())
        if {"embeds", "components"} <= {*parts}:
            page = replace(page, receipts=NO_RECEIPTS, facts=NO_FACTS)
        elif "embeds" in parts:
            receipts = replace(page.receipts, facts=replace(page.receipts.facts, in_buttons=True))
            page = replace(page, receipts=receipts, facts=replace(page.facts, in_buttons=True))
        if "components" in parts:
            receipts = replace(page.receipts, buttons=())
            page = replace(page, buttons=(), receipts=receipts, proposals=(), see_button=None)
        return page


def plain_pages(page: Page) -> tuple[Page, ...]:
    """Return messages with the text of the page's file. The last has all other parts."""
    file = next((each for each in page.files if isinstance(each, TextFile) and each.text), None)
    if file is None:
        return (page,)
    *earlier, last = split_messages(file.text, limit=TEXT_LIMIT, max_count=MAX_PLAIN_MESSAGES + 1)
    if len(earlier) >= MAX_PLAIN_MESSAGES:
        earlier, last = earlier[:-1], f"{earlier[-1]}\n…"
    other_files = tuple(each for each in page.files if each is not file)
    last_page = replace(page, content=last, files=other_files, facts=page.facts.without(file.note))
    return (*map(Page, earlier), last_page)


NO_PINGS: Final[dict[str, Any]] = {"mentions_everyone": False, "user_mentions": False, "role_mentions": False}
MAX_LABEL_CHARACTERS: Final = 80  # Discord's limit for a button
BUTTONS_PER_ROW: Final = 5
MAX_FACT_ROWS: Final = 3  # two of a message's five rows are for buttons


def post_arguments(page: Page) -> dict[str, Any]:
    return {**edit_arguments(None, page), "attachments": uploads_of(page)}


def edit_arguments(before: Page | None, page: Page) -> dict[str, Any]:
    return {
        "content": page.content,
        "embeds": page.embeds,
        "components": rows_of(page),
        "attachments": _changed_files(before, page),
        **NO_PINGS,
    }


def rows_of(page: Page) -> list[MessageActionRowBuilder]:
    return build_rows(*_fact_rows(page), page.receipts.buttons, *page.proposal_rows, page.last_row)


def _fact_rows(page: Page) -> list[tuple[Button, ...]]:
    buttons = [
        Button(shorten(label, MAX_LABEL_CHARACTERS), f"{prefix}{number}", enabled=False)
        for prefix, facts in ((RECEIPT_ID, page.receipts.facts), (NOTE_ID, page.facts))
        for number, label in enumerate(facts.labels())
    ][: MAX_FACT_ROWS * BUTTONS_PER_ROW]
    width = max(1, math.ceil(len(buttons) / MAX_FACT_ROWS))
    return [tuple(buttons[at : at + width]) for at in range(0, len(buttons), width)]


def controls_of(message: hikari.PartialMessage) -> Iterator[hikari.MessageComponentTypesT]:
    for component in _walk(message.components or ()):
        if isinstance(component, hikari.ButtonComponent | hikari.SelectMenuComponent):
            yield component


def texts_of(message: hikari.PartialMessage) -> Iterator[str]:
    """The texts in components of version 2."""
    for component in _walk(message.components or ()):
        if isinstance(component, hikari.TextDisplayComponent):
            yield component.content


def file_url_of(message: hikari.PartialMessage) -> str | None:
    """The URL of the file that components of version 2 show."""
    files = (each for each in _walk(message.components or ()) if isinstance(each, hikari.FileComponent))
    return next((each.file.url for each in files), None)


def _walk(components: Iterable[hikari.PartialComponent]) -> Iterator[hikari.PartialComponent]:
    for component in components:
        yield component
        yield from _walk(getattr(component, "components", ()))
        if isinstance(component, hikari.SectionComponent):
            yield component.accessory


def looks_like(message: hikari.Message, page: Page) -> bool:
    expected = [embed.description or "" for embed in page.embeds]
    actual = [embed.description or "" for embed in message.embeds if not embed.url]
    return (message.content or "").strip() == page.content.strip() and actual == expected


def _build_paragraph(paragraph: Paragraph) -> TextDisplayComponentBuilder | SectionComponentBuilder:
    text = TextDisplayComponentBuilder(content=paragraph.text)
    if paragraph.button is None:
        return text
    return SectionComponentBuilder(components=[text], accessory=_build_button(paragraph.button))


def build_rows(*rows: Sequence[Button], menu: Menu | None = None) -> list[MessageActionRowBuilder]:
    button_rows = [_build_row(buttons) for buttons in rows if buttons]
    if menu is None:
        return button_rows
    menu_row = MessageActionRowBuilder()
    options = menu_row.add_text_menu(menu.custom_id, placeholder=menu.placeholder, min_values=1)
    for label, value in menu.options:
        options.add_option(label, value)
    return [menu_row, *button_rows]


def _build_row(buttons: Sequence[Button]) -> MessageActionRowBuilder:
    return MessageActionRowBuilder(components=[_build_button(each) for each in buttons])


def _build_button(button: Button) -> LinkButtonBuilder | InteractiveButtonBuilder:
    if button.url:
        return LinkButtonBuilder(url=button.url, label=button.label)
    style = hikari.ButtonStyle.SECONDARY
    if button.primary or button.danger:
        style = hikari.ButtonStyle.PRIMARY if button.primary else hikari.ButtonStyle.DANGER
    return InteractiveButtonBuilder(
        style=style, custom_id=button.custom_id, label=button.label, is_disabled=not button.enabled
    )


def uploads_of(page: Page) -> list[hikari.Bytes]:
    files = (
        (each.name, each.text.encode() if isinstance(each, TextFile) else each.data) for each in page.files
    )
    return [hikari.Bytes(data, name) for name, data in files if data]


def _changed_files(before: Page | None, page: Page) -> hikari.UndefinedNoneOr[list[hikari.Bytes]]:
    """Return UNDEFINED if an edit keeps the files, None if it removes them, or the new files."""
    if page.files == (before.files if before else ()):
        return hikari.UNDEFINED
    return uploads_of(page) or None


def reply_view(
    reply: Reply,
    reader: Caller,
    page: int = 1,
    page_id: Callable[[int], str] | None = None,
    button_beside: Callable[[Item], Button | None] = lambda _: None,
) -> EphemeralView:
    """`page_id` returns the custom id of the button to a page."""
    buttons = tuple(action_button(action, reader.user_id) for action in reply.actions)
    pages, number, shown = reply.pages, reply.page, reply.items
    if shown and not pages:
        pages = math.ceil(len(shown) / ITEMS_PER_PAGE)
        number = min(max(page, 1), pages)
        shown = shown[(number - 1) * ITEMS_PER_PAGE : number * ITEMS_PER_PAGE]
    items = [
        Paragraph(
            f"**#{each.number}** {reader.format_text(each.text, MAX_ITEM_CHARACTERS)}\n"
            f"-# {' ・ '.join((*each.details, *filter(None, [each.problem])))}",
            button_beside(each),
        )
        for each in shown
    ]
    text, table = Paragraph("\n".join(reply.lines)), Paragraph(reply.table and f"```\n{reply.table}\n```")
    notes = Paragraph("\n".join(small_print(*reply.notes)))
    paragraphs = [each for each in (text, table, *items, notes) if each.text]
    file, whole = reply.file, "\n".join(each.text for each in paragraphs)
    if utf16_length(whole) > MAX_CARD_CHARACTERS and file is None:
        file, whole, paragraphs = ReplyFile(reader.words[ReplyTexts].file_name, whole.encode()), "", []
    attachment = hikari.Bytes(file.content, file.name) if file else None
    if not reply.title and not shown:
        return EphemeralView(whole, buttons=buttons, attachment=attachment)
    footer = ""
    if pages > 1 and page_id:
        texts = reader.words[MemoryTexts]
        footer = texts.page.format(page=number, pages=pages)
        neighbours = ((texts.previous, number - 1), (texts.next, number + 1))
        buttons += tuple(Button(label, page_id(to), enabled=1 <= to <= pages) for label, to in neighbours)
    return EphemeralView(
        title=reply.title, paragraphs=tuple(paragraphs), footer=footer, buttons=buttons, attachment=attachment
    )


def action_button(action: Action, user_id: int) -> Button:
    control: Control
    match action.kind:
        case "cancel":
            control = UnscheduleButton(user_id, action.id)
        case "added" | "updated" | "deleted" as change:
            control = UndoButton(change, user_id, action.id, action.former_id)
        case kind:
            control = MemoryButton(kind, user_id, action.id)
    return Button(action.label, control.custom_id(), danger=action.kind in ("erase", "erase-said"))
