import json
import re
from collections.abc import Iterator
from typing import Any

from tests.loopback.model_replies import Call, Reply, calls
from tests.loopback.model_requests import Json, message_text

_ORDER = re.compile(r"CALL (\w+) (\{[^\n]*\})")


def obey(body: Json, *own: str) -> Reply | str:
    read = [*own, *_texts(body)]
    called = {
        (call["function"]["name"], call["function"]["arguments"])
        for message in body["messages"]
        for call in message.get("tool_calls") or ()
    }
    wanted = [
        Call(name, json.loads(arguments))
        for name, arguments in dict.fromkeys(found for text in read for found in _orders(text))
        if (name, arguments) not in called and body.get("tools")
    ]
    if wanted:
        return calls(*wanted)
    results = [text for message in body["messages"] if message["role"] == "tool" for text in _leaves(message)]
    return "\n\n".join(results) or "はい。"


def _orders(text: str) -> Iterator[tuple[str, str]]:
    for name, arguments in _ORDER.findall(text):
        try:
            yield name, json.dumps(json.loads(arguments), ensure_ascii=False)
        except ValueError:
            continue


def _texts(body: Json) -> Iterator[str]:
    for message in body["messages"]:
        if message["role"] == "tool":
            yield from _leaves(message)
        else:
            yield message_text(message)
    for tool in body.get("tools") or ():
        yield from _strings(tool)


def _leaves(message: Json) -> Iterator[str]:
    """The texts within a result, which is JSON."""
    text = message_text(message)
    try:
        yield from _strings(json.loads(text))
    except ValueError:
        yield text


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _strings(each)
        case dict():
            for each in value.values():
                yield from _strings(each)
        case _:
            pass
