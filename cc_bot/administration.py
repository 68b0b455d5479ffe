"""Administration: what owners decide while the bot runs, whichever front end they do it from.

Whoever calls this has asked whether its user is an owner, before anything else. What was changed is put on
record once it is done: ids, numbers and names that the program knows, never what an owner wrote.
"""

import asyncio
import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

import structlog

from cc_bot.domain.access import AccessRules, Ruling, Subject, ids_of
from cc_bot.domain.errors import (
    CcBotError,
    LimitNotForChannels,
    LimitNotForServers,
    LimitNotUnderstood,
    ModelNotFound,
    ModelsNotUnderstood,
    SubjectNotUnderstood,
)
from cc_bot.domain.limits import DEFAULT_RULES, EVERYONE, LIMIT_NAMES, MAX_LIMIT, QUOTAS, LimitKey, LimitName
from cc_bot.domain.text import one_line, without_controls
from cc_bot.domain.tool_server import ToolDetails, ToolServerReport
from cc_bot.mcp.servers import Servers
from cc_bot.policy import Policies
from cc_bot.stores import AccessStore, ChannelModelStore, LimitStore
from cc_bot.texts import Texts

_log = structlog.get_logger(__name__)

# ---- subjects ----------------------------------------------------------------------------------------------
# Naming users, roles, channels and servers in a text, and showing them again.
#
# An option of Discord's own kinds takes only what is in the server that a command is given in. Owners also
# decide about other servers, from their DMs and from a browser, so they write a mention or an id.

_MENTION: Final = re.compile(r"<(@!?|@&|#)(\d{1,19})>")
_SIGNS: Final[dict[str, Subject]] = {"@": "user", "@!": "user", "@&": "role", "#": "channel"}
_LARGEST: Final = 2**63


@dataclass(frozen=True, slots=True)
class Mentionable:
    """A user, role, channel or server."""

    subject: Subject
    id: int

    def mention(self, words: Texts) -> str:
        """Write it so that Discord shows it by its name, where it has a mention."""
        match self.subject:
            case "user":
                return f"<@{self.id}>"
            case "role":
                return f"<@&{self.id}>"
            case "channel":
                return f"<#{self.id}>"
            case "guild":
                return words.admin.guild.format(id=self.id)

    def phrase(self, words: Texts) -> str:
        """The same within a sentence."""
        shown = self.mention(words)
        return words.admin.person.format(mention=shown) if self.subject == "user" else shown


def parse_mention(text: str, kind: Subject | None, guild_id: int | None) -> Mentionable | None:
    """Return what a mention or an id of a `kind` says; a server without an id is the one asked in. None for
    what can't be told, or says two things."""
    text = unicodedata.normalize("NFKC", text).strip()
    if mention := _MENTION.fullmatch(text):
        found = Mentionable(_SIGNS[mention[1]], int(mention[2]))
        return found if kind in (None, found.subject) and 0 < found.id < _LARGEST else None
    if kind is None:
        return None
    if not text and kind == "guild" and guild_id is not None:
        return Mentionable(kind, guild_id)
    if re.fullmatch(r"[0-9]{1,19}", text) and 0 < int(text) < _LARGEST:
        return Mentionable(kind, int(text))
    return None


def parse_subject(text: str, kind: Subject | None, guild_id: int | None = None) -> Mentionable:
    """Return whom something is decided about. Raises SubjectNotUnderstood."""
    found = parse_mention(text, kind, guild_id)
    if found is None:
        raise SubjectNotUnderstood
    return found


# ---- what is decided ---------------------------------------------------------------------------------------

MAX_MODELS: Final = 5
MAX_MODEL_CHARACTERS: Final = 100
MAX_NOTE_CHARACTERS: Final = 300

LimitSource = Literal["here", "file", "default"]


@dataclass(frozen=True, slots=True)
class LimitInForce:
    """A limit that holds."""

    key: LimitKey
    value: int | None
    """None: no limit."""
    source: LimitSource
    """`here`: an owner set it while the bot ran, which goes before the operator's file."""


