import json
from collections.abc import Sequence
from typing import Any, Final

from cc_bot.llm.model import ChatRequest, ToolRequest
from tests.assistant.conftest import KEY
from tests.attacks.scene import Calling, Next, Scene

A: Final = "会議は金曜の朝"
B: Final = "合鍵は机の引き出し"
NEW: Final = "猫の名前はモチ"

LOOKS: Final = ("recall A", "recall both", "list")
ACTIONS: Final = (
    *LOOKS,
    "forget A",
    "forget B",
    "update A",
    "update B",
    "supersede A",
    "supersede A, written with an escape",
    "say A again in the place of B",
    "remember",
    "forget what is new",
    "update what is new",
)


def call(action: str, a: int, b: int, at: int) -> ToolRequest:
    """The call that an action is; what is new has the number after those that were there."""
    made: dict[str, tuple[str, dict[str, Any]]] = {
        "recall A": ("recall", {"query": "会議", "limit": 1}),
        "recall both": ("recall", {"query": "会議 合鍵"}),
        "list": ("list_memories", {}),
        "forget A": ("forget", {"id": a}),
        "forget B": ("forget", {"id": b}),
        "update A": ("update_memory", {"id": a, "content": "会議は木曜"}),
        "update B": ("update_memory", {"id": b, "content": "合鍵は玄関"}),
        "supersede A": ("remember", {"content": "会議はもうない", "supersedes": a}),
        "supersede A, written with an escape": ("remember", {"content": "会議は朝礼", "superseded": a}),
        "say A again in the place of B": ("remember", {"content": A, "supersedes": b}),
        "remember": ("remember", {"content": NEW}),
        "forget what is new": ("forget", {"id": a + 1}),
        "update what is new": ("update_memory", {"id": a + 1, "content": "猫の名前はモモ"}),
    }
    name, arguments = made[action]
    written = json.dumps(arguments, ensure_ascii=False).replace("superseded", "\\u0073upersedes")
    return ToolRequest(f"call{at}", name, written)


async def try_out(scene: Scene, actions: Sequence[str], *, at_once: bool) -> None:
    """Do it in one round or in as many as there are actions; at most one memory that was there has changed,
    and that one was looked up in an earlier round."""
    b = await scene.stores.memories.add(KEY.user_id, B)  # the older one: the other can take its place
    a = await scene.stores.memories.add(KEY.user_id, A)
    calls = [call(action, a.id, b.id, at) for at, action in enumerate(actions)]
    scene.switch.model = Calling([_saying(calls)] if at_once else [_saying([each]) for each in calls])
    await scene.ask("メモを整理して")
    left = {each.id: each.content for each in await scene.stores.memories.list(KEY.user_id)}
    changed = [each.id for each in (a, b) if left.get(each.id) != each.content]
    assert len(changed) <= 1, actions
    if changed:
        looked = [action for action in actions if action in LOOKS]
        assert looked, actions
        assert not at_once, actions
        assert changed == [a.id] or set(looked) - {"recall A"}, actions


def _saying(calls: Sequence[ToolRequest]) -> Next:
    def say(_: ChatRequest) -> Sequence[ToolRequest]:
        return calls

    return say
