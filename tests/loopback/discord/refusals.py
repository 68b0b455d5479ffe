from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Refusal(Exception):
    """An answer other than success. `details` is the nested `errors` object of an invalid form."""

    status: int
    code: int
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.status} {self.code} {self.message} {self.details or ''}".rstrip()

    @property
    def body(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"message": self.message, "code": self.code, **self.extra}
        return answer | {"errors": self.details} if self.details else answer


def invalid_form(path: Sequence[str | int], code: str, message: str) -> Refusal:
    """50035, with the error where Discord puts it: below the path of the field that is wrong."""
    details: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for step in reversed(path):
        details = {str(step): details}
    return Refusal(400, 50035, "Invalid Form Body", details)


def refuse_if(wrong: object, refusal: Callable[[], Refusal]) -> None:
    if wrong:
        raise refusal()


def found(value: T | None, refusal: Callable[[], Refusal]) -> T:
    if value is None:
        raise refusal()
    return value


def require(fine: object, path: Sequence[str | int], rule: str) -> None:
    """Raise 50035 with the rule, unless it was kept."""
    if not fine:
        raise invalid_form(path, "BASE_TYPE_INVALID", rule)


def require_length(value: Sized | None, path: Sequence[str | int], most: int, least: int = 0) -> None:
    """Raise 50035 unless a text, or a list, is as long as that."""
    length = len(value or ())
    require(least <= length <= most, path, f"Must be between {least} and {most} in length, not {length}.")


unauthorized = partial(Refusal, 401, 0, "401: Unauthorized")
unknown_channel = partial(Refusal, 404, 10003, "Unknown Channel")
unknown_guild = partial(Refusal, 404, 10004, "Unknown Guild")
unknown_member = partial(Refusal, 404, 10007, "Unknown Member")
unknown_message = partial(Refusal, 404, 10008, "Unknown Message")
unknown_user = partial(Refusal, 404, 10013, "Unknown User")
unknown_webhook = partial(Refusal, 404, 10015, "Unknown Webhook")
unknown_interaction = partial(Refusal, 404, 10062, "Unknown interaction")
already_acknowledged = partial(Refusal, 400, 40060, "Interaction has already been acknowledged.")
too_many_followups = partial(Refusal, 400, 40094, "This interaction has hit its number of follow up messages")
invalid_webhook_token = partial(Refusal, 401, 50027, "Invalid Webhook Token")
missing_access = partial(Refusal, 403, 50001, "Missing Access")
missing_permissions = partial(Refusal, 403, 50013, "Missing Permissions")
cannot_reply_unseen = partial(Refusal, 400, 160002, "Cannot reply without permission to read message history")
not_the_author = partial(Refusal, 403, 50005, "Cannot edit a message authored by another user")
empty_message = partial(Refusal, 400, 50006, "Cannot send an empty message")
cannot_send_to_user = partial(Refusal, 403, 50007, "Cannot send messages to this user")
archived_thread = partial(
    Refusal,
    400,
    50083,
    "Tried to perform an operation on an archived thread, such as editing a message or adding a user to the"
    " thread",
)
thread_locked = partial(Refusal, 403, 160005, "Thread is locked")
too_many_edits = partial(
    Refusal, 400, 30046, "Maximum number of edits to messages older than 1 hour reached. Try again later"
)
blocked_words = partial(Refusal, 400, 200000, "Message was blocked by automatic moderation")
upload_too_large = partial(Refusal, 413, 40005, "Request entity too large")


def rate_limited(retry_after_s: float, *, everywhere: bool = False, scope: str = "user") -> Refusal:
    """429. `everywhere` is Discord's global limit; `retry_after_s` is in seconds, as in the JSON body."""
    headers = {"Retry-After": f"{retry_after_s:.3f}", "X-RateLimit-Scope": "global" if everywhere else scope}
    headers |= {"X-RateLimit-Global": "true"} if everywhere else {}
    told = {"retry_after": round(retry_after_s, 3), "global": everywhere}
    return Refusal(429, 0, "You are being rate limited.", headers=headers, extra=told)
