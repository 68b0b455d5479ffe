from collections.abc import Iterator

from cc_bot.chat.checks import Check, CheckContext, Finding, ok
from cc_bot.features.agents.texts import AgentCheckTexts
from cc_bot.operator_file import operator_path


def list_checks(given: CheckContext) -> Iterator[Check]:
    yield Check("agents", _check_file(given), label=given.words[AgentCheckTexts].agents)


async def _check_file(given: CheckContext) -> Finding:
    words, count = given.words[AgentCheckTexts], len(await given.agents.load())
    there = operator_path(given.config, "agents.toml").exists()
    return ok("agents", words.agents_ok.format(count=count) if there else words.agents_none)
