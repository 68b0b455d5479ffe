"""Receipts whose change was taken back, from wherever: a message must not tell of it as if it held.

What a line says is made of what has become of its memory or reminder at the moment it is shown. Where lines
and buttons are on record (stores/receipts.py), each line is known, and one that was taken back says again
what holds again; else they are told apart by their order.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import hikari
import structlog

from cc_bot.discord.delivery.outlets import reply_in_place
from cc_bot.discord.delivery.reply import Reply
from cc_bot.discord.pages.answer import page_of
from cc_bot.discord.pages.custom_ids import (
    KnownMemory,
    UndoButton,
    UnscheduleButton,
    UntellButton,
    parse_custom_id,
)
from cc_bot.discord.pages.page import Button, Page, changes_to
from cc_bot.discord.pages.receipts import Carried, receipt_buttons, receipt_facts, takes_back
from cc_bot.discord.recipients import Recipients
from cc_bot.domain.errors import StorageError
from cc_bot.domain.locale import Locale
from cc_bot.domain.memory import Memory, MemoryState, Named, Receipt, ReceiptLine, ReceiptMessage
from cc_bot.domain.message import Visibility
from cc_bot.domain.schedule import Schedule
from cc_bot.in_order import InOrder, Pace
from cc_bot.stores import Stores
from cc_bot.texts import Texts, texts

_log = structlog.get_logger(__name__)

# ---- undone --------------------------------------------------------------------------------------------


_MARKS: Final = ("💾", "✏", "🗑", "⏰", "🔁")
_NOTHING_DONE: Final = tuple(texts(locale).receipt.unchanged.partition("{")[0] for locale in Locale)
_TAKEN_BACK: Final = frozenset(texts(locale).receipt.taken_back for locale in Locale)
_STILL_TOLD: Final = frozenset(texts(locale).receipt.still_told for locale in Locale)
_UNKNOWN_LINE: Final = 1000
"""From here on: a line that is there, nobody can tell which."""

Standing = Literal["holds", "moved", "undone"]
"""moved: it was done, and there is nothing left to take back: something else was done since."""

_TakesBack = UndoButton | UnscheduleButton | KnownMemory


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that says again what it said before it was taken back."""

    text: str
    button: Button | None


async def bring_up_to_date(
    page: Page, stores: Stores, words: Texts, told: ReceiptMessage | None = None
) -> Page:
    """A message that says of what was taken back since that it was, without saying again what it was, and
    that offers to take back nothing else than what holds. `told` is what is on record of it."""
    known = {each.custom_id for each in page.receipts if takes_back(each)}
    lines = told.lines if told else ()
    standings = await _standings(known | {each.button for each in lines}, stores)
    if lines and all(_is_ours(page, each) for each in lines):
        again = (
            await _lines_again(page, lines, standings, stores, words, private=told.visibility == "private")
            if told
            else {}
        )
        return _revise(page, lines, standings, again, words.receipt.taken_back)
    undone = [each for each in known if standings[each] == "undone"]
    page = _tell(page, undone, words.receipt.taken_back) if undone else page
    gone = [each for each in known if standings[each] == "moved"]
    return _without(page, gone) if gone else page


async def without_undone(
    page: Page, stores: Stores, words: Texts, told: ReceiptMessage | None = None
) -> Page:
    """An answer's last message without what was taken back since: for the answer that takes its place."""
    page = await bring_up_to_date(page, stores, words, told)
    return replace(
        page,
        facts=replace(
            page.facts,
            receipts=tuple(line for line in page.facts.receipts if line not in _TAKEN_BACK),
            notices=tuple(line for line in page.facts.notices if line not in _TAKEN_BACK),
        ),
    )


def told_lines(page: Page) -> tuple[ReceiptLine, ...]:
    """The lines of a message that can be taken back, with their buttons."""
    buttons = [each.custom_id for each in page.receipts if takes_back(each)]
    lines = _lines_with_buttons(page)
    if len(lines) != len(buttons):
        lines = range(_UNKNOWN_LINE, _UNKNOWN_LINE + len(buttons))
    return tuple(
        ReceiptLine(line, named, button)
        for line, button in zip(lines, buttons, strict=True)
        if (named := name_of(button))
    )


