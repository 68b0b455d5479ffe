"""Forms that servers send during a call are shown to the call's user, or declined."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from mcp_types import ElicitRequestFormParams

from cc_bot.domain.errors import CcBotError, ToolTimedOut
from cc_bot.domain.forms import Form
from cc_bot.features.mcp import forms
from cc_bot.features.mcp.errors import FormUnsuitable, SecretAsked
from cc_bot.features.mcp.forms import CALL_UNCLEAR, to_form
from tests.mcp.form_words import HARMLESS, SECRETS, Words
from tests.mcp.running import Running, hostile, ready, running

ASKING: Final = Path(__file__).parent / "asking_server.py"


class FixedAsker:
    """An FormAsker with a fixed answer, or one that never answers."""

    def __init__(self, answer: Mapping[str, str] | None = None, *, never: bool = False) -> None:
        self.answer, self.never = answer, never
        self.later: Callable[[], Awaitable[None]] | None = None
        self.forms = list[Form]()
        self.refusals = list[CcBotError]()
        self.withdrawn = 0
        self.asked = asyncio.Event()

    async def ask(self, form: Form) -> Mapping[str, str] | None:
        self.forms.append(form)
        self.asked.set()
        try:
            if self.never:
                await asyncio.Event().wait()
            if self.later:
                await self.later()
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise
        return self.answer

    async def show_error(self, refusal: CcBotError) -> None:
        self.refusals.append(refusal)


def asking(folder: Path, message: str = "どなたですか", **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a server that sends a form with these fields."""
    schema = {"type": "object", "properties": properties}
    return asking_with(folder, {"message": message, "requestedSchema": schema})


@asynccontextmanager
async def holding(folder: Path, **rules: Any) -> AsyncIterator[Running]:
    """Run a server that sends a form once there is a file `go`, and writes its calls to `calls`."""
    switches = ("--elicit", "--hold", folder / "go", "--count", folder / "calls")
    async with ready(folder, *switches, **rules) as bot:
        yield bot


def asking_with(folder: Path, params: Mapping[str, Any]) -> dict[str, Any]:
    (file := folder / "asked.json").write_text(json.dumps(params, ensure_ascii=False), "utf-8")
    return hostile("--elicit-with", file)


async def asked(bot: Running, asker: FixedAsker | None) -> dict[str, Any]:
    """Return the server's answer from the form, and the notes for the model."""
    first, *notes = (await bot.echo(asker=asker)).text.splitlines()
    return {"notes": notes, **json.loads(first).get("result", {})}


