import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from tests.llm.personalities.server import REASONING_ITEM, Json, Personality, Refusal, Rule, error, text_of

# ---- requests without any cure ---------------------------------------------------------------------------

_CALL: Final[Json] = {
    "id": "call_0123456789abcdef01234567",
    "type": "function",
    "function": {"name": "recall", "arguments": "{}"},
}
_TOOL: Final[Json] = {
    "type": "function",
    "function": {"name": "recall", "description": "", "parameters": {"type": "object", "properties": {}}},
}
_PICTURE: Final[Json] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def request(*more: Json, **fields: object) -> Json:
    """Return the request of a naive client: a tool round, then `more`, then a question."""
    return {
        "model": "m",
        "stream": True,
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": _CALL["id"], "content": "{}"},
            {"role": "assistant", "content": "a"},
            *more,
            {"role": "user", "content": "q2"},
        ],
        "tools": [_TOOL],
        **fields,
    }


SYSTEM_LATER: Final = request({"role": "system", "content": "now"})
WITH_PICTURE: Final = request({"role": "user", "content": [_PICTURE]}, {"role": "assistant", "content": "b"})
TWO_USERS: Final = request({"role": "user", "content": "q1"})


# ---- rules -----------------------------------------------------------------------------------------------


def _with_calls(body: Json) -> list[Json]:
    return [each for each in body["messages"] if each.get("tool_calls")]


def refuses_field(name: str, refusal: Callable[[str], Refusal]) -> Rule:
    return lambda body: refusal(name) if name in body else None


def _effort_needed(body: Json) -> Refusal | None:
    if not body.get("tools") or body.get("reasoning_effort") == "none":
        return None
    return error(
        "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use "
        "function tools, use /v1/responses or set reasoning_effort to 'none'.",
        param="reasoning_effort",
    )


def _no_tools_in_chat(body: Json) -> Refusal | None:
    if body.get("reasoning_effort") == "none":
        return error("Unsupported value: 'reasoning_effort' does not support 'none' with this model.")
    return _effort_needed(body)


def _responses_rule(body: Json) -> Refusal | None:
    if body.get("store") is not False or "reasoning.encrypted_content" not in body.get("include", []):
        return error("Zero data retention needs store: false")
    if "temperature" in body:
        return error("Unsupported parameter: 'temperature' is not supported with this model.")
    for before, item in pairwise([{}, *body["input"]]):
        if item.get("type") == "reasoning" and item != REASONING_ITEM:
            return error(
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is false."
            )
        if item.get("type") == "function_call" and item["call_id"] == "call_1" and before != REASONING_ITEM:
            return error(
                "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item."
            )
    return None


def _no_temperature(body: Json) -> Refusal | None:
    if "temperature" not in body:
        return None
    return error(
        "Unsupported value: 'temperature' does not support 0.3 with this model.", param="temperature"
    )


def _no_system_role(body: Json) -> Refusal | None:
    if all(each["role"] != "system" for each in body["messages"]):
        return None
    return error("Unsupported value: 'messages[0].role' does not support 'system' with this model.")


def _signature_needed(where: str) -> Rule:
    def rule(body: Json) -> Refusal | None:
        for message in _with_calls(body):
            extra = message["tool_calls"][0].get("extra_content") or {}
            signature = (extra.get(where) or extra.get("google") or {}).get("thought_signature")
            if signature not in {"sig", "skip_thought_signature_validator"}:
                text = "Function call is missing a thought_signature in functionCall parts."
                return Refusal([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}])
        return None

    return rule


def _gemini_unknown(name: str) -> Refusal:
    message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
    return Refusal([{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}])


def _reasoning_needed(message: str) -> Rule:
    def rule(body: Json) -> Refusal | None:
        missing = any(not message.get("reasoning_content") for message in _with_calls(body))
        return error(message) if missing else None

    return rule


def _known_keys_alone(refusal: Refusal) -> Rule:
    known = {"role", "content", "tool_calls", "tool_call_id", "name"}

    def rule(body: Json) -> Refusal | None:
        return refusal if any(message.keys() - known for message in body["messages"]) else None

    return rule


def _no_images(refusal: Refusal) -> Rule:
    return lambda body: refusal if "image_url" in json.dumps(body["messages"]) else None


def _system_first(refusal: Refusal) -> Rule:
    def rule(body: Json) -> Refusal | None:
        return refusal if any(each["role"] == "system" for each in body["messages"][1:]) else None

    return rule


def _alternating(body: Json) -> Refusal | None:
    roles = [each["role"] for each in body["messages"] if each["role"] != "system"]
    wrong = any(before == role != "tool" for before, role in pairwise(roles))
    return error("Conversation roles must alternate user/assistant/user/assistant/...") if wrong else None


