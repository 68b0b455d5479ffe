"""For whom and where the tools of a turn act: from the turn, and never from what a model says."""

from cc_bot.assistant.turn import Turn
from cc_bot.domain.clock import Clock
from cc_bot.domain.memory import Source
from cc_bot.domain.schedule import Place
from cc_bot.stores import Stores
from cc_bot.tools.registry import NOBODY, ToolContext


def tool_context(turn: Turn, stores: Stores, clock: Clock) -> ToolContext:
    options = turn.options
    return ToolContext(
        user_id=NOBODY if turn.user_id is None else turn.user_id,
        visibility=turn.visibility,
        locale=options.locale,
        timezone=options.timezone,
        memories=stores.memories,
        source=Source("model", link=options.link),
        clock=clock,
        key=turn.key,
        canvas=turn.canvas,
        schedules=stores.schedules,
        place=_place(turn),
        guild_id=options.guild_id,
    )


def _place(turn: Turn) -> Place:
    """Where the user is reminded of what they ask for: where they ask, unless they alone see that, or the bot
    can't write there by itself."""
    if turn.options.front_end == "terminal":
        return "terminal"
    return "dm" if turn.visibility == "private" or not turn.options.can_write_there else "channel"