class TestAForm:
    async def test_is_answered_or_declined_by_whoever_had_the_call_made(self, tmp_path: Path) -> None:
        asker, declining = FixedAsker({"name": " 愛子 "}), FixedAsker(None)
        async with ready(tmp_path, "--elicit") as bot:
            told = await asked(bot, asker)
            assert told == {"notes": [], "action": "accept", "content": {"name": "愛子"}}
            told = await asked(bot, declining)
            assert (told["action"], "did not want to answer" in told["notes"][0]) == ("decline", True)
            assert (await asked(bot, None))["action"] == "decline", "nobody can be asked"
        [form] = asker.forms
        assert (form.server, form.message, form.fields[0].title) == ("hostile", "どなたですか", "お名前")

    @pytest.mark.slow
    async def test_comes_with_the_result_in_the_newest_protocol(self, tmp_path: Path) -> None:
        entry = {"command": sys.executable, "args": [str(ASKING)]}
        async with running(tmp_path, asking=entry) as bot:
            await bot.until_ready("asking")
            one, other = (
                FixedAsker({"name": "愛子", "guests": "２"}),
                FixedAsker({"name": "Ben", "guests": "3"}),
            )
            results = await asyncio.gather(
                bot.servers.call("asking", "book", {"day": "土曜"}, one),
                bot.servers.call("asking", "book", {"day": "Sunday"}, other),
            )
        assert [result.text for result in results] == ["土曜: 愛子, 2", "Sunday: Ben, 3"]
        assert [field.kind for field in one.forms[0].fields] == ["text", "whole"]

    async def test_has_its_values_converted(self, tmp_path: Path) -> None:
        entry = asking(
            tmp_path,
            count={"type": "integer"},
            price={"type": "number"},
            hot={"type": "boolean"},
            size={"type": "string", "enum": ["s", "l"], "enumNames": ["小", "大"]},
            colour={"type": "string", "oneOf": [{"const": "r", "title": "赤"}]},
        )
        entered = {"count": "１２", "price": "1,234.5", "hot": "はい", "size": "大", "colour": "赤"}
        async with running(tmp_path, hostile=entry) as bot:
            await bot.until_ready()
            told = await asked(bot, FixedAsker(entered))
        assert told["content"] == {"count": 12, "price": 1234.5, "hot": True, "size": "l", "colour": "r"}

    async def test_stops_the_time_of_the_call_and_is_cancelled_in_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loop, asker, passed_s = asyncio.get_running_loop(), FixedAsker({"name": "愛子"}), [0]
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + passed_s[0])

        async def an_hour_later() -> None:
            passed_s[0] += 3600
            for _ in range(3):
                await asyncio.sleep(0)  # what was due meanwhile happens

        asker.later = an_hour_later
        monkeypatch.setattr(forms, "FORM_TIMEOUT_S", 7200)
        async with running(tmp_path, hostile=hostile("--elicit", timeout_s=60)) as bot:
            await bot.until_ready()
            assert (await asked(bot, asker))["action"] == "accept"
        never = FixedAsker(never=True)
        monkeypatch.setattr(forms, "FORM_TIMEOUT_S", 0.2)
        async with running(tmp_path, hostile=hostile("--elicit")) as bot:
            await bot.until_ready()
            told = await asked(bot, never)
        assert (told["action"], "in time" in told["notes"][0], never.withdrawn) == ("cancel", True, 1)

    async def test_is_taken_back_when_the_call_is_stopped(self, tmp_path: Path) -> None:
        asker = FixedAsker(never=True)
        async with ready(tmp_path, "--elicit", "--count", tmp_path / "calls") as bot:
            call = asyncio.create_task(bot.echo(asker=asker))
            await asker.asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await bot.until(lambda: asker.withdrawn)
            await bot.until(lambda: "cancelled" in (tmp_path / "calls").read_text("utf-8"))

    async def test_of_the_older_protocol_is_nobodys_while_two_calls_are_under_way(
        self, tmp_path: Path
    ) -> None:
        asker, other = FixedAsker({"name": "愛子"}), FixedAsker({"name": "Ben"})
        async with holding(tmp_path) as bot:
            calls = asyncio.gather(asked(bot, asker), asked(bot, other))
            await bot.until((tmp_path / "calls").exists)
            (tmp_path / "go").touch()
            results = await calls
            # The one that asks last may be the only one that is left.
            assert results[0]["action"] == "decline" or results[1]["action"] == "decline"
            assert len(asker.forms) + len(other.forms) <= 1
            assert CALL_UNCLEAR in "".join((*results[0]["notes"], *results[1]["notes"]))

    async def test_of_a_call_that_was_stopped_or_took_too_long_reaches_nobody_else(
        self, tmp_path: Path
    ) -> None:
        others = FixedAsker({"name": "愛子"}), FixedAsker({"name": "Ben"})
        async with holding(tmp_path, timeout_s=1) as bot:
            stopped = asyncio.create_task(bot.echo(asker=others[0]))
            await bot.until((tmp_path / "calls").exists)
            stopped.cancel()
            with pytest.raises(ToolTimedOut):
                await bot.echo(asker=others[1])
            (tmp_path / "go").touch()
            await asked(bot, None)  # the questions of the others have come before
        assert [each.forms for each in others] == [[], []]


