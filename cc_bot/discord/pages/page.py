"""Discord messages as data. `pages` makes them, and `delivery` compares and sends them."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, takewhile
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
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.memory.texts import MemoryTexts
from cc_bot.texts.replies import ReplyTexts

# The bot's own statements are in embeds and cards, which a model can't write. Each kind has a colour.

RECEIPTS_COLOUR: Final = 0x2D7D46
NOTES_COLOUR: Final = 0x5D6B7A
MAX_FACTS_CHARACTERS: Final = 3000  # Discord's limit is 6000 in all embeds of a message

_SMALL_PRINT: Final = "-# "
_ESCAPED: Final = re.compile(r"\\([^0-9A-Za-z\s])")
_WORD: Final = re.compile(r"[#\w():]+")
_NO_BREAK: Final = "\N{WORD JOINER}"
_SCHEME: Final = re.compile(r"[a-zA-Z]{0,20}+://++")


@dataclass(frozen=True, slots=True)
class Facts:
    """The bot's own statements about an answer, as Markdown lines of an embed."""

    lines: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines)

    def with_notes(self, *sentences: str) -> "Facts":
        return replace(self, lines=(*self.lines, *small_print(*sentences)))

    def without(self, sentence: str) -> "Facts":
        removed = small_print(sentence)
        return replace(self, lines=tuple(line for line in self.lines if line not in removed))

    def shorten(self, max_characters: int = MAX_FACTS_CHARACTERS) -> str:
        """Return the lines that fit."""
        text = ""
        for line in self.lines:
            longer = f"{text}\n{line}" if text else line
            if utf16_length(longer) > max_characters:
                break
            text = longer
        return text

    @classmethod
    def read(cls, message: hikari.Message) -> "Facts":
        # An embed with a URL is a link preview.
        own = (each.description for each in message.embeds if each.colour == NOTES_COLOUR and not each.url)
        text = next(own, None)
        return cls(tuple(text.split("\n")) if text else ())


def timestamp(moment: datetime, style: str = "D") -> str:
    """Return a Discord timestamp. Styles: `D` date, `t` time, `f` both, `F` with weekday, `R` relative."""
    return f"<t:{int(moment.timestamp())}:{style}>"


def escape_markdown(text: str) -> str:
    return "".join(f"\\{character}" if character in r"\*_~`|>[]<" else character for character in text)


def plain_label(text: str, max_characters: int) -> str:
    """Return one line that can't be formatted, mention anyone or link anywhere."""
    return escape_markdown(shorten(_SCHEME.sub("", one_line(text)), max_characters))


