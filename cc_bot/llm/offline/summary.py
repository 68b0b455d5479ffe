"""Summaries without a model: what the user stated, word for word, and how it is known again afterwards.

It is honest in that it draws no conclusions: greetings, questions and what the assistant said are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from cc_bot.domain.phrase import Phrase
from cc_bot.domain.summary import listed
from cc_bot.llm.model import ChatRequest, PromptPart, SystemPart, UserPart
from cc_bot.llm.offline.conversation import Utterance
from cc_bot.llm.offline.facts import sentences
from cc_bot.llm.offline.questions import is_question
from cc_bot.llm.offline.recollection import as_far_as_it_is_read, statements
from cc_bot.llm.offline.replies import Say
from cc_bot.llm.summary_request import SummaryMaterial, summary_material

_SUMMARY = Phrase(
    r"^(?:Previous conversation summary|前回までの会話の要約): ?(?P<lines>.*)\Z", re.DOTALL | re.MULTILINE
)
"""Where a summary stands in the second system message (context/instructions.py)."""

_NOTHING = {True: "- （特になし）", False: "- (nothing in particular)"}


def summarized(request: ChatRequest) -> Say | None:
    """The summary that a request asks for; None when it asks for something else."""
    material = summary_material(request)
    return None if material is None else Say(_extract(material))


def with_summary(request: ChatRequest) -> ChatRequest:
    """The request with what its summary tells as if the user had just said it."""
    told = [
        UserPart(line.removeprefix("- "))
        for part in request.prompt
        if isinstance(part, SystemPart) and (found := _SUMMARY.search(part.text))
        for line in found["lines"].splitlines()
        if line.strip() and line not in _NOTHING.values()
    ]
    first, rest = request.prompt[:1], request.prompt[1:]
    prompt: tuple[PromptPart, ...] = (*first, *told, *rest)
    return replace(request, prompt=prompt) if told else request


def _extract(material: SummaryMaterial) -> str:
    japanese = any(not text.isascii() for _, text in material.said)
    return listed((*_earlier(material.earlier), *_stated(material))) or _NOTHING[japanese]


def _earlier(summary: str) -> Iterator[str]:
    return (line.removeprefix("- ") for line in summary.splitlines() if line not in _NOTHING.values())


def _stated(material: SummaryMaterial) -> Iterator[str]:
    said = (
        Utterance(True, text, place) for place, (role, text) in enumerate(material.said) if role == "user"
    )
    for _, statement in statements(said):
        stated: list[str] = []
        with as_far_as_it_is_read():
            stated += [sentence for sentence in sentences(statement) if not is_question(sentence)]
        yield " ".join(stated)
