"""A turn while it is on its way, whatever kind of conversation it belongs to."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from cc_bot.assistant.turn_prompt import TurnPrompt
from cc_bot.domain.agent import THE_DEFAULT, Agent
from cc_bot.domain.limits import Payer
from cc_bot.domain.locale import Locale
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.domain.proposal import ProposedChange
from cc_bot.domain.session import SessionKey
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import StoredTurn
from cc_bot.tools.canvas_draft import CanvasDraft


@dataclass(frozen=True, slots=True)
class TurnOptions:
    """For whom a turn is made."""

    locale: Locale
    timezone: ZoneInfo
    temporary: bool = False
    """Store nothing of this turn."""
    welcomed: bool = True
    """Whether this user is known to have had an answer before."""
    bot_id: int = 0
    """Who answers, as Discord knows it; 0 outside of Discord."""
    answer_discord_id: int | None = None
    """The message of Discord that the answer is shown in, where it is known beforehand."""
    memory_paused: bool = False
    """Whether this user wants nothing stored in or recalled from their memories."""
    link: str = ""
    """To the message that the answer is shown in; empty where it is not known, or not to be found again."""
    agent: Agent = THE_DEFAULT
    """Who answers; its name is that of the session key."""
    guild_id: int | None = None
    """The server that is asked in; None in a DM, and outside of Discord."""
    can_write_there: bool = True
    """Whether the bot may write by itself where it is asked: not where its user only brought it along."""
    front_end: Literal["discord", "terminal"] = "discord"
    """Where the answer is shown."""
    entry: str = ""
    """Of the turn in the ledger of turns on their way; empty where there is none."""
    earlier_calls: tuple[ToolCall, ...] = ()
    """What an earlier run of the program did for the same question before it was ended."""
    role_ids: tuple[int, ...] | None = ()
    """The roles that its user has in the server; None where nobody tells."""

    def paid_by(self, user_id: int) -> Payer:
        return Payer(user_id, self.guild_id or 0, self.role_ids, self.front_end)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: for whom it is, what the model is shown, and where the answer goes."""

    options: TurnOptions
    visibility: Visibility
    """Who will see the answer."""
    user_id: int | None
    """Whose memories the tools act on; None when several messages are answered at once."""
    prompt: Callable[[Sequence[ToolSchema]], Awaitable[TurnPrompt]]
    """What the model is shown, with these tools offered."""
    store: Callable[[Message, Sequence[ProposedChange]], Awaitable[StoredTurn]]
    """Put the answer into the database, with what it proposes, and with its question unless that is there
    already, and return what was stored; raises StorageError."""
    look_back: Callable[[Sequence[Message], float], None]
    """What is to be done once the asker has the answer, and is not waited for. It is told the messages that
    were stored, and of how many tokens of history there was room in the requests."""
    question: str = ""
    """What was asked, as its user wrote it; several questions one below the other."""
    before: Message | None = None
    """The answer that stands before the question; the one that this answer takes the place of."""
    replaces: bool = False
    """Whether the answer takes the place of an older one."""
    key: SessionKey | None = None
    """Whose turn it is, and where; in a channel's conversation this is who asked, in that place. None when
    several messages are answered at once."""
    canvas: CanvasDraft | None = None
    """What the turn draws on; None where there is no canvas, or nothing of it would be stored."""
