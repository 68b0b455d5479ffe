"""What to do about a conversation: say something, or have tools called first.

`decide` is a pure function of the prompt. That makes the model deterministic, and lets `continue`
find the rest of an answer that was stopped by deciding it again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from cc_bot.domain.phrase import TookTooLong
from cc_bot.llm.model import AssistantPart, ChatRequest, ToolRequest, UserPart
from cc_bot.llm.offline import wording
from cc_bot.llm.offline.about_talk import Talk, talk_in
from cc_bot.llm.offline.commands import KeepRequest, keep_in, only_names_a_thing
from cc_bot.llm.offline.conversation import Conversation, Round, read
from cc_bot.llm.offline.drawing import DrawRequest, drawing
from cc_bot.llm.offline.facts import sentences
from cc_bot.llm.offline.fold import fold, speaks_japanese
from cc_bot.llm.offline.matching import Match, best_match
from cc_bot.llm.offline.memory_care import chosen, doomed_in, replaced_by, result_of
from cc_bot.llm.offline.questions import (
    Question,
    is_question,
    leans_on_earlier,
    question_in,
    speaks_of_earlier_being,
)
from cc_bot.llm.offline.recollection import (
    also_remembered,
    memories,
    newest_statement,
    next_searches,
    recalled,
    statements,
    told,
)
from cc_bot.llm.offline.reminding import ReminderRequest, reminding
from cc_bot.llm.offline.small_talk import short, small_talk
from cc_bot.llm.offline.texts import EN, JA, OfflineTexts

LONGEST: Final = 6000
"""Characters of a message that is read at all: as many as a question may have."""
_FEW = 5
_MANY = 20
"""Memories that one search may bring."""
_COMMONEST = "my i the は の です"
"""Pieces that nearly every note contains, for when everything is asked for."""


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    requests: tuple[ToolRequest, ...]


def decide(request: ChatRequest) -> Say | Call:
    """The next step of the turn that the request is for. Raises TookTooLong where that can't be told in time,
    and for a message of more than LONGEST characters."""
    talk = read(request)
    if len(talk.message) > LONGEST:
        raise TookTooLong
    words = JA if speaks_japanese(talk.message) else EN
    step = _draw(talk, words) or _remind(talk, words) or _step(talk, words, request)
    if isinstance(step, Call):
        return step
    notes = [words.files] if talk.has_files else []
    notes += [words.introduction] if talk.first_reply else []
    return Say("\n\n".join([step.text, *notes]))


def not_understood(request: ChatRequest) -> Say:
    """What is said to a question that can't be read."""
    asked = next((part.text for part in reversed(request.prompt) if isinstance(part, UserPart)), "")
    return Say((JA if speaks_japanese(asked) else EN).unknown)


def _step(talk: Conversation, words: OfflineTexts, request: ChatRequest) -> Say | Call:
    keep = keep_in(talk.message)
    if keep is not None:
        return _remember(keep, talk, words)
    match talk_in(talk.message):
        case Talk.CONTINUE:
            return _continue(talk, words, request)
        case Talk.ALL_KNOWN:
            return _all_known(talk, words)
        case Talk.FORGET if "forget" in talk.tools:
            return _forget(talk, words)
        case None:
            return _fact(talk, words)
        case kind:
            return Say(small_talk(kind, talk, words))


def _fact(talk: Conversation, words: OfflineTexts) -> Say | Call:
    """A fact is asked for or stated."""
    asked = [sentence for sentence in sentences(talk.message) if is_question(sentence)]
    if asked:
        return _answer(" ".join(asked), talk, words)
    if not talk.message:
        return Say(words.files if talk.has_files else words.greeting)
    return Say(_noted(talk, words))


def _noted(talk: Conversation, words: OfflineTexts) -> str:
    """What was stated, said back. How to keep it is told once, not after every sentence."""
    if "remember" not in talk.tools:
        return words.noted_temporary.format(fact=short(talk.message))
    noted = words.noted.format(fact=short(talk.message))
    told_how = any(words.how_to_keep in said.text for said in talk.before if not said.by_user)
    return noted if told_how else f"{noted}{words.how_to_keep}"