def _mistral(body: Json) -> Refusal | None:
    for field in {"prompt_cache_key", "store"} & body.keys():
        detail = [
            {"type": "extra_forbidden", "loc": ["body", field], "msg": "Extra inputs are not permitted"}
        ]
        return Refusal({"object": "error", "message": {"detail": detail}, "code": None}, 422)
    for message in _with_calls(body):
        for call in message["tool_calls"]:
            if not re.fullmatch("[a-zA-Z0-9]{9}", call["id"]):
                text = f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."
                return Refusal({"object": "error", "message": text, "code": "3280"})
    for before, message in pairwise(body["messages"]):
        if before["role"] == "tool" and message["role"] not in {"tool", "assistant"}:
            return Refusal({"message": "Unexpected role 'user' after role 'tool'", "code": "3230"})
    return None


def _llama_cpp(body: Json) -> Refusal | None:
    for message in _with_calls(body):
        for call in message["tool_calls"]:
            try:
                json.loads(call["function"]["arguments"])
            except ValueError:
                return error("Failed to parse tool call arguments as JSON", 500)
        if message.get("content") and message.get("reasoning_content"):
            return error("Cannot pass both content and thinking in an assistant message with tool calls!")
    if body["messages"][-1]["role"] == "assistant":
        return error("Assistant response prefill is incompatible with enable_thinking.")
    return None


def _no_tools(message: str) -> Rule:
    return lambda body: error(message) if body.get("tools") else None


def _once(refusal: Refusal) -> Rule:
    """The first request after a result that wants words is refused; the same again is taken."""
    refused: list[bool] = []

    def rule(body: Json) -> Refusal | None:
        if not body.get("tools") or refused:
            return None
        refused.append(True)
        return refusal

    return rule


_FAILED_CALL: Final = {
    "error": {
        "message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": "<function=remember{",
    }
}
_DETAILS: Final = [{"type": "reasoning.encrypted", "data": "enc", "index": 0}]


def _details_needed(body: Json) -> Refusal | None:
    if all(message.get("reasoning_details") for message in _with_calls(body) if _own(message)):
        return None
    return error("Gemini models require OpenRouter reasoning details to be preserved in each request.")


def _own(message: Json) -> bool:
    return bool(message["tool_calls"][0]["id"] == _CALL["id"])


def _at_most_128(body: Json) -> Refusal | None:
    if len(body.get("tools", [])) <= 128:
        return None
    return error("Invalid 'tools': array too long. Expected an array with maximum length 128.", param="tools")


def _user_needed(body: Json) -> Refusal | None:
    return (
        None
        if any(text_of(each) for each in body["messages"] if each["role"] == "user")
        else error("No user query found in messages")
    )


_QWEN: Final = "System message must be at the beginning."
_TEMPLATE: Final = f'Error rendering prompt with jinja template: "{_QWEN}"'
_BLIND: Final = error("messages[1]: unknown variant `image_url`, expected `text`")
_GROQ: Final = (
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property "
    "'reasoning_content' is unsupported)]"
)
_WITH_REASONING: Final = request({"role": "assistant", "content": "b", "reasoning_content": "r"})
_REASONING_WANTED: Final = request(reasoning_effort="high")


def _google(where: str) -> dict[str, Any]:
    return {"extra_content": {where: {"thought_signature": "sig"}}}


def magistral(text: str) -> Json:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "うーん"}]}
    return {"content": [thinking, {"type": "text", "text": text}]} if text else {"content": text}


