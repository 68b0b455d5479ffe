from datetime import UTC, datetime, timedelta
from typing import Any, Final

from cc_bot.chat.stores.usage import ReservationRequest, Settlement, UsageStore
from cc_bot.domain.chart import Chart, Series
from cc_bot.domain.measures import Purpose
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.domain.session import SessionKey
from cc_bot.domain.turn import Usage
from cc_bot.domain.usage import DEFAULT_RULES, ModelUsage, Payer
from cc_bot.features.canvas.drawing import make_redraw
from cc_bot.features.canvas.model import Card, Edit
from cc_bot.features.memory.model import Memory
from tests.web.pages import CHANNEL, TARO, Site

KEY: Final = SessionKey(TARO, CHANNEL)
DM: Final = SessionKey(TARO, 42)
GUILD: Final = 1_100_000_000_000_000_001
CARD: Final = Card("shopping", "買い物", "- 牛乳\n- <b>卵</b>")
CHART: Final = Chart("sales", "売上", "bar", ("1月", "2月"), (Series("本店", (3.0, 5.0)),))


async def talk(site: Site, *turns: tuple[str, str], key: SessionKey = KEY, **fields: Any) -> str:
    """Have a conversation, and return its id."""
    sessions = site.core.stores.sessions
    session = await sessions.open(key)
    for asked, answered in turns:
        said = (Message("user", asked, **fields), Message("assistant", answered, **fields))
        await sessions.commit_turn(session, said)
    return session.id


async def draw(
    site: Site,
    *commands: Any,
    visibility: Visibility = "public",
    key: SessionKey = KEY,
    asked: str = "描いて",
) -> None:
    """Have a turn that draws."""
    sessions, call = site.core.stores.sessions, ToolCall("1", "canvas_add_card", "{}", "{}")
    question = Message("user", asked, visibility=visibility)
    answer = Message("assistant", "描きました。", tool_calls=(call,), visibility=visibility)
    redraw = make_redraw([Edit(each, visibility) for each in commands])
    await sessions.commit_turn(await sessions.open(key), (question, answer), redraw=redraw)


async def keep(site: Site, content: str, user_id: int = TARO, **given: Any) -> Memory:
    return await site.core.stores.memories.add(user_id, content, **given)


async def spend(
    site: Site,
    tokens: int,
    *,
    user_id: int = TARO,
    model: str = "small",
    purpose: Purpose = "turn",
    days_ago: int = 0,
) -> None:
    """Have so many tokens counted, as a turn does."""
    stores = site.core.stores
    usage = UsageStore(
        stores.usage._database,
        clock=lambda: datetime.now(UTC) - timedelta(days=days_ago),
        zone=stores.usage.zone,
    )
    payer = Payer(user_id, GUILD)
    reservation = await usage.reserve(ReservationRequest(payer, purpose, model, 10), DEFAULT_RULES)
    spent = ((ModelUsage(model, Usage(tokens - 1, 1)), 1_500_000),)
    assert await usage.settle(Settlement(reservation, spent))
