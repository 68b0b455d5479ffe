"""A message as it should look: what rendering produces and delivery compares and sends."""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

import hikari
from hikari.impl import MessageActionRowBuilder

from cc_bot.discord.pages.markdown import keep_spoilers_shut
from cc_bot.discord.pages.split import MESSAGE_LIMIT, split, utf16_length
from cc_bot.domain.locale import Locale
from cc_bot.domain.text import shorten
from cc_bot.texts.commands import plainly
from cc_bot.texts.naming import Show, without_mentions

# ---- facts ---------------------------------------------------------------------------------------------
# Facts: what the bot itself states about an answer, in an embed of the answer's last message.
#
# A message's content is the model's words or the bot's, never both. What a model writes goes into contents
# alone, and no link in one is shown with a preview: so an embed of this look is made by code,
# from committed rows and from how the turn ended, and no text can pass for one, whatever characters it is
# made of. A canvas is made of embeds too, in a message of its own and in another colour, which no model
# chooses.


FACTS_COLOUR: Final = 0x2D7D46
FACTS_CHARACTERS: Final = 4096
""""Embed Limits" of Discord's documentation of messages: a description's. Of all embeds it takes 6000."""

FACT_ID: Final = "fact:"
"""What the custom ids of such buttons begin with."""

SMALL_LINES: Final = 2
"""At most, under an answer: what there is to say beyond them shares a line with something else."""

_SMALL_PRINT: Final = "-# "
_SOURCE: Final = re.compile(r"\d\. ")
"""What the line of a page begins with, and no other."""
_LINKED: Final = re.compile(r"\A(\d\. )\[((?:[^\]\\]|\\.){0,200}+)\]\(<[^<>]{0,500}+>\)")
_BETWEEN: Final = " ・ "
"""Two notices on a line."""
_TIME: Final = re.compile(r"<t:(\d{1,11})(?::\w)?>")
_ESCAPED: Final = re.compile(r"\\([^0-9A-Za-z\s])")


@dataclass(frozen=True, slots=True)
class Facts:
    """Statements, each a line without line breaks, but for notices, as it is to be shown: Markdown, in their
    reader's language."""

    receipts: tuple[str, ...] = ()
    """What was done, by committed rows."""
    notices: tuple[str, ...] = ()
    """How the answer ended, if not as meant, and what else its reader should know of it. In small print."""
    activity: str = ""
    """While the answer is on its way: what is going on. In small print, the last."""
    in_buttons: bool = False
    """Whether they stand in buttons that can't be pressed, where the bot may not post embeds."""
    locale: Locale = field(default=Locale.EN, compare=False)
    """The language of commands' names in such buttons, which show no mentions."""
    sources: tuple[str, ...] = ()
    """The pages that were read for it, numbered: links, made of what was fetched. They stand before the small
    print."""

    def __bool__(self) -> bool:
        return bool(self.receipts or self.sources or self.notices or self.activity)

    def noting(self, sentence: str) -> "Facts":
        """The same with one notice more."""
        return replace(self, notices=(*self.notices, sentence))

    @property
    def description(self) -> str:
        """The text of the embed; a line for which there is no room is left out."""
        text = ""
        for line in (*self.receipts, *self.sources, *(_SMALL_PRINT + line for line in self._small_print())):
            longer = f"{text}\n{line}" if text else line
            if utf16_length(longer) > FACTS_CHARACTERS:
                break
            text = longer
        return text

    def embeds(self) -> list[hikari.Embed]:
        """The embed, or none where there is nothing to state."""
        if not self or self.in_buttons:
            return []
        return [hikari.Embed(description=self.description, colour=FACTS_COLOUR)]

    def labels(self) -> tuple[str, ...]:
        """Return the labels of the buttons that stand for an embed; none where that is shown. They take no
        Markdown."""
        if not self.in_buttons:
            return ()
        named = plainly(self.locale)
        return tuple(_plain(line, named) for line in (*self.receipts, *self._unlinked(), *self._told()))

    @classmethod
    def read(cls, embeds: Sequence[hikari.Embed], locale: Locale = Locale.EN) -> "Facts":
        """Read what a message of the bot's own states. A preview that Discord made of a link has that
        link."""
        own = (each for each in embeds if each.colour == FACTS_COLOUR and not each.url)
        lines = [line for embed in own for line in (embed.description or "").split("\n") if line]
        small = [line.removeprefix(_SMALL_PRINT) for line in lines if line.startswith(_SMALL_PRINT)]
        if len(small) == SMALL_LINES:  # fewer have not been joined
            small = [notice for line in small for notice in line.split(_BETWEEN)]
        lines = [line for line in lines if not line.startswith(_SMALL_PRINT)]
        sources = tuple(line for line in lines if _SOURCE.match(line))
        others = tuple(line for line in lines if line not in sources)
        return cls(others, tuple(small), locale=locale, sources=sources)

    @classmethod
    def of_labels(cls, labels: Sequence[str], locale: Locale) -> "Facts":
        """Return what buttons state that stand for an embed."""
        sources = tuple(label for label in labels if _SOURCE.match(label))
        others = tuple(label for label in labels if label not in sources)
        return cls(others, in_buttons=bool(labels), locale=locale, sources=sources)

    def _unlinked(self) -> Iterator[str]:
        return (_LINKED.sub(r"\1\2", line) for line in self.sources)

    def _told(self) -> list[str]:
        return [line for notice in (*self.notices, self.activity) for line in notice.splitlines()]

    def _small_print(self) -> Sequence[str]:
        """The notices in their order, in lines that are about as long as each other."""
        told = self._told()
        if len(told) <= SMALL_LINES:
            return told
        ways = ((_BETWEEN.join(told[:at]), _BETWEEN.join(told[at:])) for at in range(1, len(told)))
        return min(ways, key=lambda way: max(map(utf16_length, way)))


