"""How one request changes from refusal to refusal, four times at most."""

import re
from dataclasses import replace
from functools import reduce
from typing import Final

from openai import APIError, APIStatusError

from cc_bot.domain.errors import ContextTooLong, ModelError, ModelRefusedKey, ModelRefusedRequest
from cc_bot.llm.model import AssistantPart, ChatRequest, PromptPart, SystemPart, UserPart
from cc_bot.llm.openai.body import Json
from cc_bot.llm.openai.client import classify, text_of_error
from cc_bot.llm.openai.quirks import CHAT_ONLY, OPTIONAL, TEACHING_STATUSES, Lesson, Quirks, learn, omit

_MAX_CHANGES: Final = 4
_NO_SUCH_PATH: Final = frozenset({404, 405, 501})
_NUMBERED: Final = re.compile(r"(?<![\w-])(?:(?!\d)[\w-])*+\d[\w-]*+")
"""An index, or the id of a request."""
_NOT_PLAIN: Final = re.compile(r"[^ -~]|\\")


class Attempts:
    """What one request has learned from its refusals so far."""

    def __init__(self, known: Quirks, request: ChatRequest) -> None:
        self._known = known
        self._request = request
        self._tried = set[str]()
        self._refusal = ""
        self._asked_twice = False
        self.lessons: list[Lesson] = []
        self.guess: Lesson | None = None
        """The lesson of a refusal that named nothing: without any of OPTIONAL."""
        self.sent: Json = {}
        """The body of the last request."""
        self.begun_s: float | None = None
        """When the model was asked, on the loop's clock."""

    @property
    def quirks(self) -> Quirks:
        return reduce(lambda quirks, lesson: lesson.change(quirks), self.lessons, self._known)

    def follow(self, error: APIError) -> bool:
        """Take in a refusal, and return whether to ask again. A lesson after which the refusal is still the
        same is dropped."""
        text, meaning = text_of_error(error), classify(error, "").error
        status = error.status_code if isinstance(error, APIStatusError) else None
        if self._request.answer_begun or isinstance(meaning, ContextTooLong | ModelRefusedKey):
            return False
        if "tool_use_failed" in text:
            # Groq: the model wrote a call that is not JSON; the next one mostly is.
            again, self._asked_twice, self.begun_s = not self._asked_twice, True, None
            return again
        if len(self._tried) == _MAX_CHANGES or status not in {None, *TEACHING_STATUSES}:
            return False
        before, self._refusal = self._refusal, _NUMBERED.sub("", text)
        if self.lessons and before == self._refusal:
            self.lessons.pop()
        lesson = self._lesson(text, status)
        if lesson is None and type(meaning) is ModelRefusedRequest:
            lesson = self._guess()
        if lesson is None:
            return False
        self._tried.add(lesson.name)
        self.lessons.append(lesson)
        return True

    def unquoted(self, error: ModelError) -> ModelError:
        """The error without a limit that the prompt itself may have told of: limits are remembered."""
        limit = str(error.limit) if isinstance(error, ContextTooLong) else None
        told = limit and any(limit in part.text for part in self._request.prompt)
        return ContextTooLong() if told else error

    def _guess(self) -> Lesson | None:
        fields = OPTIONAL & self.sent.keys()
        if self.guess or not fields:
            return None
        self.guess = omit(fields, lasting=False)
        return self.guess

    def _lesson(self, text: str, status: int | None) -> Lesson | None:
        if self.quirks.wire == "responses" != self._known.wire and status in _NO_SUCH_PATH:
            return CHAT_ONLY
        prompt, held = self._request.prompt, {*self.sent}
        if any(isinstance(part, UserPart) and part.images for part in prompt):
            held.add("images")
        if any(isinstance(part, AssistantPart) and part.tool_requests for part in prompt):
            held.add("calls")
        lesson = learn(self.quirks, held, text, self._tried)
        if lesson and any(_may_be_quoted(lesson, text, part) for part in prompt):
            return replace(lesson, lasting=False)
        return lesson


def _may_be_quoted(lesson: Lesson, refusal: str, part: PromptPart) -> bool:
    """Return whether the words that teach may be the prompt's own: servers quote a request that they refuse,
    escaped and shortened. What users write must not change the requests of others."""
    if isinstance(part, SystemPart):  # mostly ours
        return lesson.refusal.search(f"{part.text}\n{_NOT_PLAIN.sub(' ', part.text)}") is not None
    calls = part.tool_requests if isinstance(part, AssistantPart) else ()
    said = " ".join([part.text, *(call.arguments for call in calls)]).lower()
    found = lesson.refusal.search(refusal)
    words = re.findall("[a-z_]+", found[0].lower()) if found else []
    return bool(words) and words[0] in said and words[-1] in said
