"""Open forms: what MCP servers ask the user during a call (elicitation). A form ends with its call or the
process."""

import asyncio
import secrets
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field

import hikari
import structlog

from cc_bot.discord.delivery.reply import PostUncertain, Reply
from cc_bot.discord.pages.forms import form_page
from cc_bot.discord.pages.page import Page
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.form import Form
from cc_bot.texts import explain

_log = structlog.get_logger(__name__)


@dataclass(eq=False, slots=True)
class OpenForm:
    form: Form
    answered: asyncio.Future[Mapping[str, str] | None]
    """None if the user declines."""
    entered: Mapping[str, str] = field(default_factory=dict)
    """Invalid values."""

    def answer(self, entered: Mapping[str, str] | None) -> None:
        """Submit an answer, unless there is one already."""
        if not self.answered.done():
            self.answered.set_result(entered)


@dataclass(eq=False, slots=True)
class OpenForms:
    _open: dict[str, OpenForm] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def find(self, key: str) -> OpenForm | None:
        """Return the form of this key while it can be answered."""
        found = self._open.get(key)
        return None if found is None or found.answered.done() else found

    def open(self, form: Form) -> tuple[str, OpenForm]:
        key = secrets.token_hex(8)
        self._open[key] = OpenForm(form, asyncio.get_running_loop().create_future())
        return key, self._open[key]

    def close(self, key: str, after: Coroutine[None, None, None]) -> None:
        """Close a form, and run `after` in the background."""
        self._open.pop(key, None)
        task = asyncio.create_task(after)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def asker(self, reply: Reply, recipient: Recipient) -> "FormAsker":
        return FormAsker(self, reply, recipient)


@dataclass(eq=False, slots=True)
class FormAsker:
    """Asks in a separate message, ephemeral if the reply is (an Asker)."""

    forms: OpenForms
    reply: Reply
    recipient: Recipient

    async def ask(self, form: Form) -> Mapping[str, str] | None:
        words, (key, opened) = self.recipient.words.form, self.forms.open(form)
        told, message_id = words.over, None
        try:
            page = form_page(form, key, self.recipient.user_id, self.recipient.words)
            message_id = await self.reply.post_extra(page)
            entered = await opened.answered
            told = (words.declined if entered is None else words.answered).format(server=form.server)
            return entered
        finally:
            self.forms.close(key, self._show_end(message_id, told))

    async def tell(self, refusal: CcBotError) -> None:
        try:
            await self.reply.post_extra(Page(explain(refusal, self.recipient.words)))
        except (hikari.HikariError, PostUncertain) as error:
            _log.warning("refusal_not_shown", error=type(error).__name__)

    async def _show_end(self, message_id: hikari.Snowflake | None, told: str) -> None:
        """Never raises hikari's errors."""
        if message_id is None:
            return
        try:
            await self.reply.edit_beside(message_id, Page(told))
        except hikari.HikariError as error:  # its buttons then say so
            _log.warning("form_not_closed", error=type(error).__name__)