class TestASecret:
    async def test_is_never_asked_for(self, tmp_path: Path) -> None:
        url = {"mode": "url", "message": "ログイン", "url": "https://evil.invalid/", "elicitationId": "1"}
        (folder := tmp_path / "url").mkdir()
        notes = []
        for entry in (asking(tmp_path, password={"type": "string"}), asking_with(folder, url)):
            asker = FixedAsker({"password": "hunter2"})
            async with running(tmp_path, hostile=entry) as bot:
                await bot.until_ready()
                told = await asked(bot, asker)
            assert (told["action"], "content" in told) == ("decline", False)
            assert (asker.forms, len(asker.refusals)) == ([], 1)
            notes += told["notes"]
        assert "it asked for a secret" in notes[0]


FIELDS: Final[tuple[dict[str, Any], ...]] = (
    {"password": {"type": "string"}},
    {"userPin": {"type": "string"}},
    {"p_a-s.s": {"type": "string", "title": "パス ワード"}},
    {"a": {"type": "string", "description": "カードの番号（16桁）"}},
    {"a": {"type": "string", "format": "password"}},
    {"a": {"type": "string"}, "b": {"type": "string", "title": "認証コード"}},
)
NO_FORMS: Final[dict[str, dict[str, Any]]] = {
    "no field": {},
    "six fields": {f"f{number}": {"type": "string"} for number in range(6)},
    "a list": {"a": {"type": "array", "items": {"type": "string"}}},
    "many choices": {"a": {"type": "string", "enum": [str(number) for number in range(30)]}},
    "very many fields": {f"パスワード{number}": {"type": "string"} for number in range(1000)},
    "very long words": {"a": {"type": "string", "description": "長" * 100_000}},
    "no number": {"a": {"type": "integer", "minimum": 9, "maximum": 1}},
    "no text": {"a": {"type": "string", "minLength": 5000}},
}


def refusal_of(properties: Mapping[str, Any], above: str = "") -> type[Exception] | None:
    """Return the error that refuses a form with these fields; None if it is shown."""
    schema = {"type": "object", "properties": properties}
    try:
        to_form("notes", ElicitRequestFormParams(message=above, requested_schema=schema))
    except (SecretAsked, FormUnsuitable) as refusal:
        return type(refusal)
    return None


def asks_for_secret(words: Words) -> bool:
    """Return whether a form with these texts of `form_words` is declined."""
    above, name, title, description, default, *choices = (
        (words, "a", "Answer", "", "") if isinstance(words, str) else (*words, *[""] * (5 - len(words)))
    )
    told = {"title": title, "description": description, "default": default, "enum": choices}
    field = {"type": "string", **{key: value for key, value in told.items() if value}}
    return refusal_of({name: field}, above) is SecretAsked


class TestTheWordsOfAForm:
    def test_are_known_by_most_ways_to_ask_for_a_secret_and_may_ask_for_anything_else(self) -> None:
        missed = [words for words in SECRETS if not asks_for_secret(words)]
        assert len(missed) <= 2, missed
        assert [words for words in HARMLESS if asks_for_secret(words)] == []
        assert [fields for fields in FIELDS if refusal_of(fields) is not SecretAsked] == []


class TestWhatIsNoForm:
    async def test_is_declined_and_said(self, tmp_path: Path) -> None:
        assert {what: refusal_of(fields) for what, fields in NO_FORMS.items()} == dict.fromkeys(
            NO_FORMS, FormUnsuitable
        )
        asker = FixedAsker({})
        async with running(tmp_path, hostile=asking(tmp_path, **NO_FORMS["a list"])) as bot:
            await bot.until_ready()
            told = await asked(bot, asker)
        assert told["action"] == "decline"
        assert (asker.forms, [type(each) for each in asker.refusals]) == ([], [FormUnsuitable])