def parse_limit(limit: str, text: str, kind: Subject | None, guild_id: int | None = None) -> LimitKey:
    """Return which limit that is, and whom it is about: everyone, where nothing says so. Raises
    LimitNotUnderstood, SubjectNotUnderstood, LimitNotForChannels and LimitNotForServers."""
    name: LimitName | None = next((each for each in LIMIT_NAMES if each == limit), None)
    if name is None:
        raise LimitNotUnderstood
    if not text.strip() and kind is None:
        return LimitKey("everyone", EVERYONE, name)
    found = parse_subject(text, kind, guild_id)
    if found.subject == "channel":
        raise LimitNotForChannels
    if found.subject == "guild" and name in QUOTAS:
        raise LimitNotForServers
    return LimitKey(found.subject, found.id, name)


def parse_limit_value(text: str) -> int | None:
    """Return how much may be used; None, no limit, where nothing is written. Raises LimitNotUnderstood."""
    written = unicodedata.normalize("NFKC", text).strip().replace(",", "")
    if not written:
        return None
    if not re.fullmatch(r"[0-9]{1,16}", written) or not 1 <= int(written) <= MAX_LIMIT:
        raise LimitNotUnderstood
    return int(written)


def parse_chain(text: str) -> tuple[str, ...]:
    """Return the names in a list. What a server calls its models is its own affair, so only their form is
    looked at. Raises ModelsNotUnderstood."""
    names = tuple(
        dict.fromkeys(
            name.strip() for name in re.split("[,、]", unicodedata.normalize("NFKC", text)) if name.strip()
        )
    )
    fit = all(len(name) <= MAX_MODEL_CHARACTERS and name.isprintable() and "`" not in name for name in names)
    if not names or len(names) > MAX_MODELS or not fit:
        raise ModelsNotUnderstood
    return names


@dataclass(frozen=True, slots=True)
class AccessInForce:
    """The rules of who may use the bot, by where they stand."""

    in_file: AccessRules
    set_here: AccessRules


@dataclass(frozen=True, slots=True)
class RuleRemoval:
    """The outcome of taking a rule back."""

    removed: bool
    """Whether there was one."""
    also_in_file: bool
    """Whether the operator's file has one about the same, which goes on holding."""


# ---- administration ----------------------------------------------------------------------------------------

Change = Literal[
    "limit_set",
    "limit_unset",
    "access_set",
    "access_removed",
    "models_set",
    "models_unset",
    "tools_accepted",
    "maintenance_begun",
    "maintenance_ended",
]