def still_known(page: Page, told: ReceiptMessage | None) -> tuple[ReceiptLine, ...]:
    """Keep of what is on record of a message the lines that a memory was known already, as far as it has
    them."""
    lines = page.facts.receipts
    return tuple(
        each
        for each in (told.lines if told else ())
        if isinstance(_parse(each.button), KnownMemory)
        and each.line < len(lines)
        and (lines[each.line] in _TAKEN_BACK or lines[each.line].startswith(_NOTHING_DONE))
    )


def name_of(custom_id: str) -> Named | None:
    """Return what a button takes back something of."""
    match _parse(custom_id):
        case UndoButton(memory_id=number) | KnownMemory(memory_id=number):
            return Named("memory", number)
        case UnscheduleButton(schedule_id=number):
            return Named("schedule", number)
        case None:
            return None


def _parse(custom_id: str) -> _TakesBack | None:
    button = parse_custom_id(custom_id) or KnownMemory.read(custom_id)
    return button if isinstance(button, _TakesBack) else None


async def _standings(custom_ids: Collection[str], stores: Stores) -> Mapping[str, Standing]:
    parsed = {each: button for each in custom_ids if (button := _parse(each))}
    on_memories = [each for each in parsed.values() if isinstance(each, UndoButton | KnownMemory)]
    ids = {each.memory_id for each in on_memories}
    ids |= {each.former_id for each in on_memories if isinstance(each, UndoButton)}
    states = await stores.receipts.get_states(on_memories[0].user_id, ids) if on_memories else {}
    found = dict[str, Standing]()
    for custom_id, button in parsed.items():
        if isinstance(button, UndoButton):
            found[custom_id] = _of_memory(button, states)
        elif isinstance(button, KnownMemory):
            there = states.get(button.memory_id)
            found[custom_id] = "undone" if there is None or there.status == "deleted" else "holds"
        else:
            schedule = await stores.schedules.get(button.user_id, button.schedule_id)
            found[custom_id] = _of_schedule(schedule)
    return found


def _of_schedule(schedule: Schedule | None) -> Standing:
    if schedule is None:
        return "undone"
    return "moved" if schedule.status == "done" else "holds"  # it was kept: there is nothing left to cancel


def _of_memory(button: UndoButton, states: Mapping[int, MemoryState]) -> Standing:
    now = states.get(button.memory_id)
    if now is not None and now.status == "superseded":
        return "moved"
    there = now is not None and now.status == "active"
    if button.action == "deleted":
        return "undone" if there else "holds"
    if not there:
        return "undone"
    if now and (now.former_id or 0) == button.former_id:
        return "holds"
    if button.action == "added":
        return "moved"
    return "moved" if button.former_id in states else "undone"  # an undone update leaves no version behind


def _is_ours(page: Page, each: ReceiptLine) -> bool:
    """Return whether a message still has the line where the record has it."""
    lines = page.facts.receipts
    return each.line < len(lines) and (lines[each.line] in _TAKEN_BACK or lines[each.line].startswith(_MARKS))


async def _lines_again(
    page: Page,
    lines: Collection[ReceiptLine],
    standings: Mapping[str, Standing],
    stores: Stores,
    words: Texts,
    *,
    private: bool,
) -> Mapping[str, _Line]:
    """Return what is said of what was taken back and holds again, because a deletion was undone."""
    found = dict[str, _Line]()
    for each in lines:
        button = _parse(each.button)
        back = page.facts.receipts[each.line] in _TAKEN_BACK and standings[each.button] == "holds"
        if not back or not isinstance(button, UndoButton | KnownMemory):
            continue
        if isinstance(button, KnownMemory):
            memory = await stores.memories.get(button.user_id, button.memory_id)
            if memory is not None:
                found[each.button] = _Line(_line_again(memory, words, private=private), None)
            continue
        if button.action == "deleted":
            continue
        memory = await stores.memories.get(button.user_id, button.memory_id)
        if memory is None:
            continue
        former_id = button.former_id or None
        receipt = Receipt(
            button.action,
            memory.id,
            memory.content,
            former_id,
            replaced=button.action == "added" and former_id is not None,
            private=memory.audience == "private",
        )
        others = Carried((), tuple(one for one in page.receipts if takes_back(one)))
        [text] = receipt_facts((receipt,), Carried(), words, private=private).receipts
        made = receipt_buttons((receipt,), (), others, words, button.user_id, private=private)
        label = next(one.label for one in made if one not in others.buttons)
        found[each.button] = _Line(text, Button(label, each.button))
    return found