# Drawing


def _draw(talk: Conversation, words: OfflineTexts) -> Say | Call | None:
    """None where the canvas is not spoken of."""
    step = drawing(talk, words)
    if isinstance(step, DrawRequest):
        return Call((_request(talk, 1, step.tool, step.arguments),))
    return Say(step) if step else None


# Reminding


def _remind(talk: Conversation, words: OfflineTexts) -> Say | Call | None:
    """None where reminders are not spoken of."""
    step = reminding(talk, words)
    if isinstance(step, ReminderRequest):
        return Call((_request(talk, 1, step.tool, step.arguments),))
    return Say(step) if step else None


# Remembering


def _remember(keep: KeepRequest, talk: Conversation, words: OfflineTexts) -> Say | Call:
    if "remember" not in talk.tools:
        return Say(words.cannot_keep)
    if talk.rounds:
        return _kept(keep, talk, words)
    content = keep.content or newest_statement(talk)
    if not content:
        return Say(words.what_to_remember)
    if only_names_a_thing(content):
        known = best_match(question_in(content), told(replace(talk, message="")))
        if known is None or not known.sure:
            return Say(words.what_is_it.format(thing=content))
        content = known.fact.text
    return Call((_request(talk, 1, "remember", {"content": content}),))


def _kept(keep: KeepRequest, talk: Conversation, words: OfflineTexts) -> Say | Call:
    """What came of it; a note that it replaces is named then, for the result shows those beside it."""
    result = talk.rounds[-1]
    if result.error is not None:
        return Say(words.not_remembered.format(error=result.error))
    if result.proposed:
        return Say(words.proposed)
    kept = result.result.get("remembered")
    content = kept.get("content") if isinstance(kept, dict) else None
    fact = str(content or keep.content)
    if isinstance(result.result.get("superseded"), dict):
        return Say(f"{words.remembered.format(fact=fact.rstrip('。'))}{words.replacement_proposed}")
    if (former := replaced_by(fact, talk)) is not None:
        return Call((_request(talk, 1, "remember", {"content": fact, "supersedes": former}),))
    said = words.replaced if isinstance(result.result.get("superseded"), int) else words.remembered
    return Say(said.format(fact=fact.rstrip("。")))


# Forgetting


def _forget(talk: Conversation, words: OfflineTexts) -> Say | Call:
    if done := result_of("forget", talk):
        return Say(_forgotten(done, words))
    doomed = doomed_in(talk.message)
    if doomed.number is not None:
        return Call((_request(talk, 1, "forget", {"id": doomed.number}),))
    if doomed.everything or not doomed.thing:
        return Say(words.forget_everything if doomed.everything else words.forget_what)
    if found := result_of("recall", talk):
        return _forget_found(found, talk, words)
    return Call((_request(talk, 1, "recall", {"query": doomed.thing, "limit": _FEW}),))


def _forget_found(found: Round, talk: Conversation, words: OfflineTexts) -> Say | Call:
    notes = found.result.get("memories")
    meant = chosen(notes if isinstance(notes, list) else [])
    if len(meant) == 1:
        return Call((_request(talk, 1, "forget", {"id": meant[0]["id"]}),))
    if not meant:
        return Say(words.nothing_to_forget)
    facts = (f"- #{note['id']} {note['content']}" for note in meant)
    return Say(words.forget_which.format(facts="\n".join(facts)))


def _forgotten(done: Round, words: OfflineTexts) -> str:
    gone = done.result.get("forgotten")
    if done.proposed:
        return words.proposed
    if done.error is not None or not isinstance(gone, dict):
        return words.not_forgotten.format(error=done.error or "")
    return words.forgotten.format(fact=str(gone.get("content", "")).rstrip("。"))


# Answering