def _plain(line: str, named: Show) -> str:
    text = without_mentions(line, named)
    text = _TIME.sub(lambda time: f"{datetime.fromtimestamp(int(time[1]), UTC):%Y-%m-%d %H:%M UTC}", text)
    return _ESCAPED.sub(r"\1", text)


NO_FACTS: Final = Facts()


# ---- links ---------------------------------------------------------------------------------------------
# Links without previews: `<https://…>`, which Discord shows as a link and no more.
#
# A preview is an embed whose words the author of a page chooses, under the bot's name: it could pass for a
# receipt. And Discord fetches a page to make one, so a link that a model was talked into writing would
# carry what it holds to that page's owner without anybody's click.
#
# In code Discord makes no previews, and brackets would be in the way there. But what is code is told by
# Discord's parser, which is not public: a mark that opened before the code may end within it (`**` or `[`),
# and then it is none. So a link in code stays as it is only where no character of such a mark comes before
# it in that code; everywhere else a bracket too many is better than a preview.


CLOSE_LIMIT: Final = 1000
"""For a text that is all but made of links: the brackets make the shortest of them nearly twice as long."""

_FIRST: Final = r"[^\s<>)]"
_BETWEEN_PARENTHESES: Final = r"[^\s<>\[\]()、。，．「」『』（）【】！？]"
# Up to a closing parenthesis that was not opened: there a Markdown link ends, and the next may begin.
_FURTHER: Final = rf"(?:{_BETWEEN_PARENTHESES}|\({_BETWEEN_PARENTHESES}*\)|\()*+"
_LINK: Final = (
    rf"(?P<link>(?:https?|discord|steam)://(?=[^\s<>])(?:{_FIRST}{_FURTHER})?)"
    rf"|(?P<invite>discord(?:\.gg|(?:app)?\.com/invite)/{_FIRST}{_FURTHER})"
)
_SCHEME: Final = re.compile(r"(?<=https):(?=//)|(?<=http):(?=//)|(?<=discord):(?=//)|(?<=steam):(?=//)", re.I)
_BALANCED: Final = re.compile(r"(?:[^()]|\([^()]*\)|\()*+")
_ANY: Final = re.compile(
    rf"(?P<escape>\\[^0-9A-Za-z\s])|(?<![<\\])(?P<whole><[a-z]+://[^\s<>]+>)|{_LINK}|(?P<ticks>`+)",
    re.IGNORECASE,
)
_OUTSIDE_OF_CODE: Final = re.compile(rf"(?<![<\\])(?P<whole><[a-z]+://[^\s<>]+>)|{_LINK}", re.IGNORECASE)
_TICKS: Final = re.compile("`+")
_TRAILING: Final = ".,:;'\"*_~|`"
_MARK: Final = re.compile(r"[*_~|\[\]<>\\]")
_FENCE: Final = 3


def messages(text: str, *, limit: int, most: int | None = None, ended: bool = True) -> tuple[str, ...]:
    """The messages that together show a model's words, none of which Discord makes a preview for, nor shows
    open what a spoiler hides. Each has at most MESSAGE_LIMIT UTF-16 code units: `limit` of the text, and the
    brackets and marks. With `most` only so many of them. `ended`: no more of the text follows."""
    pieces = _messages(text, limit, most, ended=ended)
    if all(utf16_length(piece) <= MESSAGE_LIMIT for piece in pieces):
        return pieces
    return _messages(text, min(limit, CLOSE_LIMIT), most, ended=ended)


