"""Makes the prompt of a channel's turn.

Nothing of it stays in the process, so a restart between two turns changes no byte of the second one.
"""

import math
from collections.abc import Sequence
from functools import cache

from cc_bot.assistant.cache_key import cache_key
from cc_bot.assistant.calibration import Calibration
from cc_bot.assistant.channel_context import PAGE_SIZE, ChannelContext
from cc_bot.assistant.channel_turn import ChannelTurn, user_of
from cc_bot.assistant.profile_notes import ProfileNotes
from cc_bot.assistant.turn_prompt import TurnPrompt
from cc_bot.context.blocks import Measure, said_tokens
from cc_bot.context.built import Built
from cc_bot.context.channel_prompt import Shown, build_channel_prompt
from cc_bot.context.prompt import PromptStyle
from cc_bot.domain.clock import Clock
from cc_bot.llm.model import ToolSchema
from cc_bot.stores import BlockStore


class ChannelPrompts:
    def __init__(
        self,
        blocks: BlockStore,
        calibration: Calibration,
        style: PromptStyle,
        clock: Clock,
        *,
        page_size: int = PAGE_SIZE,
        profile: ProfileNotes | None = None,
    ) -> None:
        """Without `profile` no notes of who asks are told from the start."""
        self._context = ChannelContext(blocks, page_size=page_size)
        self._calibration = calibration
        self._style = style
        self._clock = clock
        self._profile = profile

    async def begin(self, turn: ChannelTurn, offered: Sequence[ToolSchema]) -> TurnPrompt:
        """What the model is shown: as much of the channel as fits the budget, as the model counts tokens."""
        factor = await self._calibration.factor(turn.options.agent.models)
        style = self._style
        measure = Measure.of(style.budget_tokens, style.block_tokens, factor, cache(said_tokens))
        planned = await self._context.read(turn, measure)
        shown = Shown.of(planned.groups)
        now, options = self._clock(), turn.options
        asker = user_of(turn.questions)
        notes = await self._profile.of(asker, "public", offered) if self._profile else ()

        def build(budget_tokens: float) -> Built:
            return build_channel_prompt(
                shown if budget_tokens == math.inf else shown.newest(budget_tokens),
                turn.questions,
                tools=offered,
                locale=style.channel_locale,
                now=now,
                timezone=options.timezone,
                paused=options.memory_paused,
                persona=options.agent.prompt,
                notes=notes,
                style=style,
            )

        return TurnPrompt(
            build,
            math.inf,
            factor=factor,
            cache_key=cache_key(turn.key),
            temperature=options.agent.temperature,
            limit=self._calibration.limit(options.agent.models),
            offered=offered,
        )