def _line_again(memory: Memory, words: Texts, *, private: bool) -> str:
    hidden = memory.audience == "private"
    known = Receipt("unchanged", memory.id, memory.content, private=hidden, number=memory.number)
    [line] = receipt_facts((known,), Carried(), words, private=private).receipts
    return line


def _revise(
    page: Page,
    lines: Collection[ReceiptLine],
    standings: Mapping[str, Standing],
    again: Mapping[str, _Line],
    taken_back: str,
) -> Page:
    stated, there = list(page.facts.receipts), {each.custom_id: each for each in page.receipts}
    kept = list[Button]()
    for each in lines:
        line = again.get(each.button)
        if line:
            stated[each.line] = line.text
        elif standings[each.button] == "undone":
            stated[each.line] = taken_back
        button = line.button if line else there.get(each.button)
        if standings[each.button] == "holds" and button:
            kept.append(button)
    on_record = {each.button for each in lines}
    others = (each for each in page.receipts if each.custom_id not in on_record)
    left = replace(page, facts=replace(page.facts, receipts=tuple(stated)), receipts=(*kept, *others))
    return left if Carried.over(left).forgotten else _without_untelling(left)


def _lines_with_buttons(page: Page) -> Collection[int]:
    """A line of which nothing can be taken back has no button."""
    return [
        at
        for at, line in enumerate(page.facts.receipts)
        if line.startswith(_MARKS) and not line.startswith(_NOTHING_DONE)
    ]


def _tell(page: Page, undone: Collection[str], taken_back: str) -> Page:
    """Lines and buttons stand in the same order. Where that can't be told, and under a reminder, the last
    notice says it."""
    lines, told = page.facts.receipts, _lines_with_buttons(page)
    buttons = [each.custom_id for each in page.receipts if takes_back(each)]
    if told and len(told) == len(buttons):
        gone = {at for at, button in zip(told, buttons, strict=True) if button in undone}
        facts = replace(
            page.facts,
            receipts=tuple(taken_back if at in gone else line for at, line in enumerate(lines)),
        )
    else:
        once_more = buttons[0] in undone  # that a reminder comes once more is a notice
        notices = (each for each in page.facts.notices if not (once_more and each.startswith(_MARKS)))
        facts = replace(page.facts, notices=(*notices, taken_back))
    left = _without(replace(page, facts=facts), undone)
    return left if Carried.over(left).forgotten else _without_untelling(left)


def _without(page: Page, buttons: Collection[str]) -> Page:
    return replace(page, receipts=tuple(each for each in page.receipts if each.custom_id not in buttons))


def _without_untelling(page: Page) -> Page:
    """Drop the offer: nothing is forgotten any more that conversations could still tell of."""
    return replace(
        page,
        facts=replace(
            page.facts, notices=tuple(each for each in page.facts.notices if each not in _STILL_TOLD)
        ),
        receipts=tuple(
            each for each in page.receipts if not isinstance(parse_custom_id(each.custom_id), UntellButton)
        ),
    )


# ---- receipt upkeep ------------------------------------------------------------------------------------
# Messages that tell what was done to memories and reminders, kept true: whatever changes one of those has
# the messages that name it shown anew.


MOST: Final = 25
"""Messages that are shown anew when all of a user's is erased, the newest: nothing is on record any more that
a later run could go on with."""