def unescape_markdown(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def small_print(*sentences: str) -> tuple[str, ...]:
    return tuple(_SMALL_PRINT + line for sentence in sentences for line in sentence.splitlines())


NO_FACTS: Final = Facts()
BLURPLE = 0x5865F2
CHOICE_CHARACTERS = 100  # Discord's limit for autocomplete choices and option labels
ITEMS_PER_PAGE: Final = 8
MAX_CARD_CHARACTERS: Final = 3700  # Discord allows 4000 with title and footer; a longer text becomes a file
MAX_ITEM_CHARACTERS: Final = 64  # five lines of Japanese beside a button on a phone
Part = Literal["reference", "files", "embeds", "components"]
TEXT_LIMIT: Final = 1700  # Discord's limit is 2000, of which 300 are for brackets around links
MAX_PLAIN_MESSAGES: Final = 12
PROPOSAL_COLOUR: Final = 0xC27C0E
MAX_COMPONENTS: Final = 39  # Discord allows 40, nested ones included; one is left for facts


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
    buttons: tuple[Button, ...] = ()  # below it


@dataclass(frozen=True, slots=True)
class EphemeralView:
    """An ephemeral message. It replaces all that its message showed before. With a title or paragraphs it is
    a card."""

    content: str = ""  # above the card
    title: str = ""
    paragraphs: tuple[Paragraph, ...] = ()  # at most eight with one or two buttons
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
        content = _build_paragraph(Paragraph(self.content)) if self.content else []
        file = [FileComponentBuilder(file=self.attachment)] if self.attachment else []
        rows = build_rows(self.buttons, menu=self.menu)
        if not self.title and not self.paragraphs:
            return [*content, *file, *rows]
        title = [Paragraph(f"### {self.title}")] if self.title else []
        footer = [Paragraph(f"-# {self.footer}")] if self.footer else []
        texts = (each for each in (*title, *self.paragraphs, *footer) if each.text)
        card = ContainerComponentBuilder(accent_color=hikari.Color(BLURPLE))
        for part in (*chain.from_iterable(map(_build_paragraph, texts)), *file, *rows):
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
class Box:
    """A container of a card; without a colour, text of the card itself."""

    paragraphs: tuple[Paragraph, ...]
    colour: int | None = None
    buttons: tuple[Button, ...] = ()  # below the paragraphs
    file: TextFile | None = None

    @property
    def component_count(self) -> int:
        count = sum(3 if each.button else 1 for each in self.paragraphs) + len(self.buttons)
        return count + bool(self.buttons) + bool(self.file) + (self.colour is not None)

    @property
    def components(self) -> list[ComponentBuilder]:
        paragraphs = [*chain.from_iterable(map(_build_paragraph, self.paragraphs))]
        if self.colour is None:
            return [*paragraphs]
        files = [_build_file(self.file)] if self.file else []
        container = ContainerComponentBuilder(accent_color=hikari.Color(self.colour))
        for part in (*paragraphs, *files, *build_rows(self.buttons)):
            container.add_component(part)
        return [container]


@dataclass(frozen=True, slots=True)
class Page:
    """A message: text with its buttons, files and facts; or a card, which is boxes and nothing else."""

    content: str = ""  # the model's text or the bot's own; never both
    buttons: tuple[Button, ...] = ()
    files: tuple[TextFile | MediaFile, ...] = ()
    facts: Facts = NO_FACTS  # links to the web pages that were read, and notices
    boxes: tuple[Box, ...] = ()

    @property
    def embeds(self) -> list[hikari.Embed]:
        text = self.facts.shorten()
        return [hikari.Embed(description=text, colour=NOTES_COLOUR)] if text else []

    @property
    def texts(self) -> list[str]:
        """The texts of a card."""
        return [each.text for box in self.boxes for each in box.paragraphs]

    @property
    def fits_in_card(self) -> bool:
        components = sum(box.component_count for box in self.boxes)
        return components <= MAX_COMPONENTS and sum(map(utf16_length, self.texts)) <= MAX_CARD_CHARACTERS

    def parts(self, before: "Page | None") -> frozenset[Part]:
        """Return the parts that are sent for a new message, or for an edit of `before`."""
        files, rows = _changed_files(before, self), rows_of(self)
        values: dict[Part, object] = {"files": files, "embeds": self.embeds, "components": rows}
        return frozenset(part for part, value in values.items() if value)

    def without(self, parts: Collection[Part]) -> "Page":
        """Leave out parts that Discord refuses."""
        return replace(
            self,
            files=() if "files" in parts else self.files,
            facts=NO_FACTS if "embeds" in parts else self.facts,
            buttons=() if "components" in parts else self.buttons,
        )


def change_last_text(pages: Sequence[Page], change: Callable[[Page], Page]) -> tuple[Page, ...]:
    *earlier, last = (page for page in pages if not page.boxes)
    return (*earlier, change(last), *(page for page in pages if page.boxes))


def move_facts_to_card(pages: Sequence[Page]) -> tuple[Page, ...]:
    """Show facts in the card, which needs no permission for embeds."""
    card = next((page for page in pages if page.boxes), Page())
    facts = Facts(tuple(line for page in pages for line in page.facts.lines))
    shown = facts.shorten(MAX_CARD_CHARACTERS - sum(map(utf16_length, card.texts)))
    boxes = (Box((Paragraph(shown),)), *card.boxes) if shown else card.boxes
    texts = (replace(page, facts=NO_FACTS) for page in pages if not page.boxes)
    return (*texts, *([Page(boxes=boxes)] if boxes else []))


def plain_card(page: Page) -> Page:
    """Return a message with a card's texts and buttons, for a card that Discord refuses."""
    paragraphs = [each for box in page.boxes for each in box.paragraphs]
    beside = (each.button for each in paragraphs if each.button)
    below = (button for box in page.boxes for button in box.buttons)
    return Page(shorten("\n".join(page.texts), TEXT_LIMIT), (*beside, *below))


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
BUTTONS_PER_ROW: Final = 5


def post_arguments(page: Page, *, ephemeral: bool = False) -> dict[str, Any]:
    flags = hikari.MessageFlag.EPHEMERAL if ephemeral else hikari.MessageFlag.NONE
    if page.boxes:  # the answer's text has notified its user
        flags |= hikari.MessageFlag.SUPPRESS_NOTIFICATIONS
        return {"components": _card_components(page), "flags": flags, **NO_PINGS}
    return {**edit_arguments(None, page), "attachments": uploads_of(page), "flags": flags}


def edit_arguments(before: Page | None, page: Page) -> dict[str, Any]:
    if page.boxes:
        old_files = hikari.UNDEFINED if any(box.file for box in page.boxes) else None  # new ones replace them
        components = _card_components(page)
        return {"content": None, "embeds": [], "components": components, "attachments": old_files, **NO_PINGS}
    return {
        "content": page.content,
        "embeds": page.embeds,
        "components": rows_of(page),
        "attachments": _changed_files(before, page),
        **NO_PINGS,
    }


def _card_components(page: Page) -> list[ComponentBuilder]:
    return [component for box in page.boxes for component in box.components]


def rows_of(page: Page) -> list[MessageActionRowBuilder]:
    rows = range(0, len(page.buttons), BUTTONS_PER_ROW)
    return build_rows(*(page.buttons[at : at + BUTTONS_PER_ROW] for at in rows))


def buttons_of(message: hikari.PartialMessage) -> tuple[Button, ...]:
    return tuple(
        Button(each.label or "", each.custom_id)
        for each in controls_of(message)
        if isinstance(each, hikari.ButtonComponent) and each.custom_id
    )


def controls_of(message: hikari.PartialMessage) -> Iterator[hikari.MessageComponentTypesT]:
    for component in _walk(message.components or ()):
        if isinstance(component, hikari.ButtonComponent | hikari.SelectMenuComponent):
            yield component


def texts_of(message: hikari.PartialMessage) -> Iterator[str]:
    """The texts in components of version 2."""
    for component in _walk(message.components or ()):
        if isinstance(component, hikari.TextDisplayComponent):
            yield component.content


def notes_of(message: hikari.PartialMessage) -> tuple[str, ...]:
    """The lines of a card above its boxes."""
    above = takewhile(lambda each: not isinstance(each, hikari.ContainerComponent), message.components or ())
    texts = (each for each in above if isinstance(each, hikari.TextDisplayComponent))
    return tuple(line for text in texts for line in text.content.split("\n"))


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
    is_same_card = [*texts_of(message)] == page.texts
    return (message.content or "").strip() == page.content.strip() and actual == expected and is_same_card


_ParagraphPart = TextDisplayComponentBuilder | SectionComponentBuilder | MessageActionRowBuilder


def _build_paragraph(paragraph: Paragraph) -> list[_ParagraphPart]:
    text = TextDisplayComponentBuilder(content=paragraph.text)
    if paragraph.button is None:
        return [text, *build_rows(paragraph.buttons)]
    return [SectionComponentBuilder(components=[text], accessory=_build_button(paragraph.button))]


def _build_file(file: TextFile) -> FileComponentBuilder:
    return FileComponentBuilder(file=hikari.Bytes(file.text.encode(), file.name))


def build_rows(*rows: Sequence[Button], menu: Menu | None = None) -> list[MessageActionRowBuilder]:
    button_rows = [
        MessageActionRowBuilder(components=[*map(_build_button, buttons)]) for buttons in rows if buttons
    ]
    if menu is None:
        return button_rows
    menu_row = MessageActionRowBuilder()
    options = menu_row.add_text_menu(menu.custom_id, placeholder=menu.placeholder, min_values=1)
    for label, value in menu.options:
        options.add_option(label, value)
    return [menu_row, *button_rows]


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
    buttons_of_item: Callable[[Item], tuple[Button, ...]] = lambda _: (),
) -> EphemeralView:
    """`page_id` returns the custom id of the button to a page. A single button of an item is beside it, two
    are below."""
    buttons = tuple(action_button(action, reader.user_id) for action in reply.actions)
    pages, number, shown = reply.pages, reply.page, reply.items
    if shown and not pages:
        pages = math.ceil(len(shown) / ITEMS_PER_PAGE)
        number = min(max(page, 1), pages)
        shown = shown[(number - 1) * ITEMS_PER_PAGE : number * ITEMS_PER_PAGE]
    texts, items = reader.words[ReplyTexts], list[Paragraph]()
    first_problem = next((each for each in shown if each.problem), None)
    for each in shown:
        time = each.repeat or each.time
        if each.repeat and not each.problem:
            coming = texts.say_next(each.repeat, each.time)
            time = texts.repeat_and_next.format(repeat=each.repeat, next=coming)
        details = (f"#{each.number}", time, *each.labels, *each.details)
        beside = buttons_of_item(each)
        lines = small_print(*filter(None, (_join_unbroken(details), each.problem)))
        below = beside if len(beside) > 1 else ()
        button = None if below or not beside else beside[0]
        text = reader.format_text(each.text, MAX_ITEM_CHARACTERS)
        heading = (f"**{reply.problems_title}**",) if each is first_problem else ()
        items.append(Paragraph("\n".join((*heading, text, *lines)), button, below))
    said, table = Paragraph("\n".join(reply.lines)), Paragraph(reply.table and f"```\n{reply.table}\n```")
    notes = Paragraph("\n".join(small_print(*reply.notes)))
    paragraphs = [each for each in (said, table, *items, notes) if each.text]
    file, whole = reply.file, "\n".join(each.text for each in paragraphs)
    if utf16_length(whole) > MAX_CARD_CHARACTERS and file is None:
        file, whole, paragraphs = ReplyFile(texts.file_name, whole.encode()), "", []
    attachment = hikari.Bytes(file.content, file.name) if file else None
    if not reply.title and not shown:
        return EphemeralView(whole, buttons=buttons, attachment=attachment)
    footer = ""
    if pages > 1 and page_id:
        paging = reader.words[MemoryTexts]
        footer = paging.page.format(page=number, pages=pages)
        neighbours = ((paging.previous, number - 1), (paging.next, number + 1))
        buttons += tuple(Button(label, page_id(to), enabled=1 <= to <= pages) for label, to in neighbours)
    return EphemeralView(
        title=reply.title, paragraphs=tuple(paragraphs), footer=footer, buttons=buttons, attachment=attachment
    )


def _join_unbroken(details: Iterable[str]) -> str:
    """Join the details on a line that breaks between words only, in Japanese as well."""
    line = "\N{NO-BREAK SPACE}・ ".join(filter(None, details))
    return _WORD.sub(lambda word: word[0] if word[0].isascii() else _NO_BREAK.join(word[0]), line)


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