def _answer(text: str, talk: Conversation, words: OfflineTexts) -> Say | Call:
    question = _completed(question_in(text), talk)
    said = told(talk)
    here = best_match(question, said)
    if here is not None and here.sure and not also_remembered(here.fact, talk):
        return Say(wording.answer(here, question, words))
    if "recall" not in talk.tools:
        return Say(wording.answer(here, question, words) if here else words.unknown)
    found = best_match(question, (*said, *recalled(talk)))
    searches = next_searches(
        question, talk, enough=found is not None and found.sure and not _only_here(found)
    )
    if searches:
        return _search(talk, searches)
    return Say(_said(found, question, talk, words))


def _said(found: Match | None, question: Question, talk: Conversation, words: OfflineTexts) -> str:
    if found is not None:
        return wording.answer(found, question, words)
    error = next((one.error for one in talk.rounds if one.error is not None), None)
    if error is not None:
        return words.unknown_lookup_failed.format(error=error)
    return words.unknown


def _only_here(found: Match) -> bool:
    """Whether the memories were not seen to hold the fact too: then one search is still worth it."""
    return not found.fact.remembered


def _search(talk: Conversation, queries: Sequence[str]) -> Call:
    limits = [_FEW if not talk.rounds and number == 1 else _MANY for number in range(1, len(queries) + 1)]
    return Call(
        tuple(
            _request(talk, number, "recall", {"query": query, "limit": limit})
            for number, (query, limit) in enumerate(zip(queries, limits, strict=True), 1)
        )
    )


def _completed(question: Question, talk: Conversation) -> Question:
    """The question with what it leaves unsaid: `And my brother?` after `Where does my sister live?`"""
    if leans_on_earlier(question):
        for said in reversed(talk.before):
            if said.by_user and is_question(said.text):
                earlier = question_in(said.text)
                return replace(question, asked=earlier.asked, needed=earlier.needed, head=earlier.head)
    if speaks_of_earlier_being(question):
        for said in reversed(talk.before):
            earlier = question_in(said.text)
            if said.by_user and earlier.beings:
                return replace(
                    question,
                    beings=earlier.beings,
                    being_spellings=earlier.being_spellings,
                    about_me=False,
                )
    return question


def _all_known(talk: Conversation, words: OfflineTexts) -> Say | Call:
    if "list_memories" in talk.tools and not talk.rounds:
        return Call((_request(talk, 1, "list_memories", {"limit": _MANY}),))
    if "recall" in talk.tools and not talk.rounds:
        return Call((_request(talk, 1, "recall", {"query": _COMMONEST, "limit": _MANY}),))
    listed = result_of("list_memories", talk)
    told_here = [said for said in talk.before if listed is None or keep_in(said.text) is None]
    here = (statement for _, statement in statements(told_here))
    texts = {fold(text).rstrip("。."): text for text in (*memories(talk).values(), *here)}
    if not texts:
        return Say(words.nothing_known)
    return Say(words.known.format(facts="\n".join(f"- {text}" for text in texts.values())))


def _continue(talk: Conversation, words: OfflineTexts, request: ChatRequest) -> Say:
    """The rest of the last answer, when it was stopped before its end."""
    places = [place for place, part in enumerate(talk.past) if isinstance(part, UserPart)]
    answered = [
        place for place, part in enumerate(talk.past) if isinstance(part, AssistantPart) and part.text
    ]
    if not places or not answered or answered[-1] < places[-1]:
        return Say(words.nothing_to_continue)
    so_far = talk.past[answered[-1]]
    whole = decide(replace(request, prompt=talk.past[: answered[-1]]))
    if isinstance(so_far, AssistantPart) and isinstance(whole, Say) and whole.text.startswith(so_far.text):
        rest = whole.text[len(so_far.text) :].strip()
        return Say(rest or words.nothing_to_continue)
    return Say(words.nothing_to_continue)


def _request(talk: Conversation, number: int, name: str, arguments: dict[str, object]) -> ToolRequest:
    return ToolRequest(f"offline-{talk.calls + number}", name, json.dumps(arguments, ensure_ascii=False))
