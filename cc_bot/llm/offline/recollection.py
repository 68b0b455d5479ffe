"""What the user told: in this conversation, and in what this turn's searches found."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from cc_bot.domain.phrase import TookTooLong, time_for_phrases
from cc_bot.llm.offline.about_talk import talk_in
from cc_bot.llm.offline.beings import spellings_of
from cc_bot.llm.offline.commands import keep_in, statement_of
from cc_bot.llm.offline.conversation import Conversation, Utterance, json_object
from cc_bot.llm.offline.facts import Fact, corrects, facts_in, topic_of
from cc_bot.llm.offline.questions import Question

_SEARCHES = 5
"""Searches side by side in one round."""
_STATEMENT_S: Final = 0.3
"""Processor time for one thing that was said: if it can't be read, it must not take that of the others."""


def told(talk: Conversation) -> tuple[Fact, ...]:
    """What the user stated in this conversation, the present message included."""
    facts: list[Fact] = []
    subject = ""
    for place, statement in statements((*talk.before, Utterance(True, talk.message, len(talk.past)))):
        with as_far_as_it_is_read():
            topic = topic_of(statement)
            about = subject if corrects(statement) else ""
            subject = subject if about else topic.subject if topic else ""
            facts.extend(facts_in(statement, order=place, remembered=False, about=about))
    return tuple(facts)


def statements(said: Iterable[Utterance]) -> Iterator[tuple[int, str]]:
    """What the user stated, with its place."""
    for one in said:
        statement = ""
        with as_far_as_it_is_read():
            if one.by_user and talk_in(one.text) is None:
                statement = statement_of(one.text)
        if statement:
            yield one.place, statement


@contextmanager
def as_far_as_it_is_read() -> Iterator[None]:
    """Leave out what takes too long."""
    with suppress(TookTooLong), time_for_phrases(_STATEMENT_S):
        yield


def also_remembered(fact: Fact, talk: Conversation) -> bool:
    """Whether the message that told a fact was also kept as a memory, which may have changed since."""
    told = next((said.text for said in talk.before if said.place == fact.order), "")
    return keep_in(told) is not None


def recalled(talk: Conversation) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    for memory_id, content in memories(talk).items():
        with as_far_as_it_is_read():
            facts.extend(facts_in(content, order=_order_of_memory(memory_id, talk), remembered=True))
    return tuple(facts)


def memories(talk: Conversation) -> dict[int, str]:
    """What this turn's searches found."""
    found: dict[int, str] = {}
    for one in talk.rounds:
        memories = one.result.get("memories")
        for memory in memories if isinstance(memories, list) else []:
            if isinstance(memory, dict) and isinstance(memory.get("id"), int):
                found[memory["id"]] = str(memory.get("content", ""))
    return found


def _order_of_memory(memory_id: int, talk: Conversation) -> float:
    """Where in the conversation a memory was made. Older ones come before it, in the order of their ids."""
    place = max((place for place, kept in talk.kept if kept <= memory_id), default=-1)
    return place + 1 - 1 / (1 + memory_id)


def newest_statement(talk: Conversation) -> str:
    """The newest thing the user stated: neither a question nor small talk."""
    return next((statement for _, statement in statements(reversed(talk.before))), "")


def next_searches(question: Question, talk: Conversation, *, enough: bool) -> list[str]:
    """What to look for next.

    First all that is asked at once, and what has many names under all of them: its newest mention may
    use another one. If that is not enough, each part by itself, in all its spellings.
    """
    at_once = " ".join((*question.being_spellings, *(part.search[0] for part in question.asked)))
    if enough or not at_once:
        return []
    named = [" ".join(part.search) for part in question.asked if part.concept]
    if not talk.rounds:
        return list(dict.fromkeys([at_once, *named]))[:_SEARCHES]
    done = {json_object(one.request.arguments).get("query") for one in talk.rounds}
    words = [" ".join(part.search) for part in question.asked if not part.concept]
    beings = [" ".join(spellings_of(question.beings))] if question.beings else []
    fresh = [query for query in (*words, *beings) if query not in done]
    return fresh[:_SEARCHES] if at_once in done and not done & {*words, *beings} - {at_once} else []
