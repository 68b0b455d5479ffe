"""`cc-bot chat`: the terminal.

What draws on the terminal is imported when it is used.
"""
# ruff: noqa: PLC0415 - see above

from cc_bot.app.clocks import clock_of
from cc_bot.app.core import model_label, open_core
from cc_bot.config import Config
from cc_bot.domain.errors import InvalidSetting
from cc_bot.domain.session import SessionKey
from cc_bot.privacy import purge_due
from cc_bot.storage.engines import named_beside
from cc_bot.tools.servers import ToolServers


async def run_terminal(
    config: Config,
    user_id: int,
    channel_id: int,
    agent: str | None = None,
    servers: ToolServers | None = None,
) -> bool:
    """Chat in the terminal until the input ends; return whether all was done that came through a pipe.
    `servers` are those whose tools stand beside our own.

    Raises InvalidSetting for an agent that there is not.
    """
    clock = clock_of(config)
    async with open_core(config, clock, servers=servers) as core:
        from cc_bot.terminal import ChatProfile, run_chat

        known = await core.agents.all()
        if agent is not None and agent not in known:
            raise InvalidSetting(name="--agent", expected=" / ".join(known))

        profile = ChatProfile(
            key=SessionKey(user_id, channel_id),
            locale=config.operator_locale,
            timezone=config.timezone,
            history_file=named_beside(config.database_url, config.data_folder).with_name("chat_history"),
            # A channel of Discord has other readers: nothing that is said here may show up in its answers.
            visibility="private" if channel_id else "public",
            model_label=model_label(config),
            agent=agent,
        )
        try:
            return await run_chat(core.assistant, core.stores, profile, core.agents, core.privacy)
        finally:
            await purge_due(core.stores.memory_removal, clock)
