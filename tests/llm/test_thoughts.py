"""What a model thinks is no answer, in whatever pieces and by whatever field it comes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cc_bot.domain.errors import ModelError
from cc_bot.llm.model import Delta, Thinking
from cc_bot.llm.openai.wire import Thoughts
from tests.llm.asking import hear, loopback
from tests.loopback.model_server import Chunk, End, Reply, Say, Step

ANSWERS = {
    "<think>まず考えます。</think>東京です。": "東京です。",
    "<THINK>\nHm.\n</Think>\n\nTokyo.": "\n\nTokyo.",
    "[THINK]Hm.[/THINK]Tokyo.": "Tokyo.",
    "<thinking>a</thinking>b<think>c</think>d": "bd",
    "東京<think>です": "東京",
    "<think>": "",
    "<think>`</think>`code`": "`code`",
    "`<think>` begins it, `</think>` ends it.": "`<think>` begins it, `</think>` ends it.",
    "``a ` <think> b``": "``a ` <think> b``",
    "```html\n<think>x</think>\n</think>\n```\nこれ": "```html\n<think>x</think>\n</think>\n```\nこれ",
    "5` 10 <\n<think>x</think>y": "5` 10 <\ny",
    "a</think>b": "b",
    "<think>a<think>b</think>c</think>d": "d",
    "İ<think>a</think>b": "İb",
    "<reasoning>まず\n</reasoning>東京です。": "東京です。",
    "<thought>Hm.</thought>Tokyo": "Tokyo",
    "<thought>Hm.</think>": "",
    "◁think▷Hm.◁/think▷Tokyo": "Tokyo",
    "Hm.◁/think▷Tokyo": "Tokyo",
    "<think >a</think >b< THINK >c</ Think>d": "bd",
    "<\tthinking\t>a< / thinking>b": "b",
    "<     think>a": "<     think>a",
    "a < b, < thin": "a < b, < thin",
    "~~~xml\n<think>x</think>\n~~~\nこれ<think>": "~~~xml\n<think>x</think>\n~~~\nこれ",
    "~~~\n<think>x": "~~~\n<think>x",
    "> ~~~~\n> ~~~\n> `<think>x\n> ~~~~\n<think>y": "> ~~~~\n> ~~~\n> `<think>x\n> ~~~~\n",
    "```\n~~~\n<think>\n```\n<think>": "```\n~~~\n<think>\n```\n",
    "~~~\n```\n~~~\n<think>a</think>b": "~~~\n```\n~~~\nb",
    "~~old~~ <think>a</think>new": "~~old~~ new",
    "a ~~~ <think>b</think>c": "a ~~~ c",
    "`<thought>` and `◁think▷` and `<|channel|>final`": "`<thought>` and `◁think▷` and `<|channel|>final`",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Tokyo<|return|>": (
        "Tokyo"
    ),
    "<|start|>assistant<|channel|>final<|message|>Tokyo": "Tokyo",
    "<|channel|>analysis<|message|>a <think> b<|channel|>final<|message|>Tokyo": "Tokyo",
    "<|channel|>analysis<|message|>Hm.": "",
    "<|channel|>commentary to=functions.recall <|constrain|>json<|message|>{}<|call|>": "",
    "Hm.<|end|><|start|>assistant<|channel|>final<|message|>Tokyo<|end|>": "Tokyo",
    "<|channel|>analy": "<|channel|>analy",
    "```\n<|channel|>final<|message|>x<|end|>\n```": "```\n<|channel|>final<|message|>x<|end|>\n```",
    "a <|end|> b <|message|>": "a <|end|> b <|message|>",
}


def read(text: str, cuts: list[int]) -> str:
    """What is said of a text that comes in pieces."""
    thoughts, said, start = Thoughts(), "", 0
    for end in (*sorted({cut % (len(text) + 1) for cut in cuts}), len(text)):
        piece = thoughts.add(text[start:end])
        said, start = piece if thoughts.begun_before else said + piece, end
    return said + thoughts.rest()


@given(st.sampled_from([*ANSWERS]), st.lists(st.integers(0, 80), max_size=40))
@settings(max_examples=500)
def test_a_thought_is_taken_out_of_an_answer_in_any_pieces(text: str, cuts: list[int]) -> None:
    assert read(text, cuts) == ANSWERS[text]


def test_a_thought_is_taken_out_of_an_answer_in_one_piece_and_by_letters() -> None:
    assert {text: read(text, []) for text in ANSWERS} == ANSWERS
    assert {text: read(text, [*range(len(text))]) for text in ANSWERS} == ANSWERS


@given(
    st.text("<>/[]`~\nthinkTHINK あ◁▷|", max_size=60).filter(lambda text: "think" not in text.lower()),
    st.data(),
)
def test_what_is_no_thought_is_as_it_was(text: str, data: st.DataObject) -> None:
    assert read(text, data.draw(st.lists(st.integers(0, 60)))) == text


PARTS = st.sampled_from(
    [
        *("<think>", "</think>", "<THINK >", "< /think>", "[think]", "[/think]", "<reasoning>"),
        *("</reasoning>", "<thought>", "</thought>", "◁think▷", "◁/think▷", "<|channel|>analysis"),
        *(
            "<|channel|>final",
            "<|message|>",
            "<|end|>",
            "<|start|>assistant",
            "<|start|>",
            "<|",
            "<",
            "think",
        ),
        *(">", " ", "/", "[", "`", "``", "```", "~~~", "~~", "~~~~", "\n", "> ", "a", "あ", "◁", "\n```\n"),
        "\n~~~\n",
    ]
)


@given(st.lists(PARTS, max_size=14), st.data())
def test_any_pieces_of_anything_say_the_same(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    assert read(text, data.draw(st.lists(st.integers(0, 150)))) == read(text, [])
    assert read(text, list(range(len(text)))) == read(text, [])


async def test_the_model_says_that_it_thinks_before_it_speaks() -> None:
    begun: list[list[Step]] = [[Say("<thi"), Say("nk>まず"), Say("</think>")]]
    for name in ("reasoning_content", "reasoning", "thinking"):
        begun.append([Chunk({"choices": [{"delta": {name: "まず"}}]})] * 2)
    for steps in begun:
        async with loopback(Reply(*steps, Say("東京"), End())) as (model, _):
            assert (await hear(model)).events[:2] == (Thinking(), Delta("東京"))


async def test_an_answer_that_was_thought_after_all_is_taken_back() -> None:
    async with loopback(Reply(Say("まず\n"), Say("</think>"), Say("東京"), End())) as (model, _):
        heard = await hear(model)
    assert heard.events[:3] == (Delta("まず\n"), Thinking(aloud=True), Delta("東京"))
    for cut in range(20):
        assert read("考えます。\n</think>\n東京です。", [cut]) == "\n東京です。"


async def test_thinking_alone_is_no_answer_and_has_no_bound_of_an_answer() -> None:
    thought = Say("<think>" + "あ" * 120_000)
    replies = (Reply(thought, Say("</think>東京"), End()), Reply(thought, End("length")))
    async with loopback(*replies) as (model, _):
        assert (await hear(model)).text == "東京"
        with pytest.raises(ModelError):
            await hear(model)