def _messages(text: str, limit: int, most: int | None, *, ended: bool) -> tuple[str, ...]:
    pieces = split(text, limit=limit, most=most)
    shut = keep_spoilers_shut(pieces, ended=ended and (most is None or len(pieces) < most))
    return tuple(map(without_previews, shut))


def without_previews(message: str) -> str:
    """The message, with angle brackets around each link that Discord would make a preview for."""
    shown: list[str] = []
    at = 0
    while match := _ANY.search(message, at):
        shown.append(message[at : match.start()])
        at = match.end()
        if match["ticks"]:
            end = _end_of_code(message, match)
            if end is None:  # what these ticks belong to is in doubt: nothing further is taken for code
                return "".join((*shown, match[0], _OUTSIDE_OF_CODE.sub(_bracket, message[at:])))
            inner = end - len(match[0])
            shown.append(match[0] + _code(message[at:inner]) + message[inner:end])
            at = end
        else:
            shown.append(_bracket(match))
    return "".join((*shown, message[at:]))


def _bracket(match: re.Match[str]) -> str:
    """The link in brackets, with what its end was trimmed of behind them."""
    text = match[0]
    if match["whole"]:
        if _BALANCED.fullmatch(text):
            return f"<{_without_inner_links(text[1:-1])}>"
        return f"< {_OUTSIDE_OF_CODE.sub(_bracket, text[1:])}"
    if not (match["link"] or match["invite"]):
        return text
    link = _trim(text)
    before = " " if match.string[: match.start()].endswith(("<", "\\")) else ""
    address = link if match["link"] else f"https://{link}"
    return f"{before}<{_without_inner_links(address)}>{text[len(link) :]}"


def _without_inner_links(address: str) -> str:
    """The address, with no second one in it that Discord could take for a link of its own. Servers read both
    spellings alike."""
    scheme, rest = address.split("//", 1)
    return f"{scheme}//{_SCHEME.sub('%3A', rest)}"


def _trim(link: str) -> str:
    """The link without the punctuation and the marks that a link ends before."""
    end, unopened = len(link), link.count(")") - link.count("(")
    while link[end - 1] in _TRAILING or (link[end - 1] == ")" and unopened > 0):
        unopened -= link[end - 1] == ")"
        end -= 1
    shorter = link[:end]
    return link if shorter.endswith(("//", "invite/", ".gg/")) else shorter


