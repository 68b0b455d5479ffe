"""Shows forms of MCP servers on Discord. A form is open until its call ends."""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import hikari
from hikari.impl import ModalActionRowBuilder

from cc_bot.chat.parts import Parts
from cc_bot.concurrency import Tasks
from cc_bot.discord.delivery.reply import DiscordReply, NotPosted
from cc_bot.discord.delivery.turns import FormAskers
from cc_bot.discord.gate import OwnerNews
from cc_bot.discord.pages.custom_ids import Control
from cc_bot.discord.pages.markdown import without_previews
from cc_bot.discord.pages.page import Button, Page
from cc_bot.discord.pages.proposals import quote
from cc_bot.discord.recipients import Recipient
from cc_bot.domain.errors import CcBotError
from cc_bot.domain.forms import Form, FormAsker, FormField
from cc_bot.domain.text import one_line, shorten
from cc_bot.features.mcp.model import FORM_TIMEOUT_S, MAX_ENTRY_LENGTH
from cc_bot.features.mcp.servers import Servers
from cc_bot.features.mcp.texts import FormTexts, ToolServersTexts
from cc_bot.log import log_failure
from cc_bot.texts import Texts, explain


def make_parts(given: Parts) -> Iterable[object]:
    yield OpenForms()
    if servers := given.get(Servers):
        yield WithheldTools(servers)


class FormButton(Control, head="form"):
    action: Literal["fill", "skip"]
    user_id: int
    form_key: str


class FormModal(Control, head="sheet", is_form=True):
    user_id: int
    form_key: str


@dataclass(eq=False, slots=True)
class OpenForm:
    form: Form
    result: asyncio.Future[Mapping[str, str] | None]  # entries by field name; None if the user declines
    entries: Mapping[str, str] = field(default_factory=dict)

    def answer(self, entries: Mapping[str, str] | None) -> None:
        if not self.result.done():
            self.result.set_result(entries)


@dataclass(eq=False, slots=True)
class OpenForms(FormAskers):
    by_key: dict[str, OpenForm] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=Tasks)

    def find(self, key: str) -> OpenForm | None:
        open_form = self.by_key.get(key)
        return None if open_form is None or open_form.result.done() else open_form

    def for_reply(self, reply: DiscordReply, recipient: Recipient) -> FormAsker:
        return DiscordFormAsker(self, reply, recipient)


@dataclass(eq=False, slots=True)
class DiscordFormAsker(FormAsker):
    """Shows forms in a separate message, ephemeral if the reply is."""

    forms: OpenForms
    reply: DiscordReply
    recipient: Recipient

    async def ask(self, form: Form) -> Mapping[str, str] | None:
        words, key = self.recipient.words[FormTexts], secrets.token_hex(8)
        open_form = OpenForm(form, asyncio.get_running_loop().create_future())
        self.forms.by_key[key] = open_form
        outcome, message_id = words.ended, None
        try:
            page = form_page(form, key, self.recipient.user_id, self.recipient.words)
            message_id = await self.reply.post_extra(page)
            entries = await open_form.result
            outcome = (words.declined if entries is None else words.answered).format(server=form.server)
            return entries
        finally:
            del self.forms.by_key[key]
            self.forms.tasks.start(self._show_outcome(message_id, outcome))

    async def show_error(self, refusal: CcBotError) -> None:
        with log_failure("refusal_not_shown", hikari.HikariError, NotPosted):
            await self.reply.post_extra(Page(explain(refusal, self.recipient.words)))

    async def _show_outcome(self, message_id: hikari.Snowflake | None, outcome: str) -> None:
        if message_id is None:
            return
        with log_failure("form_not_closed", hikari.HikariError):  # pressing a button still shows the outcome
            await self.reply.edit_extra(message_id, Page(outcome))


@dataclass(eq=False, slots=True)
class WithheldTools(OwnerNews):
    servers: Servers

    async def next(self, words: Texts) -> str:
        server = await self.servers.servers_to_report.get()
        return words[ToolServersTexts].servers_to_report.format(server=one_line(server))


MAX_SHOWN_MESSAGE_LENGTH: Final = 600
MAX_TITLE_LENGTH: Final = 45
MAX_PLACEHOLDER_LENGTH: Final = 100
_MAX_SHORT_INPUT_LENGTH: Final = 200


def form_page(form: Form, key: str, user_id: int, words: Texts) -> Page:
    introduction = words[FormTexts].introduction.format(server=form.server, minutes=FORM_TIMEOUT_S // 60)
    message = quote(shorten(form.message.strip(), MAX_SHOWN_MESSAGE_LENGTH))
    return Page(without_previews(f"{introduction}\n{message}"), form_buttons(key, user_id, words))


def form_buttons(key: str, user_id: int, words: Texts) -> tuple[Button, ...]:
    return (
        Button(words[FormTexts].fill, FormButton("fill", user_id, key).custom_id(), primary=True),
        Button(words[FormTexts].skip, FormButton("skip", user_id, key).custom_id()),
    )


def modal_fields(form: Form, entries: Mapping[str, str], words: Texts) -> list[ModalActionRowBuilder]:
    """Return the text inputs. Their ids are positions, as a server may give a field any name."""
    rows = list[ModalActionRowBuilder]()
    for number, form_field in enumerate(form.fields):
        default_labels = (each.label for each in form_field.choices if each.value == form_field.default)
        default = next(default_labels, form_field.default)
        is_long = form_field.kind == "text" and (form_field.maximum or 0) > _MAX_SHORT_INPUT_LENGTH
        row = ModalActionRowBuilder().add_text_input(
            str(number),
            shorten(one_line(form_field.title), MAX_TITLE_LENGTH) or "?",
            style=hikari.TextInputStyle.PARAGRAPH if is_long else hikari.TextInputStyle.SHORT,
            value=entries.get(form_field.name, default)[:MAX_ENTRY_LENGTH] or hikari.UNDEFINED,
            placeholder=_placeholder(form_field, words) or hikari.UNDEFINED,
            required=form_field.required,
            max_length=MAX_ENTRY_LENGTH,
        )
        rows.append(row)
    return rows


def read_entries(form: Form, values: Mapping[str, str]) -> Mapping[str, str]:
    return {field.name: values.get(str(number), "") for number, field in enumerate(form.fields)}


def _placeholder(field: FormField, words: Texts) -> str:
    if field.kind == "yes_or_no":
        options = words[FormTexts].yes_or_no
    else:
        options = " / ".join(choice.label for choice in field.choices)
    placeholder = f"{field.hint} ({options})" if field.hint and options else field.hint or options
    return shorten(one_line(placeholder), MAX_PLACEHOLDER_LENGTH)
