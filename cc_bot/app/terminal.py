"""`cc-bot chat`: the terminal. Terminal libraries are imported when used."""
# ruff: noqa: PLC0415 - see above

import asyncio
import contextlib
from typing import Final

from cc_bot.app.cli import say_error
from cc_bot.app.core import open_core
from cc_bot.config import DOTENV, Config, find_dotenv
from cc_bot.domain.errors import InvalidSetting
from cc_bot.domain.message import DEFAULT_AGENT
from cc_bot.domain.session import SessionKey
from cc_bot.features.privacy.service import purge_due
from cc_bot.operator_file import operator_path
from cc_bot.texts import texts
from cc_bot.texts.cli import CliTexts, TerminalTexts

NOTICE_AFTER_S: Final = 1.0
MAX_WAIT_S: Final = 10.0  # for tool servers


async def run_terminal(config: Config, user_id: int, agent_name: str | None = None) -> bool:
    """Chat until the input ends. Returns whether every piped line succeeded. Raises InvalidSetting."""
    clock = config.clock
    words = texts(config.operator_locale)
    async with open_core(config, clock) as core:
        from cc_bot.terminal.chat import run_chat
        from cc_bot.terminal.commands import ChatProfile

        if model_name := core.models.ignored_model_name:
            sentence = words[CliTexts].model_without_server.format(model=model_name)
            say_error(f"{sentence} → {words[CliTexts].model_without_server_fix}")
        agents = await core.agents.get_all()
        if agent_name is not None and agent_name not in agents:
            raise InvalidSetting(name="--agent", expected=" / ".join(agents))
        agent = agents[agent_name or DEFAULT_AGENT]
        profile = ChatProfile(
            key=SessionKey(user_id, 0, agent.name),
            locale=config.operator_locale,
            timezone=config.timezone,
            model_label=core.models.default_model_name,
            agent=agent,
            history_file=operator_path(config, "chat_history"),
            offline=core.models.is_offline,
            dotenv=find_dotenv(DOTENV) or DOTENV,
        )
        if servers := core.assistant.tools.external:
            sentence = words[TerminalTexts].servers_starting
            notice = asyncio.get_running_loop().call_later(NOTICE_AFTER_S, say_error, sentence)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(servers.wait_until_started(), MAX_WAIT_S)
            notice.cancel()
        try:
            return await run_chat(core, profile)
        finally:
            await purge_due(core.stores, clock)