def _end_of_code(message: str, opening: re.Match[str]) -> int | None:
    """Return the place behind the ticks that close the code which these open: a fence that begins a line,
    or code within one. None if that is in doubt."""
    length = len(opening[0])
    closing = _TICKS.search(message, opening.end())
    while closing and length < _FENCE and len(closing[0]) != length:
        closing = _TICKS.search(message, closing.end())
    if closing is None or length > _FENCE or len(closing[0]) != length:
        return None
    line = message[message.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    is_fence = length == _FENCE and not line.strip(" \t>")
    is_in_line = "\n" not in message[opening.end() : closing.start()]
    return closing.end() if is_fence or is_in_line else None


def _code(code: str) -> str:
    """Code, and brackets around the links behind a mark that may have ended it."""
    mark = _MARK.search(code)
    return (
        code if mark is None else code[: mark.start()] + _OUTSIDE_OF_CODE.sub(_bracket, code[mark.start() :])
    )


# ---- page ----------------------------------------------------------------------------------------------


Part = Literal["reference", "files", "embeds", "components"]
"""What a message may hold besides its text."""

TEXT_LIMIT: Final = 1700
"""Of Discord's 2000 characters a message; the rest is for the brackets around links."""
MAX_PLAIN_MESSAGES: Final = 12
"""Messages of a text that was to come as a file."""
PROPOSAL_COLOUR: Final = 0xC27C0E
PROPOSALS_CHARACTERS: Final = 1800
"""Of all proposals of a message together: with the 4096 of the facts they keep below the 6000 that Discord
takes in the embeds of a message."""


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    custom_id: str
    primary: bool = False
    enabled: bool = True
    danger: bool = False
    """For what can't be undone."""
    url: str = ""
    """Where it leads; then it has no custom id."""


@dataclass(frozen=True, slots=True)
class MenuOption:
    label: str
    """At most 100 characters, as the others."""
    value: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Menu:
    """A list to choose one of; at most 25."""

    custom_id: str
    placeholder: str
    options: tuple[MenuOption, ...]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file to attach, UTF-8."""

    name: str
    text: str
    note: str = field(default="", compare=False)
    """The notice among the page's facts that tells of it."""


@dataclass(frozen=True, slots=True)
class SoundFile:
    """A recording to attach: an answer that is read aloud."""

    name: str
    data: bytes = field(repr=False, default=b"")
    """Empty where it is there already."""


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture to attach, which a tool gave."""

    name: str
    data: bytes = field(repr=False, default=b"")
    """Empty where it is there already."""


@dataclass(frozen=True, slots=True)
class ShownProposal:
    """A change that waits for its user's word, in an embed of its own."""

    title: str
    text: str
    buttons: tuple[Button, ...]
    """To have it done, or not."""


@dataclass(frozen=True, slots=True)
class Page:
    """A Discord message: text, what the bot states about it, rows of buttons, at most one file, pictures."""

    content: str
    """The model's words, or the bot's own; never both."""
    buttons: tuple[Button, ...] = ()
    """What can be done with the answer."""
    file: TextFile | SoundFile | None = None
    receipts: tuple[Button, ...] = ()
    """A row of its own, right under the facts: what can be done about the memories told of there."""
    facts: Facts = NO_FACTS
    proposals: tuple[ShownProposal, ...] = ()
    see: Button | None = None
    """In place of the proposals where there is no room for them."""
    why: str = ""
    """Why they are there, below the last of them."""
    pictures: tuple[PictureFile, ...] = ()

    @property
    def embeds(self) -> list[hikari.Embed]:
        """The embeds of what the bot states, and of what it proposes."""
        proposed = [
            hikari.Embed(title=each.title, description=each.text, colour=PROPOSAL_COLOUR)
            for each in self._inline
        ]
        if proposed and self.why:
            proposed[-1].set_footer(self.why)
        return [*self.facts.embeds(), *proposed]

    @property
    def proposal_rows(self) -> tuple[tuple[Button, ...], ...]:
        """The buttons of two proposals in a row: five of them take three of a message's five rows."""
        buttons = [each.buttons for each in self._inline]
        return tuple(sum(buttons[at : at + 2], ()) for at in range(0, len(buttons), 2))

    @property
    def last_row(self) -> tuple[Button, ...]:
        """The row of buttons for what can be done with the answer, and seen of what there is no room for."""
        hidden = self.proposals and not self._inline and self.see
        return (*self.buttons, self.see) if hidden and self.see else self.buttons

    @property
    def _inline(self) -> tuple[ShownProposal, ...]:
        """The proposals, or none where they take too much room or no embed is taken."""
        length = sum(len(each.title) + len(each.text) for each in self.proposals)
        return () if self.facts.in_buttons or length > PROPOSALS_CHARACTERS else self.proposals

    def parts(self, before: "Page | None") -> frozenset[Part]:
        """Return what a message holds, or an edit that makes this of the page `before`, besides its text."""
        files, rows = _changed_files(before, self), rows_of(self)
        held: dict[Part, bool] = {"files": bool(files), "embeds": bool(self.embeds), "components": bool(rows)}
        return frozenset(part for part, there in held.items() if there)

    def without(self, parts: Collection[Part]) -> "Page":
        """The same without what Discord does not take there. Facts stand in buttons where no embed is
        taken."""
        page = self
        if "files" in parts:
            page = replace(page, pictures=(), file=None)
        if "embeds" in parts:
            page = replace(page, facts=replace(page.facts, in_buttons=True))
        if "components" in parts:
            facts = replace(page.facts, in_buttons=False) if "embeds" not in parts else NO_FACTS
            page = replace(page, buttons=(), receipts=(), proposals=(), see=None, facts=facts)
        return page


def plain_pages(page: Page) -> tuple[Page, ...]:
    """Show in several messages what a page has in a text file, up to MAX_PLAIN_MESSAGES of them; all else
    stands in the last one."""
    if not isinstance(page.file, TextFile) or not page.file.text:
        return (page,)
    file = page.file
    *full, last = messages(file.text, limit=TEXT_LIMIT, most=MAX_PLAIN_MESSAGES + 1)
    if len(full) >= MAX_PLAIN_MESSAGES:
        full, last = full[:-1], f"{full[-1]}\n…"
    notices = tuple(notice for notice in page.facts.notices if notice != file.note)
    facts = replace(page.facts, notices=notices)
    return (*map(Page, full), replace(page, content=last, file=None, facts=facts))


# ---- keywords --------------------------------------------------------------------------------------------
# A page as hikari takes it.

NO_PINGS: Final[dict[str, Any]] = {
    "mentions_everyone": False,
    "user_mentions": False,
    "role_mentions": False,
}
"""Model output never pings anyone."""
LABEL_CHARACTERS: Final = 80
"""Of a button, as Discord has it."""
BUTTONS_IN_A_ROW: Final = 5
MOST_FACT_ROWS: Final = 3
"""Of the five rows of a message; two are for what can be done."""


def new_message(page: Page) -> dict[str, Any]:
    """Return what a new message says, as keywords of hikari's."""
    return {
        "content": page.content,
        "embeds": page.embeds,
        "components": rows_of(page),
        "attachments": files_of(page),
        **NO_PINGS,
    }


def changes_to(before: Page | None, page: Page) -> dict[str, Any]:
    """Return what an edit says, as keywords of hikari's."""
    return {
        "content": page.content,
        "embeds": page.embeds,
        "components": rows_of(page),
        "attachments": _changed_files(before, page),
        **NO_PINGS,
    }


def rows_of(page: Page) -> list[MessageActionRowBuilder]:
    """List all that can be pressed on a page, and its facts where they stand in buttons."""
    return components(*fact_rows(page.facts), page.receipts, *page.proposal_rows, page.last_row)


def fact_rows(facts: Facts) -> list[tuple[Button, ...]]:
    """Facts as buttons that can't be pressed, one in a row as long as there are rows; no model writes
    components either. None where an embed has them."""
    buttons = [
        Button(shorten(label, LABEL_CHARACTERS), f"{FACT_ID}{number}", enabled=False)
        for number, label in enumerate(facts.labels()[: MOST_FACT_ROWS * BUTTONS_IN_A_ROW])
    ]
    width = max(1, math.ceil(len(buttons) / MOST_FACT_ROWS))
    return [tuple(buttons[at : at + width]) for at in range(0, len(buttons), width)]


def looks_like(message: hikari.Message, page: Page) -> bool:
    """Return whether a message says and states what a page does."""
    stated = [embed.description or "" for embed in page.embeds]
    there = [embed.description or "" for embed in message.embeds if not embed.url]
    return (message.content or "").strip() == page.content.strip() and there == stated


def components(*rows: Sequence[Button], menu: Menu | None = None) -> list[MessageActionRowBuilder]:
    """A menu, and below it rows of at most five buttons; empty ones are left out."""
    built = [] if menu is None else [_menu(menu)]
    return built + [_row(buttons) for buttons in rows if buttons]


def _menu(menu: Menu) -> MessageActionRowBuilder:
    row = MessageActionRowBuilder()
    choice = row.add_text_menu(menu.custom_id, placeholder=menu.placeholder, min_values=1)
    for option in menu.options:
        choice.add_option(option.label, option.value, description=option.description or hikari.UNDEFINED)
    return row


def _row(buttons: Sequence[Button]) -> MessageActionRowBuilder:
    row = MessageActionRowBuilder()
    for button in buttons:
        if button.url:
            row.add_link_button(button.url, label=button.label)
            continue
        row.add_interactive_button(
            _style(button), button.custom_id, label=button.label, is_disabled=not button.enabled
        )
    return row


def _style(button: Button) -> hikari.InteractiveButtonTypesT:
    if button.danger:
        return hikari.ButtonStyle.DANGER
    return hikari.ButtonStyle.PRIMARY if button.primary else hikari.ButtonStyle.SECONDARY


def files_of(page: Page) -> list[hikari.Bytes]:
    """List all that is attached to a page, as hikari takes it."""
    pictures = [hikari.Bytes(each.data, each.name) for each in page.pictures if each.data]
    match page.file:
        case TextFile(name, text):
            return [hikari.Bytes(text.encode(), name), *pictures]
        case SoundFile(name, data):
            return [hikari.Bytes(data, name), *pictures]
        case None:
            return pictures


def _changed_files(before: Page | None, page: Page) -> hikari.UndefinedNoneOr[list[hikari.Bytes]]:
    """Leave the files alone unless they change: an edit would upload them again. To hikari, None takes them
    away, and an empty list means nothing."""
    there = (before.file, before.pictures) if before else (None, ())
    if there == (page.file, page.pictures):
        return hikari.UNDEFINED
    return files_of(page) or None
