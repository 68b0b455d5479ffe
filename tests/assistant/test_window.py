from cc_bot.chat.context.tokens import request_tokens
from cc_bot.domain.errors import ContextTooLong
from cc_bot.domain.message import Message
from cc_bot.llm.model import AssistantPart, ChatRequest, UserPart
from tests.assistant.conftest import KEY, Table

PARAGRAPH = "今日は駅前の店で友人と昼を食べ、そのあと川沿いの道をゆっくり歩いて帰りました。"


async def talk(table: Table, turns: int, text: str = PARAGRAPH) -> list[Message]:
    """So many turns are stored; every message is another."""
    session = await table.stores.sessions.open(KEY)
    said: list[Message] = []
    for number in range(turns):
        pair = Message("user", f"{number}：{text}"), Message("assistant", f"{number}です。{text}")
        await table.stores.sessions.commit_turn(session, pair)
        said += pair
    return said


def shown(request: ChatRequest) -> list[str]:
    """The history and the question."""
    return [part.text for part in request.prompt if isinstance(part, UserPart | AssistantPart)]


class TestTooLong:
    async def test_a_history_is_halved_and_the_user_gets_an_answer(self, table: Table) -> None:
        await talk(table, 8, PARAGRAPH * 6)
        table.model.script = [[ContextTooLong()], ["これで足りました。"]]
        assert (await table.answer("続きは？")).content == "これで足りました。"
        refused, taken = (shown(request) for request in table.model.requests)
        assert len(refused) / 2 - 2 <= len(taken) <= len(refused) / 2 + 1
        assert taken == refused[-len(taken) :]
        assert len(taken) % 2 == 1
        assert (await table.said())[-2:] == ["続きは？", "これで足りました。"]

    async def test_a_history_is_fitted_to_the_limit_that_the_server_told_from_then_on(
        self, table: Table
    ) -> None:
        await talk(table, 8, PARAGRAPH * 10)
        table.model.script = [[ContextTooLong(limit=4000)], ["はい。"]]
        await table.ask("続きは？")
        await table.ask("それから？")
        assert len(table.model.requests) == 3
        for request in table.model.requests[1:]:
            assert request_tokens(request) <= 4000
            assert len(shown(request)) > 1