class ReceiptUpkeep:
    """The upkeep of receipts, in the background, for each user one change after the other: nobody waits for
    messages that they do not look at."""

    def __init__(self, rest: hikari.api.RESTClient, stores: Stores, pace: Pace) -> None:
        self._rest = rest
        self._pace = pace
        self._stores = stores
        self._order = InOrder()
        self.changes = InOrder()
        """Of each message, by its id: whoever changes it begins with what it is by then, and none is lost."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def as_it_is(self, page: Page, words: Texts) -> Page:
        """A message that is about to be shown, as far as it holds by now: it may be made from what was stored
        before something was taken back."""
        return await bring_up_to_date(page, self._stores, words) if page.receipts else page

    async def carry_over(self, message: hikari.Message, user_id: int, words: Texts) -> Page:
        """A shown message as the answer begins that takes its place."""
        told = await self._stores.receipts.get(user_id, int(message.id))
        return await without_undone(page_of(message, words.locale), self._stores, words, told)

    async def refresh_pressed(
        self, interaction: hikari.ComponentInteraction, user_id: int, words: Texts
    ) -> None:
        """The message of an accepted press, and others that name the same, once that may be taken back."""
        message_id = int(interaction.message.id)
        async with self.changes.after(message_id):
            page = page_of(await interaction.fetch_initial_response(), words.locale)
            told = await self._stores.receipts.get(user_id, message_id)
            now = await bring_up_to_date(page, self._stores, words, told)
            await reply_in_place(interaction, page).show((now,))
        if told:
            await self._stores.receipts.settle(told)
        self.refresh(user_id, words)

    async def record(
        self,
        reply: Reply,
        user_id: int,
        visibility: Visibility,
        words: Texts,
        known: Sequence[ReceiptLine] = (),
    ) -> None:
        """Store what the last message of a reply says now, and update other messages in the background.
        Called before the reply counts as shown, so that after a crash it is stored by the next run. `known`:
        lines of which nothing can be taken back."""
        page = reply.last_page
        if page is not None and (page.facts.receipts or told_lines(page)):
            await _guarded(self._note(reply, page, user_id, visibility, known))
            self.refresh(user_id, words)

    def refresh(self, user_id: int, words: Texts) -> None:
        """Have the messages that tell of what was changed say what has become of it."""
        self._begin(user_id, self._refresh(user_id, words))

    async def newest(self, user_id: int) -> Sequence[ReceiptMessage]:
        """The messages of a user that are shown anew when all is erased. Raises StorageError."""
        return await self._stores.receipts.list_newest(user_id, most=MOST)

    def refresh_these(self, messages: Sequence[ReceiptMessage], words: Texts) -> None:
        """Show all of one user anew."""
        if messages:
            self._begin(messages[0].user_id, self._show_anew(messages, words))

    async def catch_up(self, recipients: Recipients) -> None:
        """Show anew what the last run of the program was ended before showing. Raises StorageError."""
        of_user = defaultdict[int, list[ReceiptMessage]](list)
        for told in await self._stores.receipts.list_all_stale():
            of_user[told.user_id].append(told)
        for user_id, messages in of_user.items():
            recipient = await recipients.of_author(user_id)
            self._begin(user_id, self._show_anew(messages, recipient.words))

    async def settle(self) -> None:
        """Wait until all that was begun is shown."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, user_id: int, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self._in_turn(user_id, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_turn(self, user_id: int, work: Coroutine[None, None, None]) -> None:
        try:
            async with self._order.after(user_id):
                await _guarded(work)
        finally:
            work.close()

    async def _note(
        self,
        reply: Reply,
        page: Page,
        user_id: int,
        visibility: Visibility,
        known: Sequence[ReceiptLine],
    ) -> None:
        place = await reply.last_place()
        if place is not None:
            before = None if known else await self._stores.receipts.get(user_id, place[1])
            lines = (*told_lines(page), *(known or still_known(page, before)))
            await self._stores.receipts.note(ReceiptMessage(user_id, *place, visibility, lines))

    async def _refresh(self, user_id: int, words: Texts) -> None:
        await self._show_anew(await self._stores.receipts.list_stale(user_id), words)

    async def _show_anew(self, messages: Collection[ReceiptMessage], words: Texts) -> None:
        """Show messages anew; what can't be reached stays as it is."""
        for told in messages:
            try:
                await self._pace.wait()
                if await self._change(told, words):
                    await self._pace.wait()  # for the second request, when nobody who presses waits for it
            except hikari.ClientHTTPResponseError as error:
                _log.info("receipt_not_reached", error=type(error).__name__)
            except hikari.HikariError as error:
                _log.info("receipt_waits", error=type(error).__name__)
                continue  # until the next start
            await self._stores.receipts.settle(told)

    async def _change(self, told: ReceiptMessage, words: Texts) -> bool:
        """Bring a message up to date. Return whether it was not. Raises StorageError and hikari's errors."""
        async with self.changes.after(told.message_id):
            page = page_of(await self._rest.fetch_message(told.channel_id, told.message_id), words.locale)
            now = await bring_up_to_date(page, self._stores, words, told)
            if now == page:
                return False
            await self._rest.edit_message(told.channel_id, told.message_id, **changes_to(page, now))
            return True


async def _guarded(work: Awaitable[None]) -> None:
    """Log the failure of work that no user waits for."""
    try:
        await work
    except (StorageError, hikari.HikariError) as error:
        _log.warning("receipts_not_kept_up", error=type(error).__name__)
    except Exception:  # noqa: BLE001 - the record has where it happened
        _log.error("receipts_not_kept_up", exc_info=True)