@dataclass(eq=False, slots=True)
class Administration:
    """The decisions of owners. Everything raises StorageError."""

    limits: LimitStore
    access: AccessStore
    models: ChannelModelStore
    policies: Policies
    served: "ServedModels"
    servers: Servers

    def list_servers(self) -> tuple[ToolServerReport, ...]:
        """Tell how each server with tools is, in the order of the operator's file."""
        return self.servers.reports()

    def list_tools(self, server: str) -> tuple[ToolDetails, ...]:
        """Tell of every tool of a server, those that wait for an owner first. Raises ToolServerUnknown."""
        return self.servers.details(server)

    async def accept_tools(self, owner_id: int, server: str, code: str) -> tuple[str, ...] | None:
        """Let the tools of a server be used that were read, as the code tells that stood beside them, and
        return the names of those that models are offered; None when nothing had to wait for that. Raises
        ToolServerUnknown, and ToolListNotShown when they are no longer the same."""
        accepted = await self.servers.accept(server, unicodedata.normalize("NFKC", code).strip(" `").lower())
        if accepted is not None:
            _record("tools_accepted", owner_id, server=server)
        return accepted

    async def list_limits(self) -> tuple[LimitInForce, ...]:
        """List what holds, by whom it is about; what was set here goes before what the file says."""
        in_file = (await self.policies.now()).limits
        set_here = {each.key: each.value for each in await self.limits.list_all()}
        keys = sorted({*in_file, *set_here}, key=lambda key: (key.scope, key.scope_id, key.name))
        return tuple(
            LimitInForce(key, set_here[key], "here")
            if key in set_here
            else LimitInForce(key, in_file[key], _source(key, in_file[key]))
            for key in keys
        )

    async def set_limit(self, owner_id: int, key: LimitKey, value: int | None) -> None:
        """Have a limit hold from the next question on; None: no limit."""
        await self.limits.set(key.scope, key.scope_id, key.name, value, set_by=owner_id)
        _record("limit_set", owner_id, **_fields(key), value=value)

    async def unset_limit(self, owner_id: int, key: LimitKey) -> bool:
        """Have the operator's file decide again. False when nothing was set."""
        unset = await self.limits.unset(key.scope, key.scope_id, key.name)
        if unset:
            _record("limit_unset", owner_id, **_fields(key))
        return unset

    async def list_access(self) -> AccessInForce:
        """List who may use the bot, and who may not."""
        return AccessInForce(await self._access_in_file(), (await self.access.get_in_force()).rules)

    async def rule(self, owner_id: int, about: Mentionable, ruling: Ruling) -> None:
        """Allow or deny the bot, from the next question on."""
        await self.access.set(about.subject, about.id, ruling, set_by=owner_id)
        _record("access_set", owner_id, rule=ruling, subject=about.subject, subject_id=about.id)

    async def remove_rule(self, owner_id: int, about: Mentionable) -> RuleRemoval:
        """Take back what was allowed or denied here."""
        if removed := await self.access.unset(about.subject, about.id):
            _record("access_removed", owner_id, subject=about.subject, subject_id=about.id)
        in_file = await self._access_in_file()
        named = ids_of(in_file.allow, about.subject) | ids_of(in_file.deny, about.subject)
        return RuleRemoval(removed, about.id in named)

    async def list_models(self) -> Mapping[int, tuple[str, ...]]:
        """Return the models of every channel that has some of its own."""
        return await self.models.list_chains()

    async def set_models(self, owner_id: int, channel_id: int, chain: tuple[str, ...]) -> tuple[str, ...]:
        """Have these models answer in a channel. Return those that the server does not have."""
        await self.models.set(channel_id, chain, set_by=owner_id)
        _record("models_set", owner_id, channel=channel_id, models=len(chain))
        return await self.served.find_missing(chain)

    async def unset_models(self, owner_id: int, channel_id: int) -> bool:
        """Have the usual models answer in a channel again. False when it had none of its own."""
        unset = await self.models.unset(channel_id)
        if unset:
            _record("models_unset", owner_id, channel=channel_id)
        return unset

    async def begin_maintenance(self, owner_id: int, note: str) -> None:
        """Answer owners alone from now on. The note, on one line, is for everybody else."""
        await self.access.begin_maintenance(one_line(without_controls(note)), set_by=owner_id)
        _record("maintenance_begun", owner_id)

    async def end_maintenance(self, owner_id: int) -> bool:
        """Answer everybody again. False when there was no maintenance."""
        ended = await self.access.end_maintenance()
        if ended:
            _record("maintenance_ended", owner_id)
        return ended

    async def _access_in_file(self) -> AccessRules:
        lists = (await self.policies.now()).access
        return AccessRules(lists.allow, lists.deny)


def _source(key: LimitKey, value: int | None) -> LimitSource:
    return "default" if key in DEFAULT_RULES and DEFAULT_RULES[key] == value else "file"


def _record(change: Change, owner_id: int, **what: str | int | None) -> None:
    _log.info("admin_changed", change=change, by=owner_id, **what)


def _fields(key: LimitKey) -> dict[str, str | int]:
    return {"limit": key.name, "subject": key.scope, "subject_id": key.scope_id}


# ---- served models -----------------------------------------------------------------------------------------
# Which models the operator's server has, for who is about to name one.
#
# It is found out by asking for one token, as `cc-bot doctor` does: not every server has a list, and not
# every list has all of them.

PATIENCE_S: Final = 10.0
"""A server may have to load a model first. One that does not answer by then is not called unknown."""

Ask = Callable[[str], Awaitable[None]]
"""Raises a CcBotError where no answer comes."""


async def not_asked(_: str) -> None:
    """Do nothing, where there is no server, as with the model that comes along."""


@dataclass(eq=False, slots=True)
class ServedModels:
    ask: Ask = not_asked

    async def find_missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those that the server says it does not have."""
        found = await asyncio.gather(*map(self._is_missing, names))
        return tuple(name for name, missing in zip(names, found, strict=True) if missing)

    async def _is_missing(self, name: str) -> bool:
        with suppress(CcBotError, TimeoutError):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self.ask(name)
            except ModelNotFound:
                return True
        return False