PERSONALITIES: Final = {
    "GPT-5.6": Personality("gpt-5.6", [_effort_needed], [request()], _responses_rule),
    "GPT-5.6 behind a gateway": Personality("my-gpt", [_effort_needed], [request()]),
    "GPT-6-astra": Personality(
        "gpt-6-astra", [_no_tools_in_chat], [request(), request(reasoning_effort="none")], _responses_rule
    ),
    "GPT-5": Personality("gpt-5", [_no_temperature], [request(temperature=0.3)]),
    "o1-mini": Personality("o1-mini", [_no_system_role], [request()]),
    "Gemini 3": Personality(
        "gemini-3-pro",
        [_signature_needed("google"), refuses_field("prompt_cache_key", _gemini_unknown)],
        [request(), request(prompt_cache_key="k")],
        call_extra=_google("google"),
    ),
    "Gemini 3 on Vertex": Personality(
        "google/gemini-3-flash", [_signature_needed("vertex")], [request()], call_extra=_google("vertex")
    ),
    "Gemini 2.5": Personality(
        "gemini-2.5-flash",
        [refuses_field("prompt_cache_key", _gemini_unknown)],
        [request(prompt_cache_key="k")],
    ),
    "Claude": Personality("claude-5", call_id="toolu_01A09q90qw90lq917835lq9"),
    "DeepSeek V4": Personality(
        "deepseek-v4",
        [
            _reasoning_needed("The `reasoning_content` in the thinking mode must be passed back to the API."),
            _no_images(_BLIND),
        ],
        [request(), WITH_PICTURE],
        thinks=["reasoning_content"],
    ),
    "DeepSeek R1": Personality(
        "deepseek-r1",
        [
            _no_tools("deepseek-reasoner does not support Function Calling"),
            _known_keys_alone(error("reasoning_content is not supported in input messages")),
        ],
        [request(), _WITH_REASONING],
        thinks=["reasoning_content"],
        tools=False,
    ),
    "Kimi K2": Personality(
        "kimi-k2.6",
        [
            _reasoning_needed(
                "thinking is enabled but reasoning_content is missing in assistant tool call message"
            )
        ],
        [request()],
        thinks=["reasoning_content"],
    ),
    "Qwen 3.6 on vLLM": Personality(
        "qwen3.6",
        [_system_first(Refusal({"object": "error", "message": _QWEN, "code": 400})), _user_needed],
        [SYSTEM_LATER],
        thinks=["reasoning", "reasoning_content"],
        usage_in_each=True,
    ),
    "Qwen 3.6 on llama.cpp": Personality(
        "qwen3.6-gguf",
        [_system_first(error(_QWEN, 500)), _llama_cpp],
        [SYSTEM_LATER],
        thinks=["reasoning_content"],
    ),
    "Qwen 3 without a parser": Personality(
        "qwen3",
        delta=lambda text: {"content": text if text != "はい、" else "<think>\nうーん\n</think>\n\nはい、"},
    ),
    "Gemma": Personality("gemma-4", [_alternating], [TWO_USERS]),
    "Mistral": Personality(
        "mistral-medium", [_mistral], [request(), request(prompt_cache_key="k")], call_id="a1B2c3D4e"
    ),
    "Magistral": Personality("magistral", [_mistral], [request()], delta=magistral, call_id="a1B2c3D4e"),
    "gpt-oss on llama.cpp": Personality("gpt-oss", [_llama_cpp], [], thinks=["reasoning_content"]),
    "Ollama, a model without tools": Personality(
        "gemma:2b",
        [_no_tools("registry.ollama.ai/library/gemma:2b does not support tools")],
        [request()],
        tools=False,
    ),
    "vLLM without a tool parser": Personality(
        "served",
        [_no_tools('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')],
        [request()],
        tools=False,
    ),
    "vLLM, old": Personality(
        "old",
        [refuses_field("prompt_cache_key", lambda name: Refusal({"detail": [{"loc": ["body", name]}]}, 422))],
        [request(prompt_cache_key="k")],
    ),
    "Groq": Personality(
        "llama-4",
        [_known_keys_alone(error(_GROQ)), _once(Refusal(_FAILED_CALL))],
        [_WITH_REASONING],
        thinks=["reasoning"],
    ),
    "Groq, in the stream": Personality("llama-4-event", [_once(Refusal(_FAILED_CALL, as_event=True))]),
    "OpenRouter": Personality(
        "google/gemini-4",
        [_details_needed],
        [request()],
        thinks=["reasoning"],
        message_extra={"reasoning_details": _DETAILS},
        extra_events=": OPENROUTER PROCESSING\n\n",
    ),
    "OpenRouter, a blind model": Personality(
        "vendor/blind",
        [_no_images(error("No endpoints found that support image input", 404))],
        [WITH_PICTURE],
    ),
    "Grok": Personality(
        "grok-4-fast",
        [
            refuses_field(
                "reasoning_effort",
                lambda _: error("Model grok-4-fast does not support parameter reasoningEffort."),
            )
        ],
        [_REASONING_WANTED],
        thinks=["reasoning_content"],
    ),
    "LM Studio": Personality(
        "lm-studio", [_system_first(Refusal({"error": _TEMPLATE}, as_event=True))], [SYSTEM_LATER]
    ),
    "text only": Personality("text-only", [_no_images(_BLIND)], [WITH_PICTURE]),
    "128 tools at most": Personality("many", [_at_most_128], [request() | {"tools": [_TOOL] * 129}]),
}

STRICT: Final = Personality(
    "strict",
    [_mistral, _known_keys_alone(error(_GROQ)), _system_first(error(_QWEN)), _at_most_128],
    call_id="Z9y8X7w6V",
)
"""The model that the conversation is switched to: it takes nothing that another one gave."""
