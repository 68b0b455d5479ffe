"""Composes heartbeats, which belong to no session. The items of a message are marked before it is sent, so a
crash may lose the message but does not repeat it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import structlog

from cc_bot.chat.context.instructions import instructions
from cc_bot.chat.context.prompt import changing_text, memories_text, system_text
from cc_bot.chat.drawing import Drawing, open_drawing
from cc_bot.chat.rounds import Draft, Rounds
from cc_bot.chat.spending import Spending
from cc_bot.chat.stores.opening import Stores
from cc_bot.chat.tools import ToolContext, ToolRegistry
from cc_bot.chat.turn import TurnOptions, TurnPrompt, read_prompt_memories
from cc_bot.domain.access import Visitor
from cc_bot.domain.clock import Clock, utc_now
from cc_bot.domain.errors import LimitReached, ModelUnavailable
from cc_bot.domain.message import Message, ToolCall, Visibility
from cc_bot.domain.text import shorten
from cc_bot.domain.tool_calls import SEPARATOR
from cc_bot.domain.when.repeats import is_quiet
from cc_bot.features.heartbeat.model import (
    NEWS_PERIOD,
    HeartbeatItem,
    due_items,
    memory_items,
    missed_items,
    select_new,
)
from cc_bot.features.heartbeat.prompt import HEARTBEAT_INSTRUCTIONS, heartbeat_material, is_silent
from cc_bot.features.heartbeat.store import HeartbeatStore
from cc_bot.features.memory.model import Memory
from cc_bot.features.reminders.model import Schedule, may_mention
from cc_bot.features.reminders.service import Composition
from cc_bot.features.reminders.store import ScheduleStore
from cc_bot.llm.model import Chains, ChatRequest, SystemPart, ToolSchema, UserPart

_log = structlog.get_logger(__name__)

MAX_CONCURRENT: Final = 2  # heartbeats must not delay users
TIME_LIMIT_S: Final = 180.0
MAX_MESSAGE_LENGTH: Final = 1500
LOOKUP_TOOLS: Final = frozenset({"recall", "list_memories"})
CANVAS_TOOL_PREFIX: Final = "canvas_"
_MEMORIES_PER_PAGE: Final = 200


@dataclass(eq=False, slots=True)
class Heartbeats:
    stores: Stores
    chains: Chains
    tools: ToolRegistry
    spending: Spending
    clock: Clock = utc_now
    _collect_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))
    _model_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_CONCURRENT))

    async def compose(self, schedule: Schedule, options: TurnOptions) -> Composition | None:
        """Return None if there is nothing to say. Raises ModelError and StorageError."""
        now, key = self.clock(), schedule.key
        if is_quiet(now, options.timezone, schedule.quiet):
            return None
        async with self._collect_slots:
            items = await self._collect_items(schedule, options, now)
        if not items:
            return None
        async with self._model_slots:
            state = await self.stores.canvases.draw(key, None)
            canvas = None if state is None else open_drawing(state, schedule.audience)
            try:
                draft = await self._ask_model(schedule, options, items, now, canvas)
            except LimitReached as error:
                _log.info("heartbeat_not_begun", schedule=schedule.id, limit=error.params["what"])
                return None
        if not await self._is_still_wanted(schedule, items):
            return None
        marks = {reason.mark: reason.mark_expires_at for each in items for reason in each.reasons}
        await self.stores[HeartbeatStore].add_marks(key.user_id, marks)
        redraw = canvas.redraw if canvas else None
        changed_canvas = redraw is not None and await self.stores.canvases.draw(key, redraw) is not None
        message = None if is_silent(draft.text) else _to_message(draft, items, schedule.audience)
        _log.info(
            "heartbeat_done",
            schedule=schedule.id,
            matters=len(items),
            silent=message is None,
            drew=changed_canvas,
            prompt_tokens=draft.usage.prompt_tokens,
            completion_tokens=draft.usage.completion_tokens,
        )
        return Composition(message, changed_canvas) if message or changed_canvas else None

    async def _collect_items(
        self, schedule: Schedule, options: TurnOptions, now: datetime
    ) -> tuple[HeartbeatItem, ...]:
        user_id, channel_id, audience = schedule.key.user_id, schedule.key.channel_id, schedule.audience
        reminders = await self.stores[ScheduleStore].list(user_id)
        missed = await self.stores[ScheduleStore].list_missed(user_id, now - NEWS_PERIOD)
        items = [
            *due_items((each for each in reminders if may_mention(each, channel_id, audience)), now),
            *missed_items((each for each in missed if may_mention(each.schedule, channel_id, audience)), now),
        ]
        last_id: int | None = None
        while not options.memory_paused and (
            memories := await self.stores.memories.list(user_id, limit=_MEMORIES_PER_PAGE, before_id=last_id)
        ):
            last_id = memories[-1].id
            allowed = [each for each in memories if audience == "private" or each.audience == "anywhere"]
            found = memory_items(allowed, now, options.timezone, since=schedule.created_at)
            items += await asyncio.to_thread(list, found)  # texts may be long
        return select_new(items, await self.stores[HeartbeatStore].get_marks(user_id)) if items else ()

    async def _is_still_wanted(self, schedule: Schedule, items: Sequence[HeartbeatItem]) -> bool:
        """Return False if the heartbeat was stopped, memory paused, or an item deleted during the request."""
        user_id, stores = schedule.key.user_id, self.stores
        current = await stores[ScheduleStore].get(user_id, schedule.id)
        if current is None or current.status != "active":
            return False
        mentions_memory = any(each.kind == "memory" for each in items)
        if mentions_memory and (await stores.settings.get(user_id)).memory_paused:
            return False
        for item in items:
            get = stores.memories.get if item.kind == "memory" else stores[ScheduleStore].get
            if not await get(user_id, item.id):
                return False
        return True

    async def _ask_model(
        self,
        schedule: Schedule,
        options: TurnOptions,
        items: Sequence[HeartbeatItem],
        now: datetime,
        canvas: Drawing | None,
    ) -> Draft:
        """Raises LimitReached before asking, and a ModelError if the answer is incomplete."""
        key, models = schedule.key, options.agent.models
        tools = self.tools.for_visitor(Visitor(key.user_id, (key.channel_id,), schedule.guild_id, None))
        offered = _offered_tools(tools, options, drawing=canvas is not None)
        memories = await read_prompt_memories(self.stores.memories, key.user_id, schedule.audience, offered)
        context = ToolContext(
            key,
            schedule.audience,
            options.locale,
            options.timezone,
            self.stores,
            can_propose=False,  # no user is present
            clock=self.clock,
            canvas=canvas,
        )
        payer = replace(options.payer(key.user_id), role_ids=None)  # the roles are unknown here
        draft = Draft()
        async with self.spending.charge(payer, "heartbeat", model=self.chains.first_name(models)) as recorder:
            rounds = Rounds(recorder.metered(self.chains.chain_for(models)), tools, offered, context)
            try:
                async with asyncio.timeout(TIME_LIMIT_S):
                    await rounds.run(_make_prompt(options, items, now, canvas, memories), draft)
            except TimeoutError as error:
                raise ModelUnavailable from error
        if draft.status != "complete":
            raise ModelUnavailable
        return draft


def _make_prompt(
    options: TurnOptions,
    items: Sequence[HeartbeatItem],
    now: datetime,
    canvas: Drawing | None,
    memories: Sequence[Memory],
) -> TurnPrompt:
    words = instructions(options.locale)
    user_profile = memories_text(memories, words.the_user, words, options.timezone)
    orders = HEARTBEAT_INSTRUCTIONS[options.locale]
    drawn = canvas.part(options.locale) if canvas else SystemPart("")
    parts = (
        SystemPart(system_text(options.agent.prompt, (), words, user_profile, orders)),
        SystemPart(changing_text(options.locale, now, options.timezone, canvas=drawn.text), drawn.tainted),
        UserPart(heartbeat_material(items, options.timezone), tainted=any(each.tainted for each in items)),
    )
    return TurnPrompt(
        lambda _: ChatRequest(parts, stable=(0,)), 0.0, agent=options.agent, has_private_data=True
    )


def _offered_tools(tools: ToolRegistry, options: TurnOptions, *, drawing: bool) -> tuple[ToolSchema, ...]:
    """Return the tools that only look something up or draw, as no user is there to approve calls."""
    schemas = tools.schemas(
        memory=not options.memory_paused, canvas=drawing, schedule=False, allowed=options.agent.tools
    )
    return tuple(
        schema
        for schema in schemas
        if schema.name in LOOKUP_TOOLS
        or schema.name.startswith(CANVAS_TOOL_PREFIX)
        or (SEPARATOR in schema.name and not tools.writes(schema.name))
    )


def _to_message(draft: Draft, items: Sequence[HeartbeatItem], visibility: Visibility) -> Message:
    """Return the message, with a tool call that names the memories shown to the model."""
    memories = [{"id": each.number, "ref": each.id} for each in items if each.kind == "memory"]
    calls = tuple(draft.calls)
    if memories:
        calls = (ToolCall("heartbeat", "recall", "{}", json.dumps({"memories": memories})), *calls)
    text = shorten(draft.text.strip(), MAX_MESSAGE_LENGTH)
    return Message("assistant", text, tool_calls=calls, visibility=visibility, tainted=draft.tainted)
