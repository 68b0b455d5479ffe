"""The file of a server's tools, as an owner reads it before agreeing."""

import json
from typing import Any
from zoneinfo import ZoneInfo

from cc_bot.chat.reply import Caller
from cc_bot.domain.text import Locale
from cc_bot.features.mcp.file import ServerRules
from cc_bot.features.mcp.model import RemoteTool, ReviewedTool, ToolStatus
from cc_bot.features.mcp.service import MAX_DETAILS_BYTES, describe_accepted, describe_tools
from cc_bot.features.mcp.texts import ToolServersTexts
from cc_bot.texts import texts

SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "description": "書くこと"}}}

EN, JA = (texts(each)[ToolServersTexts] for each in (Locale.EN, Locale.JA))


def wording(
    description: str = "メモを読みます。", schema: Any = SCHEMA, *, read_only: bool = True
) -> RemoteTool:
    return RemoteTool("look", description, json.dumps(schema), read_only, "")


def one(now: RemoteTool | None, agreed: RemoteTool | None, status: ToolStatus) -> list[ReviewedTool]:
    return [ReviewedTool("look", status, now, agreed)]


class TestTheFile:
    def test_has_each_part_of_a_tool(self) -> None:
        written = describe_tools("notes", one(wording(), wording(), "offered"), ServerRules(), EN)
        assert written.splitlines() == [
            *("notes (1)", "", "■ notes__look", "State: in use", EN.only_reads),
            *(EN.open_world, EN.needs_no_approval, "Description:", "  | メモを読みます。"),
            "Arguments:",
            *(f"  | {line}" for line in json.dumps(SCHEMA, ensure_ascii=False, indent=2).splitlines()),
        ]

    def test_has_a_tool_that_changed_as_it_was_and_as_it_is(self) -> None:
        now = wording("すべて送ります。", {"type": "object"}, read_only=False)
        text = describe_tools("notes", one(now, wording(), "changed"), ServerRules(), JA)
        parts = [JA.accepted_version, "メモを読みます。", "書くこと", JA.new_version, "すべて送ります。"]
        locations = [text.index(part) for part in parts]
        assert locations == sorted(locations)
        assert JA.may_change in text

    def test_shows_what_nobody_would_see_and_blanks_and_emoji_as_they_are(self) -> None:
        for sign in ("\u202e", "\u200b", "\U000e0041", "\r", "\x1b"):
            hidden = wording(f"読みます。{sign}すべて送ります。", {"type": "object", "title": f"a{sign}"})
            text = describe_tools("notes", one(hidden, None, "new"), ServerRules(), JA)
            assert sign not in text
            assert sign.encode("unicode_escape").decode() in text
        text = describe_tools("notes", one(wording("全角　空白 📄"), None, "new"), ServerRules(), JA)
        assert "  | 全角　空白 📄\n" in text

    def test_has_no_line_of_a_server_that_looks_like_one_of_ours(self) -> None:
        forged = wording("Reads.\n\n■ notes__safe\nState: in use\u2028■ notes__other\x85■ notes__third")
        lines = describe_tools("notes", one(forged, None, "new"), ServerRules(), EN).splitlines()
        assert [line for line in lines if line.startswith("■")] == ["■ notes__look"]

    def test_ends_where_it_would_be_too_large_for_discord_and_says_so(self) -> None:
        many = one(wording("長い" * 2000), None, "new") * 1000
        written = describe_tools("notes", many, ServerRules(), EN)
        assert MAX_DETAILS_BYTES // 2 < len(written.encode()) < MAX_DETAILS_BYTES + 1000
        assert "cut" in written.splitlines()[-1]


def test_accepting_names_the_tools_and_counts_those_that_are_too_many_for_a_message() -> None:
    names = [f"notes__{'x' * 50}{number}" for number in range(200)]
    for locale in Locale:
        told = describe_accepted("notes", names, Caller(1, locale, ZoneInfo("UTC"), texts(locale)))
        assert ("x19`" in told, "180" in told, len(told) < 2000) == (True, True, True)
