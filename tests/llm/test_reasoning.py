"""Reasoning is not part of an answer, in any pieces and any field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.domain.errors import ModelOutOfRoom
from cc_bot.llm.model import Delta, Thinking
from cc_bot.llm.openai.reply import ReasoningFilter
from tests.llm.asking import hear, loopback
from tests.loopback.model_server import Chunk, End, Reply, Say, Step

THOUGHTS = {
    "<think>まず考えます。</think>東京です。": "東京です。",
    "\n<THINK>\nHm.\n</Think>\n\nTokyo.": "\n\nTokyo.",
    "[THINK]Hm.[/THINK]Tokyo.": "Tokyo.",
    "<think>a<think>b</think>d</think>": "d</think>",
    "<thought>Hm.</thought><think>c</think>Tokyo": "Tokyo",
    "◁think▷Hm.◁/think▷Tokyo": "Tokyo",
    "< think >a</think >b": "b",
    "<think>": "",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Tokyo": "Tokyo",
    "<|start|>assistant<|channel|>final<|message|>Tokyo": "Tokyo",
    "<|channel|>commentary to=functions.recall <|constrain|>json<|message|>{}<|call|>": "",
    "まず考えます。\n</think>\n東京です。": "東京です。",
}
NO_THOUGHTS = (
    "推論は <think> から </think> までです。",
    "東京<think>です",
    "`<think>` begins it, `</think>` ends it.",
    "```html\n<think>x\n</think>\n```\nこれ",
    "<3 you",
    "<div>",
    "[1] https://example.com",
    "<thin",
    "a < b, <|channel|>final",
    "こう書きます。\n<think>\n推論\n</think>\n答え",
    "こう書きます。\n[THINK]\n推論\n[/THINK]\n答え",
)


def read(text: str, cuts: list[int]) -> str:
    """Return the visible part of a text that comes in pieces."""
    thoughts, said, start = ReasoningFilter(), "", 0
    for end in (*sorted({cut % (len(text) + 1) for cut in cuts}), len(text)):
        piece = thoughts.add(text[start:end])
        said, start = piece if thoughts.restarted else said + piece, end
    return said + thoughts.flush()


ALL = {**THOUGHTS, **dict.fromkeys(NO_THOUGHTS)}


@given(st.sampled_from([*ALL]), st.lists(st.integers(0, 80), max_size=40))
def test_reasoning_is_removed_only_at_the_start_in_any_pieces(text: str, cuts: list[int]) -> None:
    assert read(text, cuts) == (text if ALL[text] is None else ALL[text])


@given(st.text("<>/[]`~\nthinkTHINK あ◁▷|", max_size=60), st.data())
def test_pieces_make_no_difference(text: str, data: st.DataObject) -> None:
    assert read(text, data.draw(st.lists(st.integers(0, 60)))) == read(text, [])


async def test_the_user_sees_that_the_model_thinks_before_it_speaks() -> None:
    begun: list[list[Step]] = [[Say("<thi"), Say("nk>まず"), Say("</think>")]]
    for name in ("reasoning_content", "reasoning", "thinking"):
        begun.append([Chunk({"choices": [{"delta": {name: "まず", "content": None}}]})] * 2)
    for steps in begun:
        async with loopback(Reply(*steps, Say("東京"), End())) as (model, _):
            assert (await hear(model)).events[:2] == (Thinking(), Delta("東京"))


async def test_reasoning_that_was_shown_as_an_answer_is_taken_back() -> None:
    async with loopback(Reply(Say("まず\n"), Say("</think>"), Say("\n東京"), End())) as (model, _):
        heard = await hear(model)
    assert heard.events[-3:-1] == (Thinking(retracts_text=True), Delta("東京"))


async def test_reasoning_that_uses_up_all_tokens_is_an_error_of_its_own() -> None:
    thought = Say("<think>" + "あ" * 120_000)
    field = Chunk({"choices": [{"delta": {"reasoning_content": "うーん"}}]})
    replies = (Reply(thought, Say("</think>東京"), End()), Reply(thought, End("length")))
    async with loopback(*replies, Reply(field, End("length"))) as (model, _):
        assert (await hear(model)).text == "東京"
        for _ in range(2):
            with pytest.raises(ModelOutOfRoom):
                await hear(model)
