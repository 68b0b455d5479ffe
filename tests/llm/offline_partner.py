"""Somebody who talks with the offline model, and what stands around it in the program: a conversation
that is kept, and the two tools over a dictionary that finds memories by the store's rule."""

import json
import unicodedata
from dataclasses import dataclass, field
from typing import Any

from cc_bot.llm.model import (
    AssistantPart,
    ChatRequest,
    Delta,
    Finish,
    PromptPart,
    SystemPart,
    ToolRequest,
    ToolResultPart,
    ToolSchema,
    UserPart,
)
from cc_bot.llm.offline import OfflineModel

REMEMBER = ToolSchema("remember", "Keep one fact.", {"type": "object"})
RECALL = ToolSchema("recall", "Look facts up.", {"type": "object"})
BOTH = (REMEMBER, RECALL)

MAX_ROUNDS = 8


@dataclass
class Partner:
    """One user's side of conversations; the memories outlive `restart`."""

    tools: tuple[ToolSchema, ...] = BOTH
    broken: frozenset[str] = frozenset()
    """Tools that answer with an error."""
    memories: dict[int, str] = field(default_factory=dict)
    history: list[PromptPart] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Every tool call so far: name and arguments."""
    known: tuple[dict[str, Any], ...] = ()
    """The user's reminders."""

    async def say(self, text: str) -> str:
        """Says something and hears the answer, tool rounds included, as the program would run them."""
        turn: list[PromptPart] = [UserPart(text)]
        for _ in range(MAX_ROUNDS):
            said, finish = await self._ask(turn)
            if finish.reason == "stop":
                self.history += [*turn, AssistantPart(said)]
                return said
            turn.append(AssistantPart(said, finish.tool_requests))
            turn += [self._run(request) for request in finish.tool_requests]
        raise AssertionError(f"no answer to {text!r} within {MAX_ROUNDS} rounds")

    async def tell(self, *texts: str) -> None:
        for text in texts:
            await self.say(text)

    def restart(self) -> None:
        """The conversation is lost, the memories are not."""
        self.history.clear()

    def knows(self, *contents: str) -> "Partner":
        """Memories from another day."""
        for content in contents:
            self._keep(content)
        return self

    async def _ask(self, turn: list[PromptPart]) -> tuple[str, Finish]:
        prompt = (SystemPart("You help."), *self.history, SystemPart("Now: Friday 09:00"), *turn)
        events = [event async for event in OfflineModel().stream(ChatRequest(prompt, self.tools))]
        finish = events[-1]
        assert isinstance(finish, Finish)
        return "".join(event.text for event in events if isinstance(event, Delta)), finish

    def _run(self, request: ToolRequest) -> ToolResultPart:
        assert request.name in {tool.name for tool in self.tools}
        arguments = json.loads(request.arguments)
        self.calls.append((request.name, arguments))
        result = {"error": "the disk is full"} if request.name in self.broken else self._result(request.name)
        return ToolResultPart(request.id, request.name, json.dumps(result, ensure_ascii=False))

    def _result(self, name: str) -> dict[str, Any]:
        _, arguments = self.calls[-1]
        if name.startswith("canvas_"):
            return {"id": "card-1"}
        if name == "schedule":
            return {"scheduled": {"id": 1, **arguments}}
        if name == "list_schedules":
            return {"schedules": list(self.known)}
        if name == "cancel_schedule":
            return {"cancelled": {"id": arguments["id"]}}
        if name == "remember":
            memory_id = self._keep(arguments["content"])
            return {"remembered": {"id": memory_id, "content": arguments["content"]}}
        return {"memories": self._search(arguments["query"], arguments["limit"])}

    def _keep(self, content: str) -> int:
        memory_id = len(self.memories) + 1
        self.memories[memory_id] = content
        return memory_id

    def _search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """The query as written first, then all of its terms, then any; newest first within each."""
        ranked = sorted(
            (-tier, -memory_id)
            for memory_id, content in self.memories.items()
            if (tier := _tier(_folded(query), _folded(content)))
        )
        return [
            {
                "id": -negative,
                "content": self.memories[-negative],
                "category": "general",
                "tags": [],
                "date": "2026-11-20",
            }
            for _, negative in ranked[:limit]
        ]


def _tier(query: str, content: str) -> int:
    terms = query.split()
    if query in content:
        return 3
    if all(term in content for term in terms):
        return 2
    return 1 if any(term in content for term in terms) else 0


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
